"""The definition of a game: its seats, moves and payoffs, and how often a match repeats it.

A game file (`games/NAME.py`) has one function `game(**parameters)` that returns a `MatrixGame` or a `StateGame`. The
function's signature lists the parameters with their defaults. Game files import what they need from this module.
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
Parameters = Mapping[str, object]
Joint = tuple[int, ...]
"""One move index for every seat, in seat order."""
Payoffs = tuple[float, ...]
"""One payoff for every seat, in seat order."""

FIRST_CODE = 48
MOST_MOVES = 78
MOST_CELLS = 4096
MOST_ROUNDS = 100_000
LARGEST = 1e12
"""Payoffs and parameters must lie between -1e12 and 1e12, so that sums of them stay finite."""


def code(index: int) -> str:
    """Return the character that stands for the move with this index in recorded play ("0", "1", ...)."""
    return chr(FIRST_CODE + index)


def index(character: str) -> int:
    """Return the move index that a character of recorded play stands for."""
    return ord(character) - FIRST_CODE


@dataclass(frozen=True)
class MatrixGame:
    """A game in normal form: all seats move once, at the same time, and each gets a payoff.

    `moves[seat]` are the legal moves of a seat. `payoff` maps a joint move to the payoffs by seat. `worst[seat]` is the
    lowest payoff of the seat in a round; a bot at fault gets it for every remaining round.
    """

    name: str
    moves: tuple[tuple[Move, ...], ...]
    payoff: Callable[[Joint], Payoffs]
    worst: Payoffs
    parameters: Parameters = field(default_factory=dict)

    def __post_init__(self) -> None:
        if max(len(legal) for legal in self.moves) > MOST_MOVES:
            raise ParameterError(self.name, "moves", f"are more than {MOST_MOVES} for a seat")
        parameters = {name: plain(value) for name, value in self.parameters.items()}
        object.__setattr__(self, "parameters", parameters)

    @property
    def seats(self) -> int:
        """The number of seats."""
        return len(self.moves)

    @cached_property
    def cells(self) -> dict[Joint, Payoffs] | None:
        """The payoffs of every joint move, or None if there are more than 4,096 joint moves."""
        if math.prod(len(legal) for legal in self.moves) > MOST_CELLS:
            return None
        joints = itertools.product(*(range(len(legal)) for legal in self.moves))
        return {joint: self.payoff(joint) for joint in joints}

    @cached_property
    def digest(self) -> str:
        """A digest of the moves and payoffs, which identifies the game regardless of its name.

        The payoffs are left out if `cells` is None.
        """
        cells = sorted((self.cells or {}).items())
        return tape_name(self.moves, [(joint, [*map(float, paid)]) for joint, paid in cells])

    @cached_property
    def symmetric(self) -> bool:
        """Whether all seats have the same moves, and exchanging two seats exchanges their payoffs.

        A game whose `cells` are None is assumed to be symmetric if all its seats have the same moves.
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
        """`zero-sum`, `common-payoff` or `general-sum`. A game whose `cells` are None counts as `general-sum`."""
        paid = list((self.cells or {}).values())
        if paid and all(len(set(payoffs)) == 1 for payoffs in paid):
            return "common-payoff"
        if paid and all(abs(math.fsum(payoffs)) < 1e-12 for payoffs in paid):
            return "zero-sum"
        return "general-sum"


def _exchanged(values: tuple[T, ...], seat: int) -> tuple[T, ...]:
    """Return the values by seat, with the value of `seat` and the value of the seat before it exchanged."""
    return (*values[: seat - 1], values[seat], values[seat - 1], *values[seat + 1 :])


def table_game(
    name: str, moves: Sequence[Move], rows: Sequence[Sequence[Payoffs]], parameters: Parameters
) -> MatrixGame:
    """Return a two-seat game: `rows[i][j]` are both payoffs if seat 0 plays move i and seat 1 plays move j.

    Raises `ParameterError` for a payoff that is not a finite number or is out of range.
    """
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
    name: str, moves: Sequence[Move], matrix: Sequence[Sequence[float]], parameters: Parameters
) -> MatrixGame:
    """Return a symmetric two-seat game: `matrix[own][other]` is a seat's payoff for its own and the other move."""
    span = range(len(moves))
    rows = [[(matrix[own][other], matrix[other][own]) for other in span] for own in span]
    return table_game(name, moves, rows, parameters)


def common_payoff_game(
    name: str, moves: Sequence[Move], matrix: Sequence[Sequence[float]], parameters: Parameters
) -> MatrixGame:
    """Return a two-seat game in which both seats get the same payoff, `matrix[i][j]` for moves i and j."""
    rows = [[(value, value) for value in row] for row in matrix]
    return table_game(name, moves, rows, parameters)


def plain(value: object) -> object:
    """Return the value, with a whole float such as 3.0 turned into an int.

    Equal numbers then look the same to bots and in the keys of runs.
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value


def check_finite(game: str, parameter: str, value: object) -> None:
    """Raise `ParameterError` unless `value` is a number from -1e12 to 1e12."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ParameterError(game, parameter, f"is {value!r}, but must be a number")
    if not -LARGEST <= value <= LARGEST:
        problem = f"is {value!r}, but must be from {-LARGEST:g} to {LARGEST:g}"
        raise ParameterError(game, parameter, problem)


