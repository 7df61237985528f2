"""An oracle that asks a language model: a textual gradient is a critique, then a rewriting of the whole program.

After TextGrad (Yuksekgonul et al. 2024) as the PIBR paper uses it. A reply without a program is a named outcome that the
next attempt is told about.
"""

from dataclasses import replace

from tournament.evolve.evaluate import Evaluator
from tournament.evolve.feedback import told_faults, told_rollouts, told_utility
from tournament.evolve.response import Response, Task
from tournament.oracles.oracle import Answer, CallOutcome
from tournament.oracles.oracle import Oracle as Model
from tournament.oracles.prompts import OBJECTIVES, Brief, Prompts, complaint
from tournament.oracles.reply import Reply, read
from tournament.program import Program

ATTEMPTS = 3


class Textual:
    """The oracle. With `terse`, one short prompt for small models takes the place of critique and rewriting."""

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
        """The program that the model wrote, or the outcome of its last attempt."""
        brief = self._brief(task)
        calls: list[str] = []
        critique = ""
        if not self._terse and task.program.name != "start":
            prompt = self._prompts.render("critique", brief)
            answer = await self._model.ask(prompt.call("critique", task.name))
            calls.append(answer.key)
            if not answer.outcome.good:
                return Response(None, str(answer.outcome), answer.detail, tuple(calls))
            critique = answer.text.strip()
        return await self._written(task, replace(brief, critique=critique), calls)

    async def _written(self, task: Task, brief: Brief, calls: list[str]) -> Response:
        """The program of the first attempt that has one."""
        template = "tiny" if self._terse else "rewrite" if brief.critique else "write"
        purpose = "rewrite" if brief.critique else "write"
        reply = Reply(CallOutcome.EMPTY)
        for attempt in range(ATTEMPTS):
            prompt = self._prompts.render(template, brief)
            answer = await self._model.ask(prompt.call(purpose, task.name, attempt))
            calls.append(answer.key)
            reply = _read(answer)
            if reply.outcome.good:
                program = Program(task.name, reply.program)
                return Response(program, str(reply.outcome), brief.critique, tuple(calls))
            if not reply.outcome.answered:
                break
            brief = replace(brief, complaint=complaint(reply.outcome, reply.note))
        return Response(None, str(reply.outcome), brief.critique or reply.note, tuple(calls))

    def _brief(self, task: Task) -> Brief:
        feedback = task.feedback
        others = [(s, p.source) for s, p in enumerate(task.profile) if s != task.seat]
        return Brief(
            setting=task.setting,
            seat=task.seat,
            objective=OBJECTIVES[task.objective],
            about=self._about,
            program="" if task.program.name == "start" else task.program.source,
            opponents=tuple(others),
            tests=told_faults(feedback.faults),
            utility=told_utility(feedback.evaluation, task.seat),
            rollouts=told_rollouts(task, self._evaluator),
        )


def _read(answer: Answer) -> Reply:
    """The program in an answer; what went wrong with the call, where something did."""
    return read(answer) if answer.outcome.answered else Reply(answer.outcome, "", answer.detail)
