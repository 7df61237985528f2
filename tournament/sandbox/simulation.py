"""The host's part of `simulate`: runs programs because other programs ask for it.

A simulated call is paid with the caller's fuel and runs in an instance of the simulated program. It goes through the
same guest code as a real move, so the program cannot tell the difference. Its private tape is a fork of the caller's,
and the caller chooses the public coin.

If a program asks for exactly a call that is already in progress, the answer is TIMEOUT at once. An answer is kept for
the rest of the top-level call in which it was given, unless it depends on a TIMEOUT; if it depends on a private tape,
it is kept for that tape only. In fast play an answer is also reused in other matches of the batch, if that makes no
difference to them (see `memory.py`).
"""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tournament.sandbox.call import (
    COIN,
    NOTHING,
    OWN,
    TAPE,
    Frame,
    Key,
    Programs,
    Top,
    Trace,
    digest_of,
)
from tournament.sandbox.instance import Ended, Host, Image, Instance
from tournament.sandbox.limits import Limits
from tournament.sandbox.memory import Memory, Simulated
from tournament.sandbox.request import Named, Request
from tournament.sandbox.runner import (
    AGAIN,
    DEEP,
    ILLEGALLY,
    PRIVATELY,
    PUBLICLY,
    TAPELESS,
    Call,
    Done,
    Runner,
)
from tournament.seeds import tape_name

FEE = 100_000
"""Fuel charged for every simulated move, besides what the simulated program uses."""
MOST_DEPTH, MOST_PROOF_DEPTH = 300, 50
"""The deepest nesting of simulations, in play and in a proof.

Beyond this depth all simulations in progress end, because only a real move may learn how deep the nesting is.
"""
TIMEOUT, ERROR, ILLEGAL = "TIMEOUT", "ERROR", "ILLEGAL"


