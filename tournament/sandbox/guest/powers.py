"""`simulate` and `proves`: what a bot may ask of other programs. The host does the work."""

import json

from seeds import Coin, tape_name


PRIVATELY = 2
"""The flag that notes that a program has read its private tape."""
MOST_STATEMENT = 10_000
MOST_SOURCE = 250_000
MOST_NUMBER = 1 << 53


class Failure:
    """What a simulation came to that brought no move: TIMEOUT, ERROR or ILLEGAL. Unequal to every move."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


_FAILURES = {name: Failure(name) for name in ("TIMEOUT", "ERROR", "ILLEGAL")}


class Powers:
    """What a view can do besides being looked at."""

    __slots__ = ()

    TIMEOUT = _FAILURES["TIMEOUT"]
    ERROR = _FAILURES["ERROR"]
    ILLEGAL = _FAILURES["ILLEGAL"]

    def simulate(
        self, program=None, against=None, *, history=None, shared=None, fuel=None,
        seat=None, rounds=None, sample=0,
    ):  # fmt: skip
        """The move that a program would make, here or in a state described, or a failure.

        `program` and `against` are programs or source texts; by default them, against me. `against` is a list of
        the other seats' programs, from the simulated seat on, where there are more than two. `history` is a list of
        joint moves in seat order, by default that of this match. `shared` is the public coin they shall see: a tape
        (as far as it has been read) or a name for one. `fuel` is the most that may be used. With `rounds`, the joint
        moves of so many more rounds are returned. `sample` tells apart simulations that draw differently.
        """
        seat = self._seat_of(program) if seat is None else seat
        lineup = self._lineup(program, against, seat)
        answer = self._ask(
            "simulate",
            {
                "programs": [_reference(each) for each in lineup],
                "seat": seat,
                "history": self._described(history),
                "shared": self._coin(shared),
                "fuel": None if fuel is None else _whole("fuel", fuel),
                "rounds": None if rounds is None else _whole("rounds", rounds, 100_000),
                "sample": _whole("sample", sample),
            },
        )
        if answer in _FAILURES:
            return _FAILURES[answer]
        joints = [self._moves(joint, seat) for joint in answer.split()]
        return joints[0][0] if rounds is None else joints

    def proves(self, statement, level=0):
        """Whether Peano arithmetic, `level` times told of its own consistency, proves a statement about programs."""
        if type(statement) is not str or len(statement) > MOST_STATEMENT:
            raise ValueError(f"a statement is a str of at most {MOST_STATEMENT} characters")
        level = _whole("level", level)
        answer = self._ask("proves", {"statement": statement, "level": level})
        if answer.startswith("?"):
            raise ValueError(answer[1:])
        return answer == "1"

    def _ask(self, power, request):
        here = self._described(None)
        request |= {"match": self._number, "drew": bool(self.reads & PRIVATELY), "here": here}
        return self._group.host(f"{power} {json.dumps(request)}")

    def _seat_of(self, program):
        """Where a program of this match sits; any other takes the next seat."""
        turns = [turn for turn, each in enumerate((self.me, *self.others)) if each is program]
        return (self.seat + (turns[0] if turns else 1)) % self.game.seats

    def _lineup(self, program, against, seat):
        """Programs in seat order: the simulated one in its seat, the others from there on."""
        seats = self.game.seats
        if type(seat) is not int or not 0 <= seat < seats:
            raise ValueError(f"there is no seat {seat!r}")
        own = dict(enumerate((self.me, *self.others)))
        here = {(self.seat + turn) % seats: each for turn, each in own.items()}
        if against is None:
            # Whoever asks sits where it sits, and against itself where it is the one simulated.
            others = [here[(seat + turn) % seats] for turn in range(1, seats)]
            if seats == 2 and seat == self.seat:
                others = [self.them]
        else:
            others = list(against) if isinstance(against, (list, tuple)) else [against]
        if len(others) != seats - 1:
            raise ValueError(f"against takes {seats - 1} programs")
        cycle = [here[seat] if program is None else program, *others]
        return [cycle[(place - seat) % seats] for place in range(seats)]

    def _described(self, history):
        """Joint moves as strings of codes, in seat order."""
        joints = self.history if history is None else history
        try:
            return [
                "".join([self._group.codes[s][m] for s, m in enumerate(joint)]) for joint in joints
            ]
        except (KeyError, IndexError, TypeError):
            raise ValueError(
                "history is a list of joint moves, each a tuple in seat order"
            ) from None

    def _coin(self, shared):
        if shared is None:
            return list(self._tape)
        if isinstance(shared, Coin):
            return [shared.name, shared.position]
        if isinstance(shared, (str, int)):
            return [tape_name("named by a bot", shared), 0]
        raise ValueError("shared is a tape, or a name for one")

    def _moves(self, joint, seat):
        """A joint move by its codes; a single code is the move of the seat."""
        seats = [seat] if len(joint) == 1 else range(len(joint))
        return tuple(self.game.moves[s][ord(c) - 48] for s, c in zip(seats, joint))


def _whole(name, value, most=MOST_NUMBER):
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{name} is a whole number from 0 to {most}")
    return value


def _reference(program):
    """How the host knows a program: by its digest, or by its text if it is the bot's own making."""
    if isinstance(program, str) and len(program) > MOST_SOURCE:
        raise ValueError(f"a program has at most {MOST_SOURCE} characters")
    return ["text", program] if isinstance(program, str) else ["digest", program.digest]
