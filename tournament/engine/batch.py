"""The batches that workers are asked to play and the results that they send back, as plain data."""

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tournament.game import MOST_ROUNDS, Repetition, Setting, StateGame, code
from tournament.match import FAULTS, Fault, Fixture
from tournament.program import Program
from tournament.sandbox.limits import Limits
from tournament.seeds import Tape, tape_name

MOST_TEXT = 8_000
"""The most characters in a text that comes from a guest, the interpreter inside the sandbox."""
SEAT = 4
ANYTHING = 7
"""Flags for what a program has read: 1 for the public coin, plus 2 for its private tape, plus 4 for its seat."""
_WATCHING = re.compile(r"\b(theirs|history|simulate|proves)\b")


def match_tape(seed: int, key: str, fixture: Fixture, *purpose: object) -> str:
    """Return the name of a match's tape for a purpose; `key` is the key of the setting."""
    return tape_name(seed, key, "/".join(fixture.lineup), fixture.repetition, *purpose)


@dataclass(frozen=True)
class Batch:
    """Matches that are played together.

    `facts` is the game as bots see it. `programs` are pairs of digest and source; `matches` are pairs of lineup
    (numbers of programs by seat) and repetition. A *player* is one seat of one match, numbered through the batch.
    `library` has the sources that `proves` knows, by name. `checks` are the players that are to be replayed alone. With
    `alone`, every player is alone in its instance from the start, which is strict play.
    """

    facts: dict[str, Any]
    key: str
    seed: int
    programs: tuple[tuple[str, str], ...]
    matches: tuple[tuple[tuple[int, ...], int], ...]
    limits: Limits = Limits()
    library: dict[str, str] = field(default_factory=dict)
    checks: tuple[int, ...] = ()
    alone: bool = False

    @cached_property
    def seats(self) -> int:
        """How many seats the game has."""
        return len(self.facts["moves"])

    @cached_property
    def repetition(self) -> Repetition:
        """How often matches repeat the game."""
        return Repetition(
            self.facts["rounds"],
            self.facts["continuation"],
            self.facts["discount"],
            self.facts["noise"],
        )

    @cached_property
    def players(self) -> dict[int, list[int]]:
        """The players of every program, in order, by number of the program."""
        players: dict[int, list[int]] = {number: [] for number in range(len(self.programs))}
        for player in range(len(self.matches) * self.seats):
            players[self.program_of(player)].append(player)
        return players

    def program_of(self, player: int) -> int:
        """Return the number of the program that a player plays."""
        match, seat = divmod(player, self.seats)
        return self.matches[match][0][seat]

    def seems_blind(self, program: int) -> bool:
        """Whether the program's text mentions nothing that reveals the opponents' moves; this is only a guess."""
        return _WATCHING.search(self.programs[program][1]) is None

    def tape(self, match: int, *purpose: object) -> str:
        """Return the name of a match's tape for a purpose. It depends only on what is played, never on the batch."""
        return match_tape(self.seed, self.key, self.fixtures[match], *purpose)

    @cached_property
    def fixtures(self) -> list[Fixture]:
        """The matches as fixtures, with the digests of their programs."""
        digests = [digest for digest, _ in self.programs]
        return [Fixture(tuple([digests[n] for n in lineup]), r) for lineup, r in self.matches]

    @cached_property
    def shared_tapes(self) -> list[str]:
        """The names of the tapes that all seats of a match share, by match."""
        return [self.tape(match, "shared") for match in range(len(self.matches))]

    @cached_property
    def horizons(self) -> list[int]:
        """How many rounds each match has."""
        if self.repetition.rounds is not None:
            return [self.repetition.rounds] * len(self.matches)
        return [
            self.repetition.horizon(Tape(self.tape(match, "horizon")))
            for match in range(len(self.matches))
        ]

    def only(self, matches: Sequence[int]) -> "Batch":
        """Return a batch of only these matches, in which every seat is played alone."""
        chosen = tuple(self.matches[match] for match in matches)
        return replace(self, matches=chosen, checks=(), alone=True)

    def encoded(self) -> bytes:
        """Return the batch as JSON."""
        limits = [self.limits.fuel, self.limits.memory]
        parts = [self.facts, self.key, self.seed, self.programs, self.matches, limits]
        return json.dumps([*parts, self.library, self.checks, self.alone]).encode()

    @classmethod
    def decoded(cls, text: bytes) -> "Batch":
        """Return the batch that `encoded` turned into JSON."""
        facts, key, seed, programs, matches, limits, library, checks, alone = json.loads(text)
        return cls(
            facts=facts,
            key=key,
            seed=seed,
            programs=tuple((digest, source) for digest, source in programs),
            matches=tuple((tuple(lineup), repetition) for lineup, repetition in matches),
            limits=Limits(*limits),
            library=library,
            checks=tuple(checks),
            alone=alone,
        )