def check_whole(game: str, parameter: str, value: object, least: int, most: int) -> None:
    """Raise `ParameterError` unless `value` is an `int` from `least` to `most`."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return
    problem = f"is {value!r}, but must be a whole number from {least:,} to {most:,}"
    raise ParameterError(game, parameter, problem)


def check_order(game: str, values: Mapping[str, float]) -> None:
    """Raise `ParameterError` unless the values are finite and each is greater than the next, in the order given."""
    for parameter, value in values.items():
        check_finite(game, parameter, value)
    for (name, higher), (next_name, lower) in itertools.pairwise(values.items()):
        if not higher > lower:
            problem = f"is {higher:g}, but must be greater than {next_name} ({lower:g})"
            raise ParameterError(game, name, problem)


State = Any
Observation = Any
"""JSON-ready data: numbers, texts, lists and dictionaries."""


@dataclass(frozen=True)
class StateGame:
    """A game with a state: in each round every seat observes the state, all seats move at once, and the state changes.

    The functions are pure: random draws come from the tape they are given, and they never change a state in place.
    `start(tape)` returns the first state, `observe(state, seat)` what a seat sees, `step(state, joint, tape)` the next
    state and the payoffs of the round, and `over(state)` whether the match has ended. `most_rounds` is the largest
    number of rounds of a match, and `worst[seat]` is the lowest payoff of a seat in a round.
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
    parameters: Parameters = field(default_factory=dict)
    file: str = ""
    """The path of the game's file. Workers need it because they load the game themselves."""
    cells: None = None

    @property
    def seats(self) -> int:
        """The number of seats."""
        return len(self.moves)

    @property
    def digest(self) -> str:
        """A digest of the moves, the largest number of rounds and the worst payoffs.

        It does not cover the functions. The parameters also tell games apart and are stored beside it.
        """
        return tape_name(self.moves, self.most_rounds, self.worst)

    def episode(
        self, tape: Tape, joints: Iterable[Joint]
    ) -> Iterator[tuple[State, Payoffs | None]]:
        """Yield the first state with None, then for each joint move the next state with the payoffs of that round."""
        state = self.start(tape)
        yield state, None
        for joint in joints:
            state, paid = self.step(state, joint, tape)
            yield state, paid


Game = MatrixGame | StateGame


@dataclass(frozen=True)
class Repetition:
    """How many rounds a match has, and how its rounds are played and paid.

    Exactly one of `rounds` and `continuation` is set. `rounds` is a number that the bots know. `continuation` is the
    probability of another round after each round, and the bots then do not know the horizon. The payoffs of round r
    (from 0) are multiplied by `discount**r`. Each move is replaced by another legal move with probability `noise`, and
    bots see the moves that were played in the end.
    Raises `ParameterError` for values out of range.
    """

    rounds: int | None = 1
    continuation: float | None = None
    discount: float = 1.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        if (self.rounds is None) == (self.continuation is None):
            problem = "or continuation must be set, but not both"
            raise ParameterError("repetition", "rounds", problem)
        if self.rounds is not None:
            check_whole("repetition", "rounds", self.rounds, 1, MOST_ROUNDS)
        if self.continuation is not None:
            self._check("continuation", self.continuation, below_one=True)
        self._check("discount", self.discount)
        self._check("noise", self.noise)

    @staticmethod
    def _check(name: str, value: float, *, below_one: bool = False) -> None:
        """Raise `ParameterError` unless the value is a probability."""
        check_finite("repetition", name, value)
        if not 0 <= value <= 1 or (below_one and value == 1):
            ends = "from 0 to below 1" if below_one else "from 0 to 1"
            raise ParameterError("repetition", name, f"is {value:g}, but must be {ends}")

    @property
    def one_shot(self) -> bool:
        """Whether every match is a single round that the bots know to be the last."""
        return self.rounds == 1

    def horizon(self, tape: Tape) -> int:
        """Return the number of rounds of a match. It is drawn from the tape if a continuation probability is set."""
        if self.continuation is None:
            assert self.rounds is not None
            return self.rounds
        rounds = 1
        while rounds < MOST_ROUNDS and tape.random() < self.continuation:
            rounds += 1
        return rounds


@dataclass(frozen=True)
class Setting:
    """A game together with how a match repeats it.

    Raises `ParameterError` for a `StateGame` with a repetition, since such a game decides itself when a match ends.
    """

    game: Game
    repetition: Repetition = Repetition()

    def __post_init__(self) -> None:
        if isinstance(self.game, StateGame) and self.repetition != Repetition():
            problem = "cannot be set: a match of this game is one episode, and the game ends it"
            raise ParameterError(self.game.name, "rounds", problem)

    @cached_property
    def config(self) -> dict[str, object]:
        """The game, its parameters and its repetition as JSON-ready data. It identifies the setting in the record."""
        return {
            "game": self.game.name,
            "digest": self.game.digest,
            "episodic": isinstance(self.game, StateGame),
            "parameters": dict(self.game.parameters),
            "repetition": {k: plain(value) for k, value in asdict(self.repetition).items()},
        }

    @cached_property
    def key(self) -> str:
        """A digest of `config`. It never changes for the same game with the same values."""
        return tape_name(json.dumps(self.config, sort_keys=True, separators=(",", ":")))

    @property
    def _play(self) -> str:
        """`one-shot`, `repeated` or `episodic`."""
        if isinstance(self.game, StateGame):
            return "episodic"
        return "one-shot" if self.repetition.one_shot else "repeated"

    @property
    def kinds(self) -> frozenset[str]:
        """The words by which a bot's `Plays:` header may ask for this setting."""
        seats = "two-seat" if self.game.seats == 2 else "many-seat"
        return frozenset({self._play, seats, self.game.kind})

    @property
    def length(self) -> str:
        """How long a match is, in words for users."""
        if self.repetition.continuation is not None:
            return f"continued with probability {self.repetition.continuation:g}"
        return f"{self.repetition.rounds} rounds" if self._play == "repeated" else self._play
