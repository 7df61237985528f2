"""Plays some of a batch's players, all of one program, in one instance."""

import json
from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tournament.engine.batch import ANYTHING, MOST_TEXT, Batch
from tournament.game import code
from tournament.sandbox.instance import Ended, Image, Instance
from tournament.sandbox.powers import Place, Powers

FAULTY = "!"
"""Stands in an answer for the move of a player that broke a rule."""
KINDS = ("load", "error", "illegal", "memory")
"""Kinds of fault that the guest can report in an answer; a fault of another kind ends the instance."""
UNSEEN = "-"
"""The line that shows the players nothing of what the others moved in the round before."""
PEEK = "unseen"
"""The request of a guest whose program reads the opponents' moves although these were not shown to it."""
FLAGS = frozenset(map(str, range(ANYTHING + 1)))
"""The characters by which a guest reports what a program has read (see `ANYTHING`)."""
MOST_FAULTS = 1 << 20
"""The most characters of faults that are accepted in the answer to a line, because a bot may have written them."""

Players = npt.NDArray[np.int64]
"""Numbers of players."""
Answer = tuple[str, dict[int, list[str]]]
"""The answer to a line: the codes of the moves, and the faults by position in the group."""


class Group:
    """Players of one program that share an instance and move in lockstep. Before it can play, it is loaded.

    `players` are their numbers. `seen` are the players whose moves they are shown: themselves, then those in the next
    seats of their matches, and so on through all seats. If the group is `alone`, it has one player, and each call asks
    for one move, as in strict play: what ends the instance is then a fault of the player. If it is `blind`, its program
    does not seem to read the opponents' moves, so it may be asked for moves of later rounds: these are `ready`, each
    with the players that it is for.
    """

    def __init__(
        self,
        batch: Batch,
        program: int,
        players: Sequence[int],
        *,
        alone: bool = False,
        blind: bool = False,
    ) -> None:
        self.program = program
        self.alone = alone
        self.blind = blind
        self.ready: deque[tuple[Players, Answer]] = deque()
        self.fuel_used = self.fuel_per_line = 0
        self._batch = batch
        self._instance: Instance | None = None
        self._keep(np.array(players))
        self._legal = ["".join(map(code, range(len(moves)))) for moves in batch.facts["moves"]]
        self._common = self._legal[0] + "\n" if len(set(self._legal)) == 1 else ""

    def _keep(self, players: Players) -> None:
        seats = self._batch.seats
        self.players = players
        self.seen = np.concatenate(
            [players - players % seats + (players + turn) % seats for turn in range(seats)]
        )

    @property
    def loaded(self) -> bool:
        """Whether the group has an instance."""
        return self._instance is not None

    def load(self, image: Image, powers: Powers) -> None:
        """Make the group's instance, whose requests `powers` answers. Raises `Ended`."""
        self._powers = powers
        self._places = [self._place(player) for player in self.players.tolist()]
        matches = [
            [place.seat, place.lineup, place.private, [place.shared, 0]] for place in self._places
        ]
        setup = {"game": self._batch.facts, "matches": matches}
        source = self._batch.programs[self.program][1]
        try:
            self._instance = image.instance(source, setup, self._batch.limits)
            self.fuel_used += self._instance.fuel_used
        except Ended as ended:
            self.fuel_used += ended.fuel_used
            raise

    def _place(self, player: int) -> Place:
        match, seat = divmod(player, self._batch.seats)
        lineup, shared = self._batch.fixtures[match].lineup, self._batch.shared_tapes[match]
        return Place(player, lineup, seat, self._batch.tape(match, "private", seat), shared)

    def play(self, lines: Sequence[str]) -> list[Answer]:
        """Return the answers to these lines (see `bot.wit`). Raises `Ended` if the instance ends.

        It is also raised if the guest reports that one of several matches is out of memory, since that match might
        have enough memory alone.
        """
        assert self._instance is not None
        before = self._instance.fuel_used
        try:
            text = self._instance.play("\n".join(lines), self._host)
        finally:
            self.fuel_used += self._instance.fuel_used - before
        self.fuel_per_line = self._instance.spent // len(lines)
        answers = text.split("\n", len(lines))
        width = len(self.players)
        if not text.strip(self._common) and [*map(len, answers)] == [width] * len(lines):
            return [(codes, {}) for codes in answers]
        try:
            return [self._parsed(answer) for _, answer in zip(lines, answers, strict=True)]
        except (ValueError, RecursionError):
            raise Ended("crash", "broke what it runs in, and answered nonsense") from None

    def _host(self, caller: Instance, request: str) -> str:
        if request == PEEK:
            raise Ended("crash", "read moves that it was not shown")
        return self._powers.answer(caller, self._places, request)

    def _parsed(self, answer: str) -> Answer:
        """Parse the answer to a line. Raises `ValueError` for one that only a manipulated guest can give."""
        codes, _, rest = answer.partition(" ")
        if len(codes) != len(self.players) or len(rest) > MOST_FAULTS:
            raise ValueError("an answer of another length")
        reported = json.loads(rest) if rest else {}
        faulty = {str(n): n for n, character in enumerate(codes) if character == FAULTY}
        if type(reported) is not dict or reported.keys() != faulty.keys() or (rest and not faulty):
            raise ValueError("faults of others than those at fault")
        if not all(map(self._is_legal, self.players.tolist(), codes)):
            raise ValueError("a move that is none")
        faults = {n: _fault(reported[name]) for name, n in faulty.items()}
        if not self.alone and any(kind == "memory" for kind, *_ in faults.values()):
            raise Ended("memory", "ran out of memory")
        return codes, faults

    def _is_legal(self, player: int, character: str) -> bool:
        return character == FAULTY or character in self._legal[player % self._batch.seats]

    def drop(self, positions: Sequence[int]) -> dict[int, int]:
        """Remove the players at these positions; return, by player, what their program has read (see `ANYTHING`).

        If that ends the instance, the group must be loaded again, and what was read is not known.
        """
        assert self._instance is not None
        gone = self.players[positions].tolist()
        self._keep(np.delete(self.players, positions))
        before = self._instance.fuel_used
        try:
            reported = self._instance.drop([*positions])
        except Ended as ended:
            self.fuel_used += ended.fuel_used - before
            self._instance = None
            self.ready.clear()
            return {}
        self.fuel_used += self._instance.fuel_used - before
        return {player: _flags(flags) for player, flags in zip(gone, reported, strict=False)}


def _flags(digit: str) -> int:
    """Return what a guest reports that a program has read, or `ANYTHING` if the report makes no sense."""
    return int(digit) if digit in FLAGS else ANYTHING


def _fault(report: object) -> list[str]:
    """Return a fault from a guest's report: kind, message, traceback, and what was printed.

    Raises `ValueError` if the report has another form.
    """
    if type(report) is not list or len(report) != 4 or report[0] not in KINDS:
        raise ValueError("a fault of no known form")
    if any(type(text) is not str or len(text) > MOST_TEXT for text in report):
        raise ValueError("a fault with something else than a short text")
    # JSON can contain half of a surrogate pair, which cannot be encoded as UTF-8.
    return [text.encode("utf-8", "replace").decode() for text in report]
