"""Runs programs for programs: the host's half of `simulate`.

A simulated call runs in an instance of its own program's, with the caller's fuel. It goes through the same guest code
as a real move and sees nothing by which it could tell the difference. Its private tape is a fork of the caller's, and
the caller names the public coin.

A call in progress that is asked for again, exactly, is TIMEOUT at once. An answer is kept for the rest of the
top-level call in which it was given (together with the private tape, if one had a part in it), unless a TIMEOUT had a
part in it.
"""

import hashlib
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tournament.sandbox.instance import Ended, Host, Image, Instance
from tournament.sandbox.limits import Limits
from tournament.sandbox.proof import Ask
from tournament.sandbox.request import Named, Request
from tournament.seeds import tape_name

FEE = 200_000
"""Fuel for asking for a simulation, besides what the simulated program uses."""
MOST_DEPTH = 300
MOST_IDLE = 100
TAPELESS, PRIVATELY = ("0", "4"), ("2", "3", "6", "7")
"""How a guest says that its program has looked at no tape, or at its private one (see `bot.wit`)."""
ILLEGALLY = '["illegal"'
"""How the fault of an illegal move begins in a guest's answer."""
TIMEOUT, ERROR, ILLEGAL = "TIMEOUT", "ERROR", "ILLEGAL"

Key = tuple[tuple[str, ...], int, tuple[str, ...], tuple[str, int]]
"""Lineup (digests by seat), seat, history, and place on the public coin: what a call depends on but private tapes."""


@dataclass
class Frame:
    """A call in progress, real or simulated.

    `drew`: its program, or one it simulated, has looked at its private tape. `late`: a TIMEOUT had a part in it.
    """

    key: Key
    tape: str
    drew: bool = False
    late: bool = False


@dataclass
class Top:
    """A top-level call: its frames in progress, and the answers known within it. `ask` is set at a proof's world."""

    stack: list[Frame]
    pure: dict[Key, str] = field(default_factory=dict)
    drawn: dict[tuple[Key, str], str] = field(default_factory=dict)
    ask: Ask | None = None
    drew: bool = False
    """Whether a program that was simulated has looked at a tape."""


class Programs:
    """Sources by digest: those of a batch, and whatever bots make up."""

    def __init__(self, known: Iterable[tuple[str, str]]) -> None:
        self._sources = dict(known)

    def source(self, digest: str) -> str:
        """The text of a program."""
        return self._sources[digest]

    def add(self, source: str) -> str:
        """The digest of a text, which is a program from now on."""
        digest = hashlib.sha256(source.encode()).hexdigest()
        self._sources[digest] = source
        return digest


