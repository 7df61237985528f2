"""The host's part of `simulate`: runs programs because other programs ask for it.

A simulated call is paid with the caller's fuel and runs in an instance of the simulated program. It goes through the
same guest code as a real move, so the program cannot tell the difference. Its private tape is a fork of the caller's,
and the caller chooses the public coin.

If a program asks for exactly a call that is already in progress, the answer is TIMEOUT at once. An answer is kept for
the rest of the top-level call in which it was given, unless it depends on a TIMEOUT; if it depends on a private tape,
it is kept for that tape only. In fast play an answer is also reused in other matches of the batch, if that makes no
difference to them (see `memory.py`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

from tournament.sandbox.call import NOTHING, OWN, TAPE, Frame, Key, Top, Trace, digest_of
from tournament.sandbox.instance import Ended, Host, Image, Instance
from tournament.sandbox.limits import Limits
from tournament.sandbox.memory import Memory, Simulated
from tournament.sandbox.proof import History, Pair, Run
from tournament.sandbox.request import Named, Request
from tournament.sandbox.runner import AGAIN, DEEP, TIMEOUT, Call, Runner
from tournament.sandbox.statement import IsProvable, Statement
from tournament.seeds import tape_name

FEE = 100_000
"""Fuel charged for every simulated move, besides what the simulated program uses."""
MOST_DEPTH, MOST_PROOF_DEPTH = 300, 50
"""The deepest nesting of simulations, in play and in a proof.

