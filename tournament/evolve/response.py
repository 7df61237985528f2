"""What an oracle is asked, and what it answers: a program in answer to others'."""

from dataclasses import dataclass
from typing import Protocol

from tournament.evolve.evaluate import Evaluation, Feedback, Profile
from tournament.game import Setting
from tournament.program import Program

OBJECTIVES = ("welfare", "own", "both")
START = Program(
    "start", '"""Plays its first legal move."""\n\n\ndef act(view):\n    return view.legal[0]\n'
)
"""What sits where nothing has been written yet."""


@dataclass(frozen=True)
class Task:
    """A seat's program is to be made a better answer to the others', which stay as they are.

    `name` says which step of which chain this is; it is the same whenever the chain is run again.
    """

    name: str
    setting: Setting
    profile: Profile
    seat: int
    objective: str
    feedback: Feedback

    @property
    def program(self) -> Program:
        """The program that is to be made better."""
        return self.profile[self.seat]

    @property
    def fresh(self) -> bool:
        """Whether there is none yet."""
        return self.program.digest == START.digest


@dataclass(frozen=True)
class Response:
    """A program, or none and the name of what came instead. `critique` is what was said of the old one.

    With a `profile`, the others' programs are replaced too: the oracle begins anew from there. `note` is a line about
    what went wrong; with `stop`, whatever is asked next would go the same way.
    """

    program: Program | None
    outcome: str = "ok"
    critique: str = ""
    calls: tuple[str, ...] = ()
    """Keys of the calls to a model that it took, in order."""
    profile: Profile | None = None
    note: str = ""
    stop: bool = False


class Oracle(Protocol):
    """Writes programs in answer to others."""

    name: str

    async def respond(self, task: Task) -> Response:
        """A response to the task; what goes wrong on the way is a named outcome of it, not an exception."""
        ...


def worth(evaluation: Evaluation, seat: int, objective: str) -> float:
    """What an oracle is to make large; minus infinity for a profile in which a rule is broken."""
    if evaluation.payoffs is None:
        return float("-inf")
    own, welfare = evaluation.payoffs[seat], sum(evaluation.payoffs)
    return {"welfare": welfare, "own": own, "both": own + welfare}[objective]
