"""An oracle that asks a language model: the model first criticizes a program, then rewrites it as a whole.

This follows TextGrad (Yuksekgonul et al. 2024) as the PIBR paper uses it; the critique is the "textual gradient". If a
reply has no program, the prompt of the next attempt says what was wrong with the reply.
"""

from dataclasses import replace

from tournament.evolve.evaluate import Evaluator
from tournament.evolve.feedback import told_faults, told_rollouts, told_utility
from tournament.evolve.response import Response, Task
from tournament.oracles.oracle import Answer, CallOutcome
from tournament.oracles.oracle import Oracle as Model
from tournament.oracles.prompts import OBJECTIVES, Brief, Prompts, complaint
from tournament.oracles.reply import Reply, read, spoken
from tournament.program import Program

ATTEMPTS = 3
"""How often a model is asked for a program before the step is given up."""
LASTING = (CallOutcome.BUDGET, CallOutcome.REJECTED, CallOutcome.UNREACHABLE)
"""Outcomes after which the next call would fail in the same way, so the chain stops."""


class Textual:
    """The oracle. With `terse`, it sends one short prompt, fit for small models, instead of critique and rewriting."""

    def __init__(
        self,
        name: str,
        model: Model,
        prompts: Prompts,
        evaluator: Evaluator,
        about: str,
        *,
        terse: bool = False,
    ) -> None:
        self.name = name
        self._model = model
        self._prompts = prompts
        self._evaluator = evaluator
        self._about = about
        self._terse = terse

    async def respond(self, task: Task) -> Response:
        """Return a response with the program that the model wrote, or with the outcome of the last call."""
        brief = self._brief(task)
        if self._terse:
            return await self._written("tiny", "write", task, brief, ())
        if task.fresh:
            return await self._written("write", "write", task, brief, ())
        prompt = self._prompts.render("critique", brief)
        answer = await self._model.ask(prompt.call("critique", task.name))
        if not answer.outcome.answered:
            return _without_program(answer.outcome, answer.detail, "", (answer.key,))
        said = "" if answer.outcome is CallOutcome.REFUSED else spoken(answer.text)
        brief = replace(brief, critique=said)
        return await self._written("rewrite", "rewrite", task, brief, (answer.key,))

    async def _written(
        self, template: str, purpose: str, task: Task, brief: Brief, calls: tuple[str, ...]
    ) -> Response:
        """Ask for a program up to `ATTEMPTS` times and return the first one, or the outcome of the last attempt.

        No further attempt is made once a call fails without an answer from the model.
        """
        reply = Reply(CallOutcome.EMPTY)
        for attempt in range(ATTEMPTS):
            prompt = self._prompts.render(template, brief)
            answer = await self._model.ask(prompt.call(purpose, task.name, attempt))
            calls = (*calls, answer.key)
            reply = _read(answer)
            if reply.outcome.good:
                program = Program(task.name, reply.program)
                return Response(program, str(reply.outcome), brief.critique, calls)
            if not reply.outcome.answered:
                break
            brief = replace(brief, complaint=complaint(reply.outcome, reply.note))
        return _without_program(reply.outcome, reply.note, brief.critique, calls)

    def _brief(self, task: Task) -> Brief:
        """Return what the prompts say about the task; results are left out if no program has been written yet."""
        others = [(s, p.source) for s, p in enumerate(task.profile) if s != task.seat]
        brief = Brief(
            setting=task.setting,
            seat=task.seat,
            objective=OBJECTIVES[task.objective],
            about=self._about,
            opponents=tuple(others),
        )
        if task.fresh:
            return brief
        return replace(
            brief,
            program=task.program.source,
            tests=told_faults(task.feedback.faults),
            utility=told_utility(task.feedback.evaluation, task.seat),
            rollouts=told_rollouts(task, self._evaluator),
        )


def _read(answer: Answer) -> Reply:
    """Return the program in an answer, or the outcome of the call if the model did not answer."""
    return read(answer) if answer.outcome.answered else Reply(answer.outcome, "", answer.detail)


def _without_program(
    outcome: CallOutcome, note: str, critique: str, calls: tuple[str, ...]
) -> Response:
    """Return a response without a program; it stops the chain after an outcome in `LASTING`."""
    return Response(None, str(outcome), critique, calls, note=note, stop=outcome in LASTING)
