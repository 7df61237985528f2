"""Answers the requests of a guest to its host: for sources, for simulations, and for what is provable."""

import weakref
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tournament.errors import UsageError
from tournament.sandbox.call import OWN, Frame, Key, Question, Top, digest_of
from tournament.sandbox.instance import Ended, Image, Instance
from tournament.sandbox.limits import Limits
from tournament.sandbox.memory import Memory
from tournament.sandbox.proof import History, Proof, Runs, Verdict
from tournament.sandbox.request import MOST_ROUNDS, Request, read_request
from tournament.sandbox.simulation import Simulator
from tournament.sandbox.statement import MOST_LEVEL, Plays, Statement, at_level, parse, substitute

BY_CHARACTER = 100
"""Fuel charged for every character of a request, since a request may be long."""
PROOF_FEE, BY_STATEMENT_CHARACTER = 1_000_000, 5_000
"""Fuel charged for a call of `proves`, and for every character of its statement. The proof itself is extra."""
PROOF_SHARE = 4
"""A proof may use at most the fuel of one move divided by this number."""
MOST_KEPT = 10_000
"""The most verdicts that are kept; when there are as many, all verdicts and runs are forgotten."""


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

    def called(self, here: History) -> Top:
        """Return the real call in progress at this history; the history's length tells when a new round begins."""
        if self.round != len(here):
            self.round, self.top = len(here), Top([], coin=self.shared)
        key = (self.lineup, self.seat, here, OWN)
        self.top.stack = [Frame(key, self.private, final=True)]
        return self.top


class Powers:
    """Answers what the programs of a batch ask for: `simulate`, `proves`, and the sources of programs.

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
        self.notes: dict[int, tuple[int, str]] = {}
        self.drawn: set[int] = set()
        """The slots for which a simulated program has read a tape."""
        self._programs = dict(programs)
        self._library = library
        self._proof_fuel = limits.fuel // PROOF_SHARE
        # A strong reference would be a cycle, which would keep the instances alive until the next garbage collection.
        host = partial(Powers._answer_simulated, weakref.proxy(self))
        self._simulator = Simulator(image, game, self._programs, limits, host, memory)
        self._place = Place(-1, (), 0, "", "")
        self._verdicts: dict[Question, Verdict] = {}
        self._runs: Runs = defaultdict(list)

    def answer(self, caller: Instance, places: Sequence[Place], text: str) -> str:
        """Return the answer to a request that the instance `caller` makes during a real call.

        `places` are the seats that the instance plays; the request names one of them by its index. Raises `Ended`,
        which ends the instance, for a request that makes no sense.
        """
        request = self._read(text, (place.lineup for place in places))
        if isinstance(request, str):
            caller.charge(BY_CHARACTER * len(text))
            return request
        if request.match >= len(places):
            raise Ended("crash", "asked its host about a match that is not its own")
        self._place = place = places[request.match]
        top = place.called(request.here)
        with caller.account(request.match), self._simulator.within(top):
            caller.charge(BY_CHARACTER * len(text))
            top.stack[-1].drew |= request.drew
            handle = self._proves if request.ability == "proves" else self._simulate
            answer = handle(caller, request)
        if top.drew:
            self.drawn.add(place.slot)
        return answer

    def _answer_simulated(self, caller: Instance, text: str) -> str:
        """Return the answer to a simulated program's request. Raises `Ended` for a request that makes no sense."""
        caller.charge(BY_CHARACTER * len(text))
        frame = self._simulator.top.stack[-1]
        lineup, seat, _, shared = frame.key
        request = self._read(text, (lineup,))
        if isinstance(request, str):
            return request
        frame.key = (lineup, seat, request.here, shared)
        frame.drew |= request.drew
        handle = self._proves if request.ability == "proves" else self._simulate
        return handle(caller, request)

    def _read(self, text: str, lineups: Iterable[tuple[str, ...]]) -> Request | str:
        """Return the request in a guest's text; or, if it asks for the source of a program, that source.

        The program must be in one of the lineups. Raises `Ended` for a text that makes no sense.
        """
        ability, _, rest = text.partition(" ")
        try:
            if ability in ("simulate", "proves"):
                return read_request(ability, rest, self._simulator.seats)
            if ability != "source" or not any(rest in lineup for lineup in lineups):
                raise ValueError("a program that was not given")
            return self._simulator.source(rest)
        except ValueError as error:
            raise Ended("crash", "asked its host for something that makes no sense") from error

    def _simulate(self, caller: Instance, request: Request) -> str:
        try:
            return self._simulator.simulate(caller, request)
        except LookupError as error:
            raise Ended("crash", "asked its host for a program that it was not given") from error

    def _proves(self, caller: Instance, request: Request) -> str:
        """Return "1" if the statement is provable and otherwise "0", or "?" and a message if it cannot be read."""
        caller.charge(PROOF_FEE + BY_STATEMENT_CHARACTER * len(request.statement))
        top = self._simulator.top
        try:
            statement = self.statement(request.statement, request.level, top.stack[-1].key)
        except UsageError as error:
            return f"?{error}"
        if top.is_provable is not None:
            # A world knows only about the history that the proof is about. A program that asks about another history
            # has no provable move.
            top.unprovable |= request.here != top.about
            return str(int(not top.unprovable and top.is_provable(statement)))
        about = (statement, request.here)
        if about not in self._verdicts:
            if len(self._verdicts) >= MOST_KEPT:
                self._verdicts.clear()
                self._runs.clear()
            self._verdicts[about] = self.proof(request.here).decide(statement)
        verdict = self._verdicts[about]
        if top.recall(about) is None:
            top.learn(about)
            caller.charge(verdict.price)
        if verdict.bound:
            top.trace.shareable = False
            number = min(self._place.round, MOST_ROUNDS - 1)
            self.notes.setdefault(self._place.slot, (number, f"not proved: {verdict.bound}"))
        return str(int(verdict.provable))

    def proof(self, history: History) -> Proof:
        """Return a new proof about programs that meet after a history."""
        return Proof(self._simulator.run_at_world, self._proof_fuel, history, self._runs)

    def statement(self, text: str, level: int, key: Key) -> Statement:
        """Return the statement in a text at a level, with its programs as digests and with the first program's seat.

        `key` is the call in which `me` and `them` have their meaning and their seats. A library program that is named
        first takes the other seat than its opponent; if both are library programs, the first takes the seat of `me`.
        Raises `UsageError`.
        """
        if self._simulator.seats != 2:
            raise UsageError("proves is for games with two seats")
        if level > MOST_LEVEL:
            raise UsageError(f"a level is from 0 to {MOST_LEVEL}")
        lineup, seat, _, _ = key
        seats = {"me": seat, "them": 1 - seat}

        def resolve(plays: Plays) -> Plays:
            first = seats.get(plays.program, 1 - seats.get(plays.against, 1 - seat))
            program, against = (
                (name in seats and lineup[seats[name]]) or self._from_library(name)
                for name in (plays.program, plays.against)
            )
            return Plays(program, against, plays.move, first)

        return substitute(at_level(parse(text), level), resolve)

    def _from_library(self, name: str) -> str:
        """Return the digest of a library program; case and underscores are ignored. Raises `UsageError`."""
        wanted = _normalised(name)
        source = next(
            (s for known, s in self._library.items() if _normalised(known) == wanted), None
        )
        if source is None:
            raise UsageError(f"the library has no program called {name[:60]!r}")
        digest = digest_of(source)
        self._programs[digest] = source
        return digest


def _normalised(name: str) -> str:
    return name.replace("_", "").lower()
