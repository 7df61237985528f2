"""Answers what a program's guest asks of its host: sources, simulations, and what is provable."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tournament.errors import UsageError
from tournament.sandbox.call import OWN, Frame, Key, Programs, Proof, Top
from tournament.sandbox.instance import Ended, Image, Instance
from tournament.sandbox.limits import Limits
from tournament.sandbox.memory import Memory
from tournament.sandbox.proof import Verdict
from tournament.sandbox.prover import Prover, Runs
from tournament.sandbox.request import MOST_ROUNDS, Request, read_request
from tournament.sandbox.simulation import Simulator
from tournament.sandbox.statement import Plays, Statement, at_level, parse, substitute

BY_CHARACTER = 100
"""Fuel for every character of a request, which may be long."""
PROOF_FEE, STATED = 1_000_000, 5_000
"""Fuel for asking what is provable, and for every character of a statement; the proof itself comes on top."""
PROOF_SHARE = 4
"""A proof may take this part of the fuel of a move."""
MOST_LEVEL = 50
MOST_KEPT = 10_000
POWERS = ("simulate", "proves")


@dataclass
class Place:
    """Where a real call is made: its match's lineup (digests by seat), its seat, and its tapes.

    `round` is the present one, and `top` the call that is made in it.
    """

    slot: int
    lineup: tuple[str, ...]
    seat: int
    private: str
    shared: str
    round: int = -1
    top: Top = field(default_factory=lambda: Top([]))

    def called(self, here: tuple[str, ...]) -> Top:
        """The call in progress, as one that is made at this history."""
        if self.round != len(here):
            self.round, self.top = len(here), Top([], coin=self.shared)
        key = (self.lineup, self.seat, here, OWN)
        self.top.stack = [Frame(key, self.private, final=True)]
        return self.top


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
        memory: Memory | None = None,
    ) -> None:
        self.programs = Programs(programs)
        self.notes: dict[int, tuple[int, str]] = {}
        self.drawn: set[int] = set()
        """Slots whose simulations looked at tapes."""
        self._game = game
        self._library = library
        self._most = limits.fuel // PROOF_SHARE
        self._simulator = Simulator(image, game, self.programs, limits, self._nested, memory)
        self._place = Place(-1, (), 0, "", "")
        self._proved: dict[Proof, tuple[Verdict | str, int]] = {}
        self._runs = Runs()

    def answer(self, caller: Instance, places: Sequence[Place], text: str) -> str:
        """What is answered to a real call's request, made at one of these places.

        A request that makes no sense ends the caller's instance.
        """
        power, request = self._read(text, *(place.lineup for place in places))
        if isinstance(request, str):
            caller.charge(BY_CHARACTER * len(text))
            return request
        if request.match >= len(places):
            raise Ended("crash", "asked its host about a match that is not its own")
        self._place = place = places[request.match]
        top = place.called(request.here)
        with caller.account(request.match), self._simulator.within(top):
            caller.charge(BY_CHARACTER * len(text))
            answer = self._do(power, caller, request)
        if top.drew:
            self.drawn.add(place.slot)
        return answer

    def _nested(self, caller: Instance, text: str) -> str:
        """What is answered to a simulated call's request."""
        caller.charge(BY_CHARACTER * len(text))
        frame = self._simulator.top.stack[-1]
        power, request = self._read(text, frame.key[0])
        if isinstance(request, str):
            return request
        lineup, seat, _, shared = frame.key
        frame.key = (lineup, seat, request.here, shared)
        return self._do(power, caller, request)

    def _read(self, text: str, *given: tuple[str, ...]) -> tuple[str, Request | str]:
        """A power and the request for it, or the source of a program given where that is all that is asked for."""
        power, _, rest = text.partition(" ")
        try:
            if power in POWERS:
                return power, read_request(rest, self._simulator.seats)
            if power != "source" or not any(rest in lineup for lineup in given):
                raise ValueError("a program that was not given")
            return power, self._simulator.source(rest)
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
        caller.charge(PROOF_FEE + STATED * len(request.statement))
        top = self._simulator.top
        key = top.stack[-1].key
        try:
            statement = self.stated(request.statement, request.level, key)
        except UsageError as error:
            return f"?{error}"
        if top.ask is not None:
            return self._held(top, statement, request.here)
        verdict, price = self.verdict(statement, key)
        if top.recall(proof := (statement, key[2])) is None:
            top.learn(proof)
            caller.charge(price)
        if isinstance(verdict, str):
            top.trace.own = True
            number = min(self._place.round, MOST_ROUNDS - 1)
            self.notes.setdefault(self._place.slot, (number, f"not proved: {verdict}"))
            return "0"
        return str(int(verdict.provable))

    def _held(self, top: Top, statement: Statement, here: tuple[str, ...]) -> str:
        """The answer at a world. Of other histories nothing is known there: who asks for them has no provable move."""
        top.void |= here != top.about
        if top.void or top.ask is None:
            return "0"
        return str(int(top.ask(statement)))

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

    def verdict(self, statement: Statement, key: Key) -> tuple[Verdict | str, int]:
        """Whether a statement is provable of programs that meet after a history, or which bound was hit; and the price.

        The price is the same for everybody who asks, whatever was found out before.
        """
        _, _, history, _ = key
        about = (statement, history)
        if about not in self._proved:
            if len(self._proved) >= MOST_KEPT:
                self._proved.clear()
                self._runs.clear()
            prover = Prover(self._simulator, self._runs, history, self._most)
            self._proved[about] = prover.verdict(statement), prover.spent
        return self._proved[about]
