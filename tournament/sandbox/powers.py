"""Answers what a program's guest asks of its host: sources, simulations, and what is provable."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tournament.errors import UsageError
from tournament.sandbox.instance import Ended, Image, Instance
from tournament.sandbox.limits import Limits
from tournament.sandbox.proof import Ask, Bound, Pair, Verdict, decide
from tournament.sandbox.request import Request, read_request
from tournament.sandbox.simulation import Frame, Key, Programs, Simulator, Top
from tournament.sandbox.statement import Plays, Statement, at_level, parse, substitute
from tournament.seeds import tape_name

PROOF_FEE = 1_000_000
"""Fuel for asking what is provable. Proving has fuel of its own: what is proved once is known to all."""
MOST_LEVEL = 50
NO_COIN = ("", 0)
"""What stands for the public coin in a proof: a program that looks at it there has no provable move."""


@dataclass(frozen=True)
class Place:
    """Where a real call is made: its match's lineup (digests by seat), its seat, and its tapes."""

    slot: int
    lineup: tuple[str, ...]
    seat: int
    private: str
    shared: str


class Powers:
    """The powers of the programs of a batch.

    `notes` says by slot in which round something could not be decided within its bounds, and why.
    """

    def __init__(
        self,
        image: Image,
        game: dict[str, Any],
        programs: Sequence[tuple[str, str]],
        library: dict[str, str],
        limits: Limits,
    ) -> None:
        self.programs = Programs(programs)
        self.notes: dict[int, tuple[int, str]] = {}
        self.drawn: set[int] = set()
        """Slots whose simulations looked at tapes."""
        self._game = game
        self._library = library
        self._limits = limits
        self._simulator = Simulator(image, game, self.programs, limits, self._nested)
        self._tops: dict[int, tuple[int, Top]] = {}
        self._slot = -1
        self._verdicts: dict[tuple[Statement, tuple[str, ...]], Verdict | str] = {}

    def answer(self, caller: Instance, places: Sequence[Place], text: str) -> str:
        """What is answered to a real call's request, made at one of these places.

        A request that makes no sense ends the caller's instance.
        """
        power, request = self._read(text, *(place.lineup for place in places))
        if isinstance(request, str):
            return request
        if request.match >= len(places):
            raise Ended("crash", "asked its host about a match that is not its own")
        place = places[request.match]
        frame = Frame((place.lineup, place.seat, request.here, (place.shared, 0)), place.private)
        round_number, top = self._tops.get(place.slot, (-1, Top([])))
        if round_number != len(request.here):
            top = Top([])
            self._tops[place.slot] = len(request.here), top
        top.stack = [frame]
        self._slot = place.slot
        with self._simulator.within(top):
            answer = self._do(power, caller, request)
        if top.drew:
            self.drawn.add(place.slot)
        return answer

    def _nested(self, caller: Instance, text: str) -> str:
        """What is answered to a simulated call's request."""
        power, request = self._read(text, self._simulator.top.stack[-1].key[0])
        return request if isinstance(request, str) else self._do(power, caller, request)

    def _read(self, text: str, *given: tuple[str, ...]) -> tuple[str, Request | str]:
        """A power and the request for it, or the source of a program given where that is all that is asked for."""
        power, _, rest = text.partition(" ")
        try:
            if power != "source":
                return power, read_request(rest, self._simulator.seats)
            if not any(rest in lineup for lineup in given):
                raise ValueError("a program that was not given")
            return power, self.programs.source(rest)
        except ValueError as error:
            raise Ended("crash", "asked its host for something that makes no sense") from error

    def _do(self, power: str, caller: Instance, request: Request) -> str:
        self._simulator.top.stack[-1].drew |= request.drew
        if power == "proves":
            return self._proves(caller, request)
        try:
            return self._simulator.simulate(caller, request)
        except LookupError as error:
            raise Ended("crash", "asked its host for a program that it was not given") from error

    def _proves(self, caller: Instance, request: Request) -> str:
        """ "1" or "0", or what is wrong with the statement behind a question mark."""
        caller.charge(PROOF_FEE)
        key = self._simulator.top.stack[-1].key
        try:
            statement = self.stated(request.statement, request.level, key)
        except UsageError as error:
            return f"?{error}"
        if self._simulator.top.ask is not None:
            return str(int(self._simulator.top.ask(statement)))
        verdict = self.verdict(statement, key)
        if isinstance(verdict, str):
            self.notes.setdefault(self._slot, (len(request.here), f"not proved: {verdict}"))
            return "0"
        return str(int(verdict.provable))

    def stated(self, text: str, level: int, key: Key) -> Statement:
        """A statement made at a call, with programs as digests and seats. Raises `UsageError`."""
        if self._simulator.seats != 2:
            raise UsageError("proves is for games with two seats")
        if level > MOST_LEVEL:
            raise UsageError(f"a level is from 0 to {MOST_LEVEL}")
        return substitute(at_level(parse(text), level), functools.partial(self._resolved, key))

    def _resolved(self, key: Key, plays: Plays) -> Plays:
        """The second-named takes the seat that the first leaves; a library program the one that is not named."""
        digests, seat, _, _ = key
        seats = {"me": seat, "them": 1 - seat}
        place = seats.get(plays.program, 1 - seats.get(plays.against, 1 - seat))
        known = {"me": digests[seat], "them": digests[1 - seat]}
        program, against = (
            known.get(n) or self._from_library(n) for n in (plays.program, plays.against)
        )
        return Plays(program, against, plays.move, place)

    def _from_library(self, name: str) -> str:
        plain = name.replace("_", "").lower()
        for known, source in self._library.items():
            if known.replace("_", "") == plain:
                return self.programs.add(source)
        raise UsageError(f"the library has no program called {name[:60]!r}")

    def verdict(self, statement: Statement, key: Key) -> Verdict | str:
        """Whether a statement is provable of programs that meet after a history; or which bound was hit."""
        _, _, history, _ = key
        about = (statement, history)
        if about not in self._verdicts:
            try:
                self._verdicts[about] = decide(statement, _Runner(self, history).move)
            except Bound as bound:
                self._verdicts[about] = str(bound)
        return self._verdicts[about]


class _Runner:
    """Runs programs at worlds of one proof, on fuel of the proof's own."""

    def __init__(self, powers: Powers, history: tuple[str, ...]) -> None:
        self._powers = powers
        self._history = history
        self._fuel = powers._limits.fuel

    def move(self, pair: Pair, ask: Ask) -> str | None:
        """The move as text; None for a program that draws, breaks a rule or does not halt. Raises `Bound`."""
        program, against, seat = pair
        lineup = (program, against) if seat == 0 else (against, program)
        frame = Frame((lineup, seat, self._history, NO_COIN), tape_name("proof", *pair))
        simulator = self._powers._simulator
        top = Top([], ask=ask)
        with simulator.within(top):
            move, spent = simulator.run(frame, self._fuel, once=True)
        self._fuel -= spent
        if self._fuel <= 0:
            raise Bound("its fuel ran out")
        if top.drew or len(move) > 1:
            return None
        return str(self._powers._game["moves"][seat][ord(move) - 48])