Beyond this depth all simulations in progress end, because only a real move may learn how deep the nesting is.
"""


class Simulator:
    """Runs simulations for the programs of a game. `top` is the top-level call in progress.

    `programs` has their sources by digest, and `host` answers the requests of simulated programs.
    """

    def __init__(
        self,
        image: Image,
        game: dict[str, Any],
        programs: dict[str, str],
        limits: Limits,
        host: Host,
        memory: Memory | None,
    ) -> None:
        self._image = image
        self._moves: list[list[Any]] = game["moves"]
        self._programs = programs
        self._host = host
        self._runner = Runner(image, game, limits)
        self._memory = memory
        self.seats = len(self._moves)
        self.top = Top([])

    @contextmanager
    def within(self, top: Top) -> Iterator[Top]:
        """Make `top` the top-level call for the duration of the block; then restore the one before it."""
        outside, self.top = self.top, top
        try:
            yield top
        finally:
            self.top = outside

    def source(self, digest: str) -> str:
        """Return the source of a program, also of one whose source a bot has written."""
        sources = self.top.written if digest in self.top.written else self._programs
        return sources[digest]

    def simulate(self, caller: Instance, request: Request) -> str:
        """Return the code of the simulated move, or for several rounds the joint moves' codes separated by spaces.

        If the simulation failed, return TIMEOUT, ERROR or ILLEGAL. Raises `LookupError` for an unknown program, and
        `Ended` if the calls in progress must end too.
        """
        lineup = tuple(map(self._digest, request.programs))
        history = request.history
        coin = OWN if request.shared == (self.top.coin, 0) else request.shared
        if request.rounds is None:
            return self._move(caller, (lineup, request.seat, history, coin), request)
        for _ in range(request.rounds):
            joint = ""
            for seat in range(self.seats):
                move = self._move(caller, (lineup, seat, history, coin), request)
                if len(move) > 1:
                    return move
                joint += move
            history = (*history, joint)
        return " ".join(history[len(request.history) :])

    def run_at_world(self, pair: Pair, history: History, is_provable: IsProvable, fuel: int) -> Run:
        """Run the first program of a pair at a world of a proof, where `is_provable` answers what it asks `proves`."""
        program, against, seat = pair
        lineup = (program, against) if seat == 0 else (against, program)
        # The public coin needs no name here, since a program that reads it has no provable move.
        frame = Frame((lineup, seat, history, OWN), tape_name("proof", *pair))
        asked: list[tuple[Statement, bool]] = []

        def answer(statement: Statement) -> bool:
            asked.append((statement, is_provable(statement)))
            return asked[-1][1]

        top = Top([], written=self.top.written, is_provable=answer, about=history)
        with self.within(top):
            code, price = self.run(frame, fuel, last_round_only=self._is_stateless(program))
        proved = len(code) == 1 and not top.unprovable and not top.drew
        return Run(asked, str(self._moves[seat][ord(code) - 48]) if proved else None, price)

    def run(self, frame: Frame, fuel: int, *, last_round_only: bool = False) -> tuple[str, int]:
        """Run a call to its end; return the code of the move or a failure, and the price, which is at most `fuel`.

        The program makes a move in every round of the history before the last move. With `last_round_only`, it is only
        shown these rounds and makes the last move alone. Raises `Ended` if the calls in progress must end too.
        """
        top = self.top
        if len(top.stack) > (MOST_PROOF_DEPTH if top.is_provable else MOST_DEPTH):
            top.unprovable = True
            raise Ended(DEEP, "nests too deep")
        fresh = top.fresh or top.is_provable is not None
        top.stack.append(frame)
        try:
            call = self._call(frame, last_round_only)
            result = self._runner.run(call, fuel, self._host, fresh=fresh, final=frame.final)
        finally:
            top.stack.pop()
        frame.drew |= result.read == TAPE
        # What the guest reports is only believed of a stateless program, since another program could falsify it.
        believed = result.read if self._is_stateless(call.digest) else None
        top.note_reading(result.read != NOTHING, TAPE if believed is None else believed)
        return result.code(len(self._moves[frame.key[1]])), result.price

    def _digest(self, program: Named) -> str:
        """Return the digest of a program. Raises `LookupError` for a digest outside the asking program's lineup."""
        kind, name = program
        if kind == "text":
            digest = digest_of(name)
            self.top.written[digest] = name
            return digest
        if name not in self.top.stack[-1].key[0]:
            raise LookupError(name)
        return name

    def _move(self, caller: Instance, key: Key, request: Request) -> str:
        """Return the code of a simulated move, or a failure. The price is charged to the caller."""
        caller.charge(FEE)
        if not caller.fuel:
            return TIMEOUT
        above = self.top.stack[-1]
        lineup, seat, _, _ = key
        tape = tape_name(above.tape, "fork", *lineup, seat, *request.shared, request.sample)
        if (known := self._known(key, tape, above)) is not None:
            return known
        if self._in_progress(key):
            above.timed_out = True
            return TIMEOUT
        fuel = caller.fuel if request.fuel is None else min(caller.fuel, request.fuel)
        if len(self.top.stack) > 1:
            return self._simulated(caller, key, tape, fuel).answer
        return self._for_move(caller, key, tape, fuel)

    def _known(self, key: Key, tape: str, above: Frame) -> str | None:
        """Return the answer to a call if this move already knows it, for any private tape or for this one."""
        tapeless = self.top.recall((key, ""))
        if tapeless is not None:
            return tapeless
        drawn = self.top.recall((key, tape))
        above.drew |= drawn is not None
        return drawn

    def _in_progress(self, key: Key) -> bool:
        """Whether exactly this call is in progress, and neither it nor a later call has read its private tape.

        After a private tape has been read, the same call may go another way, so the recursion can come to an end.
        """
        recent = takewhile(lambda frame: not frame.drew, reversed(self.top.stack))
        return any(frame.key == key for frame in recent)

    def _for_move(self, caller: Instance, key: Key, tape: str, fuel: int) -> str:
        """Return the answer to a call that the real move itself asks for; the batch's memory may already have it."""
        top = self.top
        memory = None if top.is_provable else self._memory
        if memory and (known := memory.find(key, tape, fuel, top)):
            top.add(known.trace)
            top.stack[-1].drew |= known.frame.drew
            caller.charge(known.price)
            return known.answer
        top.trace = Trace()
        simulated = self._simulated(caller, key, tape, fuel)
        if memory and simulated.trace.shareable and not simulated.frame.timed_out:
            memory.keep(key, tape, top, simulated)
        top.trace = Trace()
        return simulated.answer

    def _simulated(self, caller: Instance, key: Key, tape: str, fuel: int) -> Simulated:
        """Run a call at the caller's expense; keep its answer for the rest of the move if it depends on no TIMEOUT.

        If a used instance proves unreliable (`AGAIN`), the outermost simulation is made again with fresh instances.
        """
        top, above = self.top, self.top.stack[-1]
        frame = Frame(key, tape, final=above.final and fuel == caller.fuel)
        try:
            answer, price = self.run(frame, fuel)
        except Ended as ended:
            if len(top.stack) > 1:
                caller.charge(ended.fuel_used)
                raise
            if ended.kind == AGAIN:
                top.forget()
                top.fresh = True
                return self._simulated(caller, key, tape, fuel)
            answer, price = TIMEOUT, ended.fuel_used
        caller.charge(price)
        frame.timed_out |= answer == TIMEOUT
        above.drew |= frame.drew
        above.timed_out |= frame.timed_out
        if not frame.timed_out:
            top.learn((key, tape if frame.drew else ""), answer)
        return Simulated(answer, price, frame, top.trace)

    def _is_stateless(self, digest: str) -> bool:
        """Whether a program keeps nothing between its moves, judging by its source."""
        return self._image.stateless(self.source(digest))

    def _call(self, frame: Frame, last_round_only: bool) -> Call:
        """Return the call of a frame; each line has a round's joint move, from the program's own seat on."""
        lineup, seat, history, coin = frame.key
        shared = (self.top.coin, 0) if coin == OWN else coin
        lines = ["", *(joint[seat:] + joint[:seat] for joint in history)]
        setup: dict[str, Any] = {"matches": [[seat, lineup, frame.tape, shared]]}
        if last_round_only:
            setup["shown"], lines = lines[1:], [""]
        return Call(lineup[seat], self.source(lineup[seat]), setup, "\n".join(lines))
