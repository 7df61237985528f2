"""An oracle that asks a language model: the model first criticizes a program, then rewrites it as a whole.

This follows TextGrad (Yuksekgonul et al. 2024) as the PIBR paper uses it; the critique is the "textual gradient". If a
reply has no program, the prompt of the next attempt says what was wrong with the reply.
"""

from dataclasses import dataclass, replace

from tournament.evolve.evaluate import Evaluator
from tournament.evolve.feedback import describe_faults, describe_matches, describe_payoffs
from tournament.evolve.response import Response, Task
from tournament.oracles.oracle import CallOutcome
from tournament.oracles.oracle import Oracle as Model
from tournament.oracles.prompts import OBJECTIVES, Brief, Prompts, complaint
from tournament.oracles.reply import read, without_thoughts
from tournament.program import Program

ATTEMPTS = 3
"""How often a model is asked for a program before the step is given up."""
FINAL = (CallOutcome.BUDGET, CallOutcome.REJECTED, CallOutcome.UNREACHABLE)
"""Outcomes after which the next call would fail in the same way, so the chain stops."""


@dataclass(frozen=True)
class Textual:
    """The oracle. With `short_prompts`, it sends one short prompt instead of critique and rewriting."""

    model: Model
    prompts: Prompts
    evaluator: Evaluator
    about: str
    short_prompts: bool = False

    async def respond(self, task: Task) -> Response:
        """Return a response with the program that the model wrote, or with the outcome of the last call."""
        brief = self._brief(task)
        if self.short_prompts:
            return await self._write("tiny", "write", task, brief)
        if task.fresh:
            return await self._write("write", "write", task, brief)
        prompt = self.prompts.render("critique", brief)
        answer = await self.model.ask(prompt.call("critique", task.name))
        if not answer.outcome.answered:
            return _without_program(answer.outcome, answer.detail, "", (answer.key,))
        refused = answer.outcome is CallOutcome.REFUSED
        brief = replace(brief, critique="" if refused else without_thoughts(answer.text))
        return await self._write("rewrite", "rewrite", task, brief, (answer.key,))

    async def _write(
        self, template: str, purpose: str, task: Task, brief: Brief, calls: tuple[str, ...] = ()
    ) -> Response:
        """Ask for a program up to `ATTEMPTS` times and return the first one, or the outcome of the last attempt.

        No further attempt is made once a call fails without an answer from the model.
        """
        for attempt in range(ATTEMPTS):
            prompt = self.prompts.render(template, brief)
            answer = await self.model.ask(prompt.call(purpose, task.name, attempt))
            calls = (*calls, answer.key)
            reply = read(answer)
            if reply.outcome.good:
                program = Program(task.name, reply.program)
                return Response(program, str(reply.outcome), brief.critique, calls)
            if not reply.outcome.answered:
                break
            brief = replace(brief, complaint=complaint(reply.outcome, reply.note))
        return _without_program(reply.outcome, reply.note, brief.critique, calls)

    def _brief(self, task: Task) -> Brief:
        """Return the data for prompts about the task; results are left out if no program has been written yet."""
        others = [(s, p.source) for s, p in enumerate(task.profile) if s != task.seat]
        objective = OBJECTIVES[task.objective]
        brief = Brief(task.setting, task.seat, objective, self.about, opponents=tuple(others))
        if task.fresh:
            return brief
        return replace(
            brief,
            program=task.program.source,
            tests=describe_faults(task.feedback.faults),
            utility=describe_payoffs(task.feedback.evaluation, task.seat),
            rollouts=describe_matches(task, self.evaluator),
        )


def _without_program(
    outcome: CallOutcome, note: str, critique: str, calls: tuple[str, ...]
) -> Response:
    """Return a response without a program; it stops the chain after an outcome in `FINAL`."""
    return Response(None, str(outcome), critique, calls, note=note, stop=outcome in FINAL)