@dataclass
class Played:
    """The result of playing a batch.

    `moves` has a string of move codes for each player, after noise; `intended` has the same before noise, or is None if
    there is no noise. `faults` are by player, and `fuel` is the share of each player in the fuel used.
    """

    moves: list[str]
    intended: list[str] | None
    faults: dict[int, Fault] = field(default_factory=dict)
    fuel: list[int] = field(default_factory=list)
    notes: dict[int, tuple[int, str]] = field(default_factory=dict)
    """By player: a round in which something could not be decided within its bounds, and the reason."""
    reads: dict[int, int] = field(default_factory=dict)
    """By player: what its program has read, as flags (see `ANYTHING`); only for players of which it is known."""
    checked: set[int] = field(default_factory=set)
    """Players that were alone in their instance, at first or when they were replayed, and made the same moves."""
    leaky: set[int] = field(default_factory=set)
    """Numbers of the programs that moved differently when their moves were replayed alone or in a smaller group."""

    def encoded(self) -> bytes:
        """Return the result as JSON."""
        faults = {
            player: [f.seat, f.kind, f.round, f.message, f.traceback, f.output]
            for player, f in self.faults.items()
        }
        parts = [self.moves, self.intended, faults, self.fuel, self.notes, self.reads]
        return json.dumps([*parts, sorted(self.checked), sorted(self.leaky)]).encode()

    @classmethod
    def decoded(cls, text: bytes, batch: Batch) -> "Played":
        """Return the result that `encoded` turned into JSON.

        The text comes from a worker that runs bots, so it is not trusted: if playing the batch cannot give this result,
        this raises `ValueError` or another exception that badly formed data causes.
        """
        moves, intended, faults, fuel, notes, reads, checked, leaky = json.loads(text)
        by_player = {int(player): Fault(*fault) for player, fault in faults.items()}
        noted = {
            int(player): (round_number, note) for player, (round_number, note) in notes.items()
        }
        reads = {int(player): flags for player, flags in reads.items()}
        played = cls(moves, intended, by_player, fuel, noted, reads, set(checked), set(leaky))
        played._check(batch)
        return played

    def _check(self, batch: Batch) -> None:
        """Raise `ValueError` if playing the batch cannot give this result."""
        seats, count = batch.seats, len(batch.matches) * batch.seats
        made = [self.moves] if self.intended is None else [self.moves, self.intended]
        _demand(len(made) == 1 + (batch.repetition.noise > 0), "moves before noise")
        ended = {player // seats: fault.round for player, fault in self.faults.items()}
        rounds = [ended.get(match, horizon) for match, horizon in enumerate(batch.horizons)]
        if batch.facts["episodic"]:
            played = [len(column) for column in self.moves[::seats]]
            rounds = [min(most, length) for most, length in zip(rounds, played, strict=True)]
        codes = [{code(i) for i in range(len(legal))} for legal in batch.facts["moves"]]
        for columns in (*made, self.fuel):
            _demand(type(columns) is list and len(columns) == count, "a value for every player")
        for columns in made:
            for player, column in enumerate(columns):
                _demand(codes[player % seats].issuperset(column), "legal moves")
                _demand(len(column) == rounds[player // seats], "a move for every round")
        _demand(all(type(fuel) is int and 0 <= fuel < 1 << 62 for fuel in self.fuel), "fuel")
        for player, fault in self.faults.items():
            _demand(type(fault.seat) is type(fault.round) is int, "numbers in a fault")
            _demand(
                player in range(count) and fault.seat == player % seats, "a seat for every fault"
            )
            _demand(
                fault.round in range(batch.horizons[player // seats]), "a round for every fault"
            )
            _demand(fault.round == rounds[player // seats], "one end of every match")
            _demand(fault.kind in FAULTS, "a fault of a known kind")
        reports = [(f.message, f.traceback, f.output) for f in self.faults.values()]
        for text in itertools.chain(*reports, (note for _, note in self.notes.values())):
            _demand(type(text) is str and len(text.encode()) <= 4 * MOST_TEXT, "short texts")
        for player, (round_number, _) in self.notes.items():
            _demand(player in range(count) and round_number in range(MOST_ROUNDS), "notes")
        for players in (self.reads, self.checked):
            _demand(
                all(type(player) is int and player in range(count) for player in players), "players"
            )
        flags = range(ANYTHING + 1)
        _demand(all(type(f) is int and f in flags for f in self.reads.values()), "flags")
        programs = range(len(batch.programs))
        _demand(all(type(n) is int and n in programs for n in self.leaky), "programs")


def _demand(held: bool, what: str) -> None:
    """Raise `ValueError`, saying what was expected, unless the condition held."""
    if not held:
        raise ValueError(f"not {what}")


def game_facts(setting: Setting) -> dict[str, Any]:
    """Return the game as bots see it, as data ready for JSON, without the horizon if that is hidden from bots."""
    game, repetition = setting.game, setting.repetition
    cells = game.cells
    return {
        "name": game.name,
        "parameters": dict(game.parameters),
        "moves": game.moves,
        # The payoffs of all joint moves, in order. They are passed as JSON text because reading it is
        # expensive and many bots never ask for a payoff.
        "payoffs": cells and json.dumps(list(cells.values())),
        "rounds": game.most_rounds if isinstance(game, StateGame) else repetition.rounds,
        "episodic": isinstance(game, StateGame),
        "continuation": repetition.continuation,
        "discount": repetition.discount,
        "noise": repetition.noise,
    }


def make_batch(
    setting: Setting,
    seed: int,
    programs: dict[str, Program],
    fixtures: Sequence[Fixture],
    limits: Limits,
    library: dict[str, str],
    checks: Sequence[int] = (),
) -> Batch:
    """Return a batch of these fixtures."""
    digests = sorted({digest for fixture in fixtures for digest in fixture.lineup})
    number = {digest: n for n, digest in enumerate(digests)}
    return Batch(
        facts=game_facts(setting),
        key=setting.key,
        seed=seed,
        programs=tuple((digest, programs[digest].source) for digest in digests),
        matches=tuple(
            (tuple(number[digest] for digest in fixture.lineup), fixture.repetition)
            for fixture in fixtures
        ),
        limits=limits,
        library=library,
        checks=tuple(checks),
    )
