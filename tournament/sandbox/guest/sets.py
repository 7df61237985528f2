"""Sets whose order is the order of insertion, and hashes and identities that every build agrees on.

CPython orders a set of strings by a hash seed that is drawn when the image is built. Bots therefore get these
instead, so that a bot which looks at the order of a set moves the same in every image.
"""

import builtins
import zlib
from collections.abc import Set
from itertools import chain

_MASK = (1 << 61) - 2


class frozenset(Set):  # noqa: N801 - bots know it by this name
    """An immutable set that iterates in order of insertion."""

    __slots__ = ("_items",)

    def __init__(self, items=()):
        self._items = dict.fromkeys(items)

    @classmethod
    def _from_iterable(cls, items):
        return cls(items)

    def __class_getitem__(cls, item):
        return cls

    def __contains__(self, item):
        return item in self._items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __repr__(self):
        inside = f"{{{', '.join(map(repr, self))}}}" if self else ""
        return f"frozenset({inside})"

    def __hash__(self):
        return stable_hash(self)

    def __reduce__(self):
        return (type(self), (list(self),))

    def copy(self):
        return type(self)(self)

    def isdisjoint(self, other):
        return not any(item in self._items for item in other)

    def issubset(self, other):
        other = _as_set(other)
        return all(item in other for item in self)

    def issuperset(self, other):
        return all(item in self._items for item in other)

    def union(self, *others):
        return type(self)(chain(self, *others))

    def intersection(self, *others):
        others = [_as_set(other) for other in others]
        return type(self)(item for item in self if all(item in other for other in others))

    def difference(self, *others):
        others = [_as_set(other) for other in others]
        return type(self)(item for item in self if not any(item in other for other in others))

    def symmetric_difference(self, other):
        other = frozenset(other)
        mine = (item for item in self if item not in other)
        return type(self)(chain(mine, (item for item in other if item not in self)))

    def __and__(self, other):
        return self.intersection(other) if isinstance(other, Set) else NotImplemented

    def __or__(self, other):
        return self.union(other) if isinstance(other, Set) else NotImplemented

    def __sub__(self, other):
        return self.difference(other) if isinstance(other, Set) else NotImplemented

    def __xor__(self, other):
        return self.symmetric_difference(other) if isinstance(other, Set) else NotImplemented

    def __rand__(self, other):
        return type(self)(other) & self if isinstance(other, Set) else NotImplemented

    def __ror__(self, other):
        return type(self)(other) | self if isinstance(other, Set) else NotImplemented

    def __rsub__(self, other):
        return type(self)(other) - self if isinstance(other, Set) else NotImplemented

    def __rxor__(self, other):
        return type(self)(other) ^ self if isinstance(other, Set) else NotImplemented


class set(frozenset):  # noqa: N801 - bots know it by this name
    """A set that iterates in order of insertion."""

    __slots__ = ()
    __hash__ = None

    def __repr__(self):
        return f"{{{', '.join(map(repr, self))}}}" if self else "set()"

    def add(self, item):
        self._items[item] = None

    def discard(self, item):
        self._items.pop(item, None)

    def remove(self, item):
        del self._items[item]

    def pop(self):
        if not self._items:
            raise KeyError("pop from an empty set")
        item = next(iter(self._items))
        del self._items[item]
        return item

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


frozenset.register(builtins.frozenset)
set.register(builtins.set)


def _as_set(items):
    return items if isinstance(items, (Set, dict)) else frozenset(items)


def ordered(result, left, right):
    """The result of an operator on dict views, as an ordered set where it is a built-in one."""
    if type(result) is not builtins.set:
        return result
    return set(item for item in chain(left, right) if item in result)


def stable_hash(value):
    """`hash(value)`, but the same in every image for strings, bytes and whatever holds them."""
    kind = type(value)
    if kind in (str, bytes):
        data = value.encode("utf-8", "surrogatepass") if kind is str else value
        return zlib.crc32(data) * 0x9E3779B1 & _MASK
    if kind is tuple:
        return _mixed(map(stable_hash, value))
    if kind is frozenset:
        return _mixed(sorted(map(stable_hash, value)))
    return hash(value)


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
