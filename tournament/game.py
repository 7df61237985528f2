"""What a game is: who moves, what they may do, what it pays, and how often it is repeated.

A game file (`games/NAME.py`) holds one function `game(**parameters) -> MatrixGame`; its signature is the list of
parameters with their defaults. This module holds the words such a file is written in.
"""

import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from tournament.errors import ParameterError
from tournament.seeds import Tape, tape_name

T = TypeVar("T")
Move = str | int
Joint = tuple[int, ...]
"""One move index for every seat, in seat order."""
Payoffs = tuple[float, ...]
"""One payoff for every seat, in seat order."""

FIRST_CODE = 48
MOST_MOVES = 78
MOST_CELLS = 4096
MOST_ROUNDS = 100_000
LARGEST = 1e12
"""Payoffs and parameters lie between minus this and this, so that sums of them stay finite."""


def code(index: int) -> str:
    """The character that stands for the move of that index in recorded play ("0", "1", ...)."""
    return chr(FIRST_CODE + index)


def index(character: str) -> int:
    """The move index that a character of recorded play stands for."""
    return ord(character) - FIRST_CODE


@dataclass(frozen=True)
class MatrixGame:
    """A game in normal form: every seat moves once, at the same time, and is paid.

    `moves[seat]` are the legal moves of a seat; `payoff` maps move indices by seat to payoffs by seat;
    `worst[seat]` is the least that the seat can be paid, which is what a faulting bot gets.
    """

    name: str
    moves: tuple[tuple[Move, ...], ...]
    payoff: Callable[[Joint], Payoffs]
    worst: Payoffs
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if max(len(legal) for legal in self.moves) > MOST_MOVES:
            raise ParameterError(self.name, "moves", f"are more than {MOST_MOVES} for one seat")
        one_spelling = {name: plain(value) for name, value in self.parameters.items()}
        object.__setattr__(self, "parameters", one_spelling)

    @property
    def seats(self) -> int:
        """How many places there are at the table."""
        return len(self.moves)

    @cached_property
    def cells(self) -> dict[Joint, Payoffs] | None:
        """Payoffs of every joint move; None where there are more than 4,096."""
        if math.prod(len(legal) for legal in self.moves) > MOST_CELLS:
            return None
        joints = itertools.product(*(range(len(legal)) for legal in self.moves))
        return {joint: self.payoff(joint) for joint in joints}

    @cached_property
    def digest(self) -> str:
        """A digest of the moves and payoffs: what makes it this game, whatever it is called."""
        cells = sorted((self.cells or {}).items())
        return tape_name(self.moves, [(joint, [*map(float, paid)]) for joint, paid in cells])

    @cached_property
    def symmetric(self) -> bool:
        """Whether every seat has the same moves and is paid alike when seats are exchanged.

        A game too large to list is taken to be symmetric if its moves are.
        """
        if len(set(self.moves)) > 1:
            return False
        return all(
            self.payoff(_exchanged(joint, seat)) == _exchanged(paid, seat)
            for joint, paid in (self.cells or {}).items()
            for seat in range(1, self.seats)
        )

    @cached_property
    def kind(self) -> str:
        """`zero-sum`, `common-payoff` or `general-sum`; a game too large to list is `general-sum`."""
        paid = list((self.cells or {}).values())
        if paid and all(len(set(payoffs)) == 1 for payoffs in paid):
            return "common-payoff"
        if paid and all(abs(math.fsum(payoffs)) < 1e-12 for payoffs in paid):
            return "zero-sum"
        return "general-sum"


def _exchanged(values: tuple[T, ...], seat: int) -> tuple[T, ...]:
    """The values with those of a seat and the one before it exchanged."""
    return (*values[: seat - 1], values[seat], values[seat - 1], *values[seat + 1 :])


def table_game(
    name: str,
    moves: Sequence[Move],
    rows: Sequence[Sequence[Payoffs]],
    parameters: Mapping[str, object],
) -> MatrixGame:
    """A two-seat game from its bimatrix: `rows[i][j]` is what the seats are paid for moves i and j."""
    for value in itertools.chain.from_iterable(itertools.chain.from_iterable(rows)):
        check_finite(name, "payoff", value)
    table = [[tuple(map(float, cell)) for cell in row] for row in rows]
    return MatrixGame(
        name=name,
        moves=(tuple(moves), tuple(moves)),
        payoff=lambda joint: table[joint[0]][joint[1]],
        worst=tuple(min(cell[seat] for row in table for cell in row) for seat in (0, 1)),
        parameters=parameters,
    )


def symmetric_game(
    name: str,
    moves: Sequence[Move],
    matrix: Sequence[Sequence[float]],
    parameters: Mapping[str, object],
) -> MatrixGame:
    """A two-seat game that looks the same from both seats: `matrix[mine][theirs]` is what I am paid."""
    span = range(len(moves))
    return table_game(
        name, moves, [[(matrix[i][j], matrix[j][i]) for j in span] for i in span], parameters
    )


def common_payoff_game(
    name: str,
    moves: Sequence[Move],
    matrix: Sequence[Sequence[float]],
    parameters: Mapping[str, object],
) -> MatrixGame:
    """A two-seat game that pays both seats the same: `matrix[row][column]`."""
    return table_game(
        name, moves, [[(value, value) for value in row] for row in matrix], parameters
    )


def plain(value: object) -> object:
    """The value, with 3.0 as 3: numbers that are equal look equal, to bots and in keys."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def check_finite(game: str, parameter: str, value: object) -> None:
    """Raise `ParameterError` unless `value` is a number, finite and at most 1e12 either way."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ParameterError(game, parameter, f"is {value!r}, which is not a number")
    if not -LARGEST <= value <= LARGEST:
        raise ParameterError(
            game, parameter, f"is {value!r}, and must be from {-LARGEST:g} to {LARGEST:g}"
        )