class Simulator:
    """Runs simulations for the programs of a game. `top` is the top-level call in progress."""

    def __init__(
        self,
        image: Image,
        game: dict[str, Any],
        programs: Programs,
        limits: Limits,
        host: Host,
        memory: Memory | None,
    ) -> None:
        # A strong reference would be a cycle, which would keep the instances alive until the next garbage collection.
        self._asked = weakref.WeakMethod(host)
        self._image = image
        self._game = game
        self._programs = programs
        self._runner = Runner(image, game, limits)
        self._memory = memory
        self.top = Top([])

    def _host(self, caller: Instance, text: str) -> str:
        host = self._asked()
        assert host is not None
        return host(caller, text)

    @property
    def seats(self) -> int:
        """The number of seats of the game."""
        return len(self._game["moves"])

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
        made = self.top.made
        return made[digest] if digest in made else self._programs.source(digest)

    def plain(self, digest: str) -> bool:
        """Whether a program is stateless (keeps nothing between its moves), judging by its source."""
        return self._image.stateless(self.source(digest))

    def told(self, move: str, seat: int) -> str | None:
        """Return the move with this code as it is written in statements; None if `move` is a failure."""
        return str(self._game["moves"][seat][ord(move) - 48]) if len(move) == 1 else None

    def simulate(self, caller: Instance, request: Request) -> str:
        """Return the code of the simulated move, or for several rounds the joint moves' codes separated by spaces.

        If the simulation failed, return TIMEOUT, ERROR or ILLEGAL. Raises `LookupError` for an unknown program, and
        `Ended` if the calls in progress must end too.
        """
        lineup = tuple(map(self._named, request.programs))
        if request.rounds is None:
            return self._move(caller, lineup, request.seat, request.history, request)
        return self._played_out(caller, lineup, request, request.rounds)

    def _named(self, program: Named) -> str:
        """Return the digest of a program. Raises `LookupError` for a digest outside the asking program's lineup."""
        kind, name = program
        if kind == "text":
            digest = digest_of(name)
            self.top.made[digest] = name
            return digest
        if name not in self.top.stack[-1].key[0]:
            raise LookupError(name)
        return name

    def _played_out(
        self, caller: Instance, lineup: tuple[str, ...], request: Request, rounds: int
    ) -> str:
        """Simulate every seat for some rounds; return the joint moves' codes, or the first failure."""
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
        """Return the code of a simulated move, or a failure. The price is charged to the caller."""
        caller.charge(FEE)
        if not caller.fuel:
            return TIMEOUT
        above = self.top.stack[-1]
        coin = OWN if request.shared == (self.top.coin, 0) else request.shared
        key = (lineup, seat, history, coin)
        tape = tape_name(above.tape, "fork", *lineup, seat, *request.shared, request.sample)
        if (known := self._known(key, tape, above)) is not None:
            return known
        if self._in_progress(key):
            above.late = True
            return TIMEOUT
        fuel = caller.fuel if request.fuel is None else min(caller.fuel, request.fuel)
        if len(self.top.stack) > 1:
            return self._made(caller, key, tape, fuel).answer
        return self._for_move(caller, key, tape, fuel)

    def _for_move(self, caller: Instance, key: Key, tape: str, fuel: int) -> str:
        """Return the answer to a call that the real move itself asks for; the batch's memory may already have it."""
        top = self.top
        memory = self._memory if top.ask is None else None
        known = memory.find(key, tape, fuel, top) if memory else None
        if known:
            top.take(known.trace)
            top.stack[-1].drew |= known.frame.drew
            caller.charge(known.price)
            return known.answer
        top.trace = Trace()
        made = self._made(caller, key, tape, fuel)
        if memory and not (made.frame.late or made.trace.own):
            memory.keep(key, tape, top, made)
        top.trace = Trace()
        return made.answer

    def _made(self, caller: Instance, key: Key, tape: str, fuel: int) -> Simulated:
        """Run a call at the caller's expense; keep its answer for the rest of the move if it depends on no TIMEOUT."""
        top, above = self.top, self.top.stack[-1]
        frame, answer, price = self._paid(caller, key, tape, fuel)
        above.drew |= frame.drew
        above.late |= frame.late
        if not frame.late:
            top.learn((key, tape if frame.drew else ""), answer)
        return Simulated(answer, price, frame, top.trace)

    def _paid(self, caller: Instance, key: Key, tape: str, fuel: int) -> tuple[Frame, str, int]:
        """Run a call and charge its price to the caller; return its frame, its answer and its price.

        If a used instance proves unreliable (`AGAIN`), the outermost simulation is made again with fresh instances.
        """
        top = self.top
        frame = Frame(key, tape, final=top.stack[-1].final and fuel == caller.fuel)
        try:
            move, price = self.run(frame, fuel)
        except Ended as ended:
            if len(top.stack) > 1:
                caller.charge(ended.fuel_used)
                raise
            if ended.kind == AGAIN:
                top.forget()
                top.fresh = True
                return self._paid(caller, key, tape, fuel)
            move, price = TIMEOUT, ended.fuel_used
        caller.charge(price)
        frame.late |= move == TIMEOUT
        return frame, move, price

    def _known(self, key: Key, tape: str, above: Frame) -> str | None:
        """Return the answer to a call if this move already knows it, for any private tape or for this one."""
        pure = self.top.recall((key, ""))
        if pure is not None:
            return pure
        drawn = self.top.recall((key, tape))
        above.drew |= drawn is not None
        return drawn

    def _in_progress(self, key: Key) -> bool:
        """Whether exactly this call is in progress, and neither it nor a later call has read its private tape.

        After a private tape has been read, the same call may go another way, so the recursion can come to an end.
        """
        for frame in reversed(self.top.stack):
            if frame.drew:
                return False
            if frame.key == key:
                return True
        return False

    def run(self, frame: Frame, fuel: int, *, once: bool = False) -> tuple[str, int]:
        """Run a call to its end; return the code of the move or a failure, and the price, which is at most `fuel`.

        The program first makes a move in every round of the history; with `once`, it is only shown these rounds and
        makes the last move alone. Raises `Ended` if the calls in progress must end too.
        """
        top = self.top
        if len(top.stack) > (MOST_DEPTH if top.ask is None else MOST_PROOF_DEPTH):
            top.void = True
            raise Ended(DEEP, "nests too deep")
        fresh = top.fresh or top.ask is not None
        top.stack.append(frame)
        try:
            call = self._call(frame, once)
            done = self._runner.run(call, fuel, self._host, fresh=fresh, final=frame.final)
        finally:
            top.stack.pop()
        frame.drew |= done.looked in PRIVATELY
        top.look(done.looked not in TAPELESS, self._tie(frame, done.looked))
        return self._result(done, frame.key[1]), done.price

    def _tie(self, frame: Frame, looked: str) -> int:
        """Return what a program may have read: `NOTHING`, `COIN` or `TAPE`.

        What the guest reports is only believed of a stateless program, since another program could falsify it.
        """
        believed = self.plain(frame.key[0][frame.key[1]])
        if believed and looked in TAPELESS:
            return NOTHING
        return COIN if believed and looked in PUBLICLY else TAPE

    def _call(self, frame: Frame, once: bool) -> Call:
        """Return the call of a frame; each line has a round's joint move, from the program's own seat on."""
        lineup, seat, history, coin = frame.key
        shared = (self.top.coin, 0) if coin == OWN else coin
        lines = ["", *(joint[seat:] + joint[:seat] for joint in history)]
        setup: dict[str, Any] = {"matches": [[seat, lineup, frame.tape, shared]]}
        if once:
            setup["shown"], lines = lines[1:], [""]
        return Call(lineup[seat], self.source(lineup[seat]), setup, "\n".join(lines))

    def _result(self, done: Done, seat: int) -> str:
        """Return the code of the last move, or the failure that stands for a fault in any round up to it."""
        if done.ended:
            return TIMEOUT if done.ended == "fuel" else ERROR
        answers = done.answer.split("\n")
        if faulty := next((each for each in answers if len(each) != 1), None):
            return ILLEGAL if ILLEGALLY in faulty else ERROR
        known = 0 <= ord(answers[-1]) - 48 < len(self._game["moves"][seat])
        return answers[-1] if known else ERROR
