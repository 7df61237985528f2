"""What a bot sees: its `view`, with the programs and the game."""

import functools
import itertools
import json

from powers import PRIVATELY, Powers
from rewrite import canonical

from seeds import Coin, Tape


class Text:
    """The text of a program. The host is asked for it when a bot first reads it."""

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

    Two programs with the same text are equal but are different objects. If they were the same object, a bot could use
    `is` to find out that it meets itself without reading any source.
    """

    __slots__ = ("_text",)

    def __init__(self, text):
        self._text = text

    @property
    def source(self):
        """The source text, exactly as it was submitted."""
        return self._text.source

    @property
    def tree(self):
        """The syntax tree as text, without comments, layout, docstrings and chosen names."""
        return self._text.tree

    @property
    def digest(self):
        """The SHA-256 of the source text, in hexadecimal digits."""
        return self._text.digest

    def __eq__(self, other):
        return isinstance(other, Program) and self.digest == other.digest

    def __hash__(self):
        return int(self.digest[:15], 16)

    def __repr__(self):
        return f"<program {self.digest[:6]}>"


class Game:
    """The game and how it is repeated, as far as bots may know."""

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
        """The payoffs by seat of each joint move; None if the game has too many joint moves."""
        if isinstance(self._payoffs, str):
            joints = itertools.product(*self.moves)
            self._payoffs = dict(zip(joints, map(tuple, json.loads(self._payoffs))))
        return self._payoffs

    def __repr__(self):
        return f"<game {self.name}>"


_MADE_WHEN_READ = {
    "shared": (1, lambda view: Coin(*view._tape)),
    "rng": (PRIVATELY, lambda view: Tape(view._private)),
    "seat": (4, lambda view: view._seat),
    "mine": (0, lambda view: view._group.seen(view, "mine")),
    "theirs": (0, lambda view: view._group.seen(view, "theirs")),
}
"""Attributes that are made when they are first read: the flag that notes it (0 if nothing is noted), and a maker."""


class View(Powers):
    """One seat's view of one match. `mine` and `theirs` grow by a move each round.

    `rng` is the private tape; `shared` is the public coin: every seat of the match reads the same tape, each at its
    own pace. `reads` notes, as a sum of flags, which of these tapes and whether the seat has been read.
    """

    __slots__ = (
        "_group", "_number", "_private", "_seat", "_tape",
        "game", "legal", "me", "mine", "observation", "others", "reads", "rng", "seat", "shared", "theirs", "them",
    )  # fmt: skip

    def __init__(self, group, seat, programs, private, shared, number):
        self.game = game = group.game
        self._seat = seat
        self.reads = 0
        self.legal = game.moves[seat]
        self.me = programs[seat]
        self.others = programs[seat + 1 :] + programs[:seat]
        self.them = self.others[0] if len(self.others) == 1 else None
        self.observation = None
        self._private = private
        self._tape = shared
        self._number = number
        self._group = group

    def __repr__(self):
        return f"<view of seat {self.seat}>"

    def __getattr__(self, name):
        """Make an attribute that many programs never read, and note that it was read."""
        if name not in _MADE_WHEN_READ:
            raise AttributeError(f"'View' object has no attribute {name!r}", name=name, obj=self)
        flag, make = _MADE_WHEN_READ[name]
        self.reads |= flag
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
