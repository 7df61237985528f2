"""The task that an oracle gets, and the response it gives: a program in answer to the programs of others."""

from dataclasses import dataclass
from typing import Protocol

from tournament.evolve.evaluate import Evaluation, Feedback, Profile
from tournament.game import Setting
from tournament.program import Program

OBJECTIVES = ("welfare", "own", "both")
START = Program(
    "start", '"""Plays its first legal move."""\n\n\ndef act(view):\n    return view.legal[0]\n'
)
"""The program of a seat for which no program has been written yet."""


@dataclass(frozen=True)
class Task:
    """The task to improve the program of one seat as an answer to the other seats' programs, which stay fixed.

    `name` identifies the step of the chain. It is the same when the chain is run again.
    """

    name: str
    setting: Setting
    profile: Profile
    seat: int
    objective: str
    feedback: Feedback

    @property
    def program(self) -> Program:
        """The program that is to be improved."""
        return self.profile[self.seat]

    @property
    def fresh(self) -> bool:
        """Whether no program has been written for the seat yet."""
        return self.program.digest == START.digest

    def value(self, evaluation: Evaluation) -> float:
        """Return the value of the objective in an evaluation; minus infinity if it has no payoffs."""
        if evaluation.payoffs is None:
            return float("-inf")
        own, welfare = evaluation.payoffs[self.seat], sum(evaluation.payoffs)
        return {"welfare": welfare, "own": own, "both": own + welfare}[self.objective]


@dataclass(frozen=True)
class Response:
    """The answer of an oracle: a program, or None with an `outcome` that names what went wrong.

    `critique` is the oracle's comment on the old program. With a `profile`, the other seats' programs are replaced
    too, and the seat's next step starts from that profile. `note` is a line about what went wrong. With `stop`, further
    tasks would fail in the same way.
    """

    program: Program | None
    outcome: str = "ok"
    critique: str = ""
    calls: tuple[str, ...] = ()
    """Keys of the calls to a model that were made for this response, in order."""
    profile: Profile | None = None
    note: str = ""
    stop: bool = False


class Oracle(Protocol):
    """Writes a program in answer to the programs of the other seats."""

    async def respond(self, task: Task) -> Response:
        """Return a response to the task. A failure to write a program is named in the response, not raised."""
        ...