def check_whole(game: str, parameter: str, value: object, least: int, most: int) -> None:
    """Raise `ParameterError` unless `value` is an `int` from `least` to `most`."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return
    problem = f"is {value!r}, and must be a whole number from {least:,} to {most:,}"
    raise ParameterError(game, parameter, problem)


def check_order(game: str, values: Mapping[str, float]) -> None:
    """Raise `ParameterError` unless the named values are finite and fall strictly, in the order given."""
    for parameter, value in values.items():
        check_finite(game, parameter, value)
    for (name, higher), (next_name, lower) in itertools.pairwise(values.items()):
        if not higher > lower:
            raise ParameterError(
                game, name, f"is {higher:g}, and must be greater than {next_name} ({lower:g})"
            )


State = Any
Observation = Any
"""JSON-ready data: numbers, texts, lists and dictionaries."""


@dataclass(frozen=True)
class StateGame:
    """A game that is played in rounds on a state: every seat observes, all move at once, the state changes.

    The functions are pure: what is drawn is drawn from the tape that they are handed, and states are never changed in
    place. `start(tape)` is the first state; `observe(state, seat)` what a seat sees; `step(state, joint, tape)` the
    next state and what each seat is paid for the round; `over(state)` whether there is another round. `most_rounds`
    bounds a match, and `worst[seat]` what a seat can be paid for a round.
    """

    name: str
    moves: tuple[tuple[Move, ...], ...]
    start: Callable[[Tape], State]
    observe: Callable[[State, int], Observation]
    step: Callable[[State, Joint, Tape], tuple[State, Payoffs]]
    over: Callable[[State], bool]
    most_rounds: int
    worst: Payoffs
    kind: str = "general-sum"
    symmetric: bool = True
    parameters: Mapping[str, object] = field(default_factory=dict)
    file: str = ""
    """Where the game was loaded from: workers load it too."""
    cells: None = None

    @property
    def seats(self) -> int:
        """How many places there are at the table."""
        return len(self.moves)

    @property
    def digest(self) -> str:
        """A digest of the moves; what else makes it this game is its parameters."""
        return tape_name(self.moves, self.most_rounds, self.worst)

    def episode(
        self, tape: Tape, joints: Iterable[Joint]
    ) -> Iterator[tuple[State, Payoffs | None]]:
        """The first state, then after each joint move the next one with what the seats were paid."""
        state = self.start(tape)
        yield state, None
        for joint in joints:
            state, paid = self.step(state, joint, tape)
            yield state, paid


Game = MatrixGame | StateGame


@dataclass(frozen=True)
class Repetition:
    """How often a match repeats its game, and how.

    `rounds` is a number the bots know; `continuation` instead is the probability of one more round after each,
    and the horizon is then hidden from the bots. Payoffs of round r (from 0) count `discount**r`. With
    probability `noise` a move is replaced by another legal one; bots see what was played.
    """

    rounds: int | None = 1
    continuation: float | None = None
    discount: float = 1.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        if (self.rounds is None) == (self.continuation is None):
            raise ParameterError("repetition", "rounds", "and continuation exclude each other")
        if self.rounds is not None:
            check_whole("repetition", "rounds", self.rounds, 1, MOST_ROUNDS)
        if self.continuation is not None:
            self._check("continuation", self.continuation, below_one=True)
        self._check("discount", self.discount)
        self._check("noise", self.noise)

    @staticmethod
    def _check(name: str, value: float, *, below_one: bool = False) -> None:
        check_finite("repetition", name, value)
        if not 0 <= value <= 1 or (below_one and value == 1):
            ends = "from 0 to below 1" if below_one else "from 0 to 1"
            raise ParameterError("repetition", name, f"is {value:g}, and must be {ends}")

    @property
    def one_shot(self) -> bool:
        """Whether every match is a single round that the bots know to be the last."""
        return self.rounds == 1

    def horizon(self, tape: Tape) -> int:
        """How many rounds a match has; drawn from the tape where the horizon is hidden."""
        if self.continuation is None:
            assert self.rounds is not None
            return self.rounds
        rounds = 1
        while rounds < MOST_ROUNDS and tape.random() < self.continuation:
            rounds += 1
        return rounds


@dataclass(frozen=True)
class Setting:
    """A game as it is played: its payoffs and parameters, and its repetition."""

    game: Game
    repetition: Repetition = Repetition()

    def __post_init__(self) -> None:
        if isinstance(self.game, StateGame) and self.repetition != Repetition():
            raise ParameterError(
                self.game.name,
                "rounds",
                "cannot be set: a match is one episode, as long as the game says",
            )

    @cached_property
    def config(self) -> dict[str, object]:
        """Everything that the outcome of a match depends on, as JSON-ready data."""
        return {
            "game": self.game.name,
            "digest": self.game.digest,
            "episodic": isinstance(self.game, StateGame),
            "parameters": dict(self.game.parameters),
            "repetition": {k: plain(value) for k, value in asdict(self.repetition).items()},
        }

    @cached_property
    def key(self) -> str:
        """A digest of `config`: the same for the same game with the same values, for ever."""
        return tape_name(json.dumps(self.config, sort_keys=True, separators=(",", ":")))

    @property
    def kinds(self) -> frozenset[str]:
        """The words by which a bot's `Plays:` header may ask for this setting."""
        times = "one-shot" if self.repetition.one_shot else "repeated"
        if isinstance(self.game, StateGame):
            times = "episodic"
        seats = "two-seat" if self.game.seats == 2 else "many-seat"
        return frozenset({times, seats, self.game.kind})
