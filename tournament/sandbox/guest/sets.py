"""Sets whose order is the order of insertion, and hashes and identities that every build agrees on.

CPython orders a set of strings by a hash seed that is drawn when the image is built. Bots therefore get these
instead, so that a bot which looks at the order of a set moves the same in every image.
"""

import builtins
import zlib
from collections.abc import MutableSet, Set
from itertools import chain

_MASK = (1 << 31) - 1
"""Hashes are of 32 bits in the image."""


class _Ordered(Set):
    """What both kinds of set have in common. `_plain` is what their methods and operators answer with."""

    __slots__ = ("_items",)

    @classmethod
    def _from_iterable(cls, items):
        return cls._plain(items)

    def __class_getitem__(cls, item):
        return cls

    def __contains__(self, item):
        try:
            return item in self._items
        except TypeError:
            return _frozen(item) in self._items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __repr__(self):
        inside = f"{{{', '.join(map(repr, self))}}}" if self else ""
        return f"{type(self).__name__}({inside})"

    def __reduce__(self):
        return (type(self), (list(self),))

    def copy(self):
        return _plain(self)(self)

    def isdisjoint(self, other):
        return not any(item in self for item in other)

    def issubset(self, other):
        other = _as_set(other)
        return all(item in other for item in self)

    def issuperset(self, other):
        return all(item in self for item in other)

    def union(self, *others):
        return _plain(self)(chain(self, *others))

    def intersection(self, *others):
        others = [_as_set(other) for other in others]
        return _plain(self)(item for item in self if all(item in other for other in others))

    def difference(self, *others):
        others = [_as_set(other) for other in others]
        return _plain(self)(item for item in self if not any(item in other for other in others))

    def symmetric_difference(self, other):
        other = dict.fromkeys(other)
        mine = (item for item in self if item not in other)
        return _plain(self)(chain(mine, (item for item in other if item not in self)))

    def __and__(self, other):
        return self.intersection(other) if isinstance(other, Set) else NotImplemented

    def __or__(self, other):
        return self.union(other) if isinstance(other, Set) else NotImplemented

    def __sub__(self, other):
        return self.difference(other) if isinstance(other, Set) else NotImplemented

    def __xor__(self, other):
        return self.symmetric_difference(other) if isinstance(other, Set) else NotImplemented

    def __rand__(self, other):
        return self._plain(other) & self if isinstance(other, Set) else NotImplemented

    def __ror__(self, other):
        return self._plain(other) | self if isinstance(other, Set) else NotImplemented

    def __rsub__(self, other):
        return self._plain(other) - self if isinstance(other, Set) else NotImplemented

    def __rxor__(self, other):
        return self._plain(other) ^ self if isinstance(other, Set) else NotImplemented


class frozenset(_Ordered):
    """An immutable set that iterates in order of insertion."""

    __slots__ = ()

    def __new__(cls, items=(), /):
        self = super().__new__(cls)
        self._items = dict.fromkeys(items)
        return self

    def __hash__(self):
        return _mixed(sorted(map(stable_hash, self)))


class set(_Ordered):
    """A set that iterates in order of insertion."""

    __slots__ = ()
    __hash__ = None

    def __new__(cls, *arguments, **options):
        self = super().__new__(cls)
        self._items = {}
        return self

    def __init__(self, items=(), /):
        self._items = dict.fromkeys(items)

    def __repr__(self):
        plain = type(self) is set and self
        return f"{{{', '.join(map(repr, self))}}}" if plain else super().__repr__()

    def add(self, item):
        self._items[item] = None

    def discard(self, item):
        if item in self:
            self.remove(item)

    def remove(self, item):
        try:
            del self._items[item]
        except TypeError:
            del self._items[_frozen(item)]

    def pop(self):
        if not self._items:
            raise KeyError("pop from an empty set")
        return self._items.popitem()[0]

    def clear(self):
        self._items.clear()

    def update(self, *others):
        for other in others:
            self._items.update(dict.fromkeys(other))

    def intersection_update(self, *others):
        self._items = self.intersection(*others)._items

    def difference_update(self, *others):
        self._items = self.difference(*others)._items

    def symmetric_difference_update(self, other):
        self._items = self.symmetric_difference(other)._items

    def __ior__(self, other):
        if not isinstance(other, Set):
            return NotImplemented
        self.update(other)
        return self

    def __iand__(self, other):
        if not isinstance(other, Set):
            return NotImplemented
        self.intersection_update(other)
        return self

    def __isub__(self, other):
        if not isinstance(other, Set):
            return NotImplemented
        self.difference_update(other)
        return self

    def __ixor__(self, other):
        if not isinstance(other, Set):
            return NotImplemented
        self.symmetric_difference_update(other)
        return self


frozenset._plain = frozenset
set._plain = set
frozenset.register(builtins.frozenset)
set.register(builtins.set)
MutableSet.register(set)


def _plain(value):
    """The kind of set that a method answers with; it may have been given a built-in one."""
    return getattr(value, "_plain", set)


def _as_set(items):
    return items if isinstance(items, (Set, dict)) else frozenset(items)


def _frozen(item):
    """A set as what it can be an element as. Raises `TypeError` for anything else that has no hash."""
    if not isinstance(item, set):
        raise TypeError(f"unhashable type: '{type(item).__name__}'")
    return frozenset(item)


def ordered(result, left, right):
    """The built-in set that an operator made of these operands, in order where a dict view came first."""
    if isinstance(left, builtins.set):
        return result
    return set(item for item in chain(left, right) if item in result)


def stable_hash(value, of_identity=hash):
    """`hash(value)`, but the same in every image for strings, bytes and whatever holds them.

    `of_identity` answers for objects that are hashed by where they lie in memory.
    """
    method = type(value).__hash__
    if method is str.__hash__:
        return zlib.crc32(str.encode(value, "utf-8", "surrogatepass")) & _MASK
    if method is bytes.__hash__:
        return zlib.crc32(value) & _MASK
    if method is tuple.__hash__:
        return _mixed(stable_hash(item, of_identity) for item in value)
    if method is object.__hash__:
        return of_identity(value)
    return _hash(value)


_hash = hash


def _mixed(hashes):
    mixed = 0x345678
    for one in hashes:
        mixed = (mixed * 1000003 ^ one) & _MASK
    return mixed


class Identities:
    """Numbers for objects in the order in which a match first asks for them."""

    def __init__(self):
        self._seen = {}

    def __call__(self, value):
        """The number of an object: the same for the same object, for as long as the match lasts."""
        return self._seen.setdefault(id(value), (len(self._seen) + 1, value))[0] * 16
