"""What a bot sees: `view`, and the programs and the game in it."""

import functools
import itertools
import json

from powers import PRIVATELY, Powers
from rewrite import canonical

from seeds import Coin, Tape


class Text:
    """A program's text, asked for when it is first looked at."""

    def __init__(self, digest, host):
        self.digest = digest
        self._host = host

    @functools.cached_property
    def source(self):
        return self._host(f"source {self.digest}")

    @functools.cached_property
    def tree(self):
        return canonical(self.source)


class Program:
    """The program in a seat: its source text, its canonical form and its digest.

    Those of one text are equal, but not the same object: or else a bot could tell by it that it meets itself.
    """

    __slots__ = ("_text",)

    def __init__(self, text):
        self._text = text

    @property
    def source(self):
        """The text, exactly as it was submitted."""
        return self._text.source

    @property
    def tree(self):
        """The text's syntax tree as text, without comments, layout, docstrings and chosen names."""
        return self._text.tree

    @property
    def digest(self):
        """The SHA-256 of the text, in hexadecimal digits."""
        return self._text.digest

    def __eq__(self, other):
        return isinstance(other, Program) and self.digest == other.digest

    def __hash__(self):
        return int(self.digest[:15], 16)

    def __repr__(self):
        return f"<program {self.digest[:6]}>"


class Game:
    """The game and its repetition, as far as bots know them."""

    def __init__(self, facts):
        self.name = facts["name"]
        self.parameters = facts["parameters"]
        self.moves = tuple(tuple(legal) for legal in facts["moves"])
        self.seats = len(self.moves)
        self.rounds = facts["rounds"]
        self.continuation = facts["continuation"]
        self.discount = facts["discount"]
        self.noise = facts["noise"]
        self._payoffs = facts["payoffs"]

    @property
    def payoffs(self):
        """What each joint move pays, by seat; None for a game with too many of them."""
        if isinstance(self._payoffs, str):
            joints = itertools.product(*self.moves)
            self._payoffs = dict(zip(joints, map(tuple, json.loads(self._payoffs))))
        return self._payoffs

    def __repr__(self):
        return f"<game {self.name}>"


_LOOKED_FOR = {
    "shared": (1, lambda view: Coin(*view._tape)),
    "rng": (PRIVATELY, lambda view: Tape(view._private)),
    "seat": (4, lambda view: view._seat),
    "mine": (0, lambda view: view._table.seen(view, "mine")),
    "theirs": (0, lambda view: view._table.seen(view, "theirs")),
}
"""By which bit it is known that a program has looked at something, if by any, and what it sees."""


class View(Powers):
    """One seat's view of one match. `mine` and `theirs` grow by a move each round.

    `rng` is the private tape; `shared` is the public coin: every seat of the match reads the same tape, each at its
    own pace. `looked` says at which of these, and at the seat, the program has looked.
    """

    __slots__ = (
        "_number", "_private", "_seat", "_table", "_tape",
        "game", "legal", "looked", "me", "mine", "observation", "others", "rng", "seat", "shared", "theirs", "them",
    )  # fmt: skip

    def __init__(self, table, seat, programs, private, shared, number):
        self.game = game = table.game
        self._seat = seat
        self.looked = 0
        self.legal = game.moves[seat]
        self.me = programs[seat]
        self.others = programs[seat + 1 :] + programs[:seat]
        self.them = self.others[0] if len(self.others) == 1 else None
        self.observation = None
        self._private = private
        self._tape = shared
        self._number = number
        self._table = table

    def __repr__(self):
        return f"<view of seat {self.seat}>"

    def __getattr__(self, name):
        """What a program may never look at is put in place when it first does; of some things it is noted."""
        if name not in _LOOKED_FOR:
            raise AttributeError(f"'View' object has no attribute {name!r}", name=name, obj=self)
        flag, make = _LOOKED_FOR[name]
        self.looked |= flag
        made = make(self)
        setattr(self, name, made)
        return made

    @property
    def history(self):
        """The joint moves so far, each a tuple in seat order."""
        if self.game.seats == 2:
            pairs = (self.mine, self.theirs) if self.seat == 0 else (self.theirs, self.mine)
            return list(zip(*pairs))
        own = self.game.seats - self.seat
        return [
            (*others[own - 1 :], mine, *others[: own - 1])
            for mine, others in zip(self.mine, self.theirs)
        ]
