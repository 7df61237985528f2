"""Answers the requests of a guest to its host: for sources, for simulations, and for what is provable."""

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
"""Fuel charged for every character of a request, since a request may be long."""
PROOF_FEE, STATED = 1_000_000, 5_000
"""Fuel charged for a call of `proves`, and for every character of its statement. The proof itself is extra."""
PROOF_SHARE = 4
"""A proof may use at most the fuel of one move divided by this number."""
MOST_LEVEL = 50
MOST_KEPT = 10_000
"""The most verdicts that are kept; when there are as many, all verdicts and runs are forgotten."""
POWERS = ("simulate", "proves")


@dataclass
class Place:
    """One seat of one match, in which real calls (calls for a move of the match itself) are made.

    `slot` numbers it within the batch, `lineup` has the digests of the programs by seat, and `private` and `shared` are
    the names of its tapes. `round` is the present round, counted from 0, and `top` is the call that is made in it.
    """

    slot: int
    lineup: tuple[str, ...]
    seat: int
    private: str
    shared: str
    round: int = -1
    top: Top = field(default_factory=lambda: Top([]))

    def called(self, here: tuple[str, ...]) -> Top:
        """Return the real call in progress at this history; the history's length tells when a new round begins."""
        if self.round != len(here):
            self.round, self.top = len(here), Top([], coin=self.shared)
        key = (self.lineup, self.seat, here, OWN)
        self.top.stack = [Frame(key, self.private, final=True)]
        return self.top


class Powers:
    """What the programs of a batch may ask for: `simulate`, `proves`, and the sources of programs.

    `notes` has, by slot, the first round in which a proof could not be decided within its bounds, and the reason.
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
        """The slots for which a simulated program has read a tape."""
        self._game = game
        self._library = library
        self._most = limits.fuel // PROOF_SHARE
        self._simulator = Simulator(image, game, self.programs, limits, self._nested, memory)
        self._place = Place(-1, (), 0, "", "")
        self._proved: dict[Proof, tuple[Verdict | str, int]] = {}
        self._runs = Runs()

    def answer(self, caller: Instance, places: Sequence[Place], text: str) -> str:
        """Return the answer to a request that the instance `caller` makes during a real call.

        `places` are the seats that the instance plays; the request names one of them by its index. Raises `Ended`,
        which ends the instance, for a request that makes no sense.
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
        """Return the answer to a simulated program's request. Raises `Ended` for a request that makes no sense."""
        caller.charge(BY_CHARACTER * len(text))
        frame = self._simulator.top.stack[-1]
        power, request = self._read(text, frame.key[0])
        if isinstance(request, str):
            return request
        lineup, seat, _, shared = frame.key
        frame.key = (lineup, seat, request.here, shared)
        return self._do(power, caller, request)

    def _read(self, text: str, *given: tuple[str, ...]) -> tuple[str, Request | str]:
        """Return the first word of a guest's text, and the request for `simulate` or `proves` that follows it.

        If the guest asks for the source of a program in one of the lineups `given`, return that source instead of a
        request. Raises `Ended` for a text that makes no sense.
        """
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
        """Return "1" if the statement is provable and otherwise "0", or "?" and a message if it cannot be read."""
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
        """Answer `proves` while a proof runs programs at one of its worlds, as "1" or "0".

        A world knows only about the history that the proof is about. A program that asks `proves` at another history
        therefore has no provable move, and the run is marked as `void`.
        """
        top.void |= here != top.about
        if top.void or top.ask is None:
            return "0"
        return str(int(top.ask(statement)))

    def stated(self, text: str, level: int, key: Key) -> Statement:
        """Return the statement that a text states at a level, with its programs as digests and seats.

        `key` is the call in which `me` and `them` have their meaning. Raises `UsageError`.
        """
        if self._simulator.seats != 2:
            raise UsageError("proves is for games with two seats")
        if level > MOST_LEVEL:
            raise UsageError(f"a level is from 0 to {MOST_LEVEL}")
        return substitute(at_level(parse(text), level), functools.partial(self._resolved, key))

    def _resolved(self, key: Key, plays: Plays) -> Plays:
        """Return `plays` with its programs as digests and with the seat of the first program.

        `me` and `them` keep their seats. A library program that is named first takes the other seat than its opponent;
        if both are library programs, the first takes the seat of `me`. Raises `UsageError` for an unknown name.
        """
        digests, seat, _, _ = key
        seats = {"me": seat, "them": 1 - seat}
        place = seats.get(plays.program, 1 - seats.get(plays.against, 1 - seat))
        known = {"me": digests[seat], "them": digests[1 - seat]}
        program, against = (
            known.get(n) or self._from_library(n) for n in (plays.program, plays.against)
        )
        return Plays(program, against, plays.move, place)

    def _from_library(self, name: str) -> str:
        """Return the digest of a library program; case and underscores are ignored. Raises `UsageError`."""
        plain = name.replace("_", "").lower()
        for known, source in self._library.items():
            if known.replace("_", "") == plain:
                return self.programs.add(source)
        raise UsageError(f"the library has no program called {name[:60]!r}")

    def verdict(self, statement: Statement, key: Key) -> tuple[Verdict | str, int]:
        """Return the verdict on a statement at the history of `key`, or which bound was hit; and the price in fuel.

        The price is the same for every caller, even if the verdict is already known.
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