class Simulator:
    """Simulates for the programs of a game. `top` is the top-level call that is being made."""

    def __init__(
        self, image: Image, game: dict[str, Any], programs: Programs, limits: Limits, host: Host
    ) -> None:
        # Weakly, or else the instances here would outlive their use until the next collection of garbage.
        self._host = weakref.WeakMethod(host)
        self._image = image
        self._game = game
        self._programs = programs
        self._limits = limits
        self._idle: dict[str, list[Instance]] = {}
        self._depth = 0
        self.top = Top([])

    @property
    def seats(self) -> int:
        """How many seats the game has."""
        return len(self._game["moves"])

    @contextmanager
    def within(self, top: Top) -> Iterator[None]:
        """While this lasts, what is asked is asked within that top-level call."""
        outside, self.top = self.top, top
        try:
            yield
        finally:
            self.top = outside

    def simulate(self, caller: Instance, request: Request) -> str:
        """The code of a move, or codes of joint moves separated by spaces, or a failure."""
        lineup = tuple(map(self._named, request.programs))
        if request.rounds is None:
            return self._move(caller, lineup, request.seat, request.history, request)
        return self._played_out(caller, lineup, request, request.rounds)

    def _named(self, program: Named) -> str:
        """The digest of a program. Raises `LookupError` for one that is not at the table of who asks."""
        kind, name = program
        if kind == "text":
            return self._programs.add(name)
        if name not in self.top.stack[-1].key[0]:
            raise LookupError(name)
        return name

    def _played_out(
        self, caller: Instance, lineup: tuple[str, ...], request: Request, rounds: int
    ) -> str:
        history = request.history
        for _ in range(rounds):
            joint = ""
            for seat in range(self.seats):
                move = self._move(caller, lineup, seat, history, request)
                if len(move) > 1:
                    return move
                joint += move
            history = (*history, joint)
        return " ".join(history[len(request.history) :])

    def _move(
        self,
        caller: Instance,
        lineup: tuple[str, ...],
        seat: int,
        history: tuple[str, ...],
        request: Request,
    ) -> str:
        """The code of a simulated move, or a failure; the caller pays."""
        caller.charge(FEE)
        above = self.top.stack[-1]
        key = (lineup, seat, history, request.shared)
        tape = tape_name(
            above.tape, "fork", *lineup, seat, *history, *request.shared, request.sample
        )
        if (known := self._known(key, tape, above)) is not None:
            return known
        if self._in_progress(key) or self._depth >= MOST_DEPTH:
            above.late = True
            return TIMEOUT
        frame = Frame(key, tape)
        fuel = caller.fuel if request.fuel is None else min(caller.fuel, request.fuel)
        move, spent = self.run(frame, fuel)
        caller.charge(spent)
        self._keep(frame, move, above)
        return move

    def _known(self, key: Key, tape: str, above: Frame) -> str | None:
        if key in self.top.pure:
            return self.top.pure[key]
        known = self.top.drawn.get((key, tape))
        above.drew |= known is not None
        return known

    def _in_progress(self, key: Key) -> bool:
        """Whether this very call is being made, and nothing has been drawn since that could make it go otherwise."""
        for frame in reversed(self.top.stack):
            if frame.drew:
                return False
            if frame.key == key:
                return True
        return False

    def _keep(self, frame: Frame, move: str, above: Frame) -> None:
        above.drew |= frame.drew
        if move == TIMEOUT or frame.late:
            above.late = True
        elif frame.drew:
            self.top.drawn[frame.key, frame.tape] = move
        else:
            self.top.pure[frame.key] = move

    def run(self, frame: Frame, fuel: int, *, once: bool = False) -> tuple[str, int]:
        """Run a call to its end: the code of the move or a failure, and the fuel that it used.

        All rounds of its history are played to the program first; with `once`, they are only shown to it.
        """
        lineup, seat, _, _ = frame.key
        self._depth += 1
        self.top.stack.append(frame)
        try:
            instance = self._seated(lineup[seat])
            host = self._host()
            assert host is not None
            lines = self._lines(frame)
            setup = self._setup(frame, lines[1:] if once else [])
            answer, looked = instance.simulate(setup, [""] if once else lines, fuel, host)
        except Ended as ended:
            return (TIMEOUT if ended.kind == "fuel" else ERROR), ended.spent
        finally:
            self.top.stack.pop()
            self._depth -= 1
        self._release(lineup[seat], instance)
        frame.drew |= looked in PRIVATELY
        self.top.drew |= looked not in TAPELESS
        return self._result(answer, seat), instance.spent

    def _setup(self, frame: Frame, shown: list[str]) -> dict[str, Any]:
        """A match for one call, with rounds that its program is shown without being asked."""
        lineup, seat, _, shared = frame.key
        return {"matches": [[seat, lineup, frame.tape, shared]], "shown": shown}

    def _lines(self, frame: Frame) -> list[str]:
        _, seat, history, _ = frame.key
        return ["", *(joint[seat:] + joint[:seat] for joint in history)]

    def _result(self, answer: str, seat: int) -> str:
        """The last move's code, or the failure that a fault on the way to it is to whoever simulates."""
        answers = answer.split("\n")
        if faulty := next((each for each in answers if len(each) != 1), None):
            return ILLEGAL if ILLEGALLY in faulty else ERROR
        known = 0 <= ord(answers[-1]) - 48 < len(self._game["moves"][seat])
        return answers[-1] if known else ERROR

    def _seated(self, digest: str) -> Instance:
        """An instance of a program that no call is in. Raises `Ended` if it will not load."""
        idle = self._idle.get(digest)
        if idle:
            return idle.pop()
        setup = {"game": self._game, "matches": []}
        return self._image.instance(self._programs.source(digest), setup, self._limits)

    def _release(self, digest: str, instance: Instance) -> None:
        if sum(map(len, self._idle.values())) >= MOST_IDLE:
            self._idle.clear()
        self._idle.setdefault(digest, []).append(instance)
