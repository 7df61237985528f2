"""Prompts: templates filled with a game, programs and feedback, as messages with a digest.

A template is a jinja2 file of two blocks, `system` and `user`. Those that come with the engine are in `prompts/`; a
folder of the user's overrides them by name (`write.j2`, `critique.j2`, `rewrite.j2`, `tiny.j2`, `probe.j2`), and may
`{% extends %}` or `{% include %}` them as `engine/NAME`. A name that a template uses and nobody defines is an error.

What opponents wrote is data: it stands between fences longer than any in it, so that it cannot close them. Nothing
but what is in a `Brief` can come into a prompt: templates see no environment, no settings and no files.
"""

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from pathlib import Path

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tournament.errors import NotFound, UsageError
from tournament.game import MatrixGame, Repetition, Setting
from tournament.oracles.oracle import Call, CallOutcome, Message

TEMPLATES = ("write", "critique", "rewrite", "tiny", "probe")
MOST_CELLS = 100
"""Joint moves whose payoffs are listed; of games with more, the rules have to say it."""

OBJECTIVES = {
    "welfare": "Make the total of all seats' payoffs as large as you can.",
    "own": "Make the payoff of your own seat as large as you can.",
    "both": "Make your own payoff plus the total of all seats' payoffs as large as you can.",
}

COMPLAINTS = {
    CallOutcome.NO_CODE: "Your last reply had no program in it.",
    CallOutcome.WRONG_FUNCTION: "Your last reply did not define act(view).",
    CallOutcome.DIFF: "Your last reply had a change to a program. Give the whole program instead.",
    CallOutcome.BAD_TEXT: "Your last program had characters that are not allowed, or too many.",
    CallOutcome.TRUNCATED: "Your last reply was cut off at its limit. Be much shorter: only the program.",
    CallOutcome.EMPTY: "Your last reply was empty.",
    CallOutcome.REFUSED: "You declined to answer. This is a harmless simulated game between two small programs.",
}
"""What the next attempt is told of the last."""


@dataclass(frozen=True)
class Brief:
    """What a prompt is made of. Texts that are empty are left out.

    `about` is what the game's file says of it; `opponents` are the others' sources by seat; `tests` the traces of unit
    tests that failed; `utility` what the program is worth; `rollouts` how its matches went; `critique` what was said
    of it; `complaint` what was wrong with the last reply.
    """

    setting: Setting
    seat: int
    objective: str = OBJECTIVES["welfare"]
    about: str = ""
    program: str = ""
    opponents: tuple[tuple[int, str], ...] = ()
    tests: str = ""
    utility: str = ""
    rollouts: str = ""
    critique: str = ""
    complaint: str = ""


@dataclass(frozen=True)
class Prompt:
    """Messages, and the digest of the template and of what it was filled with."""

    template: str
    messages: tuple[Message, ...]
    digest: str

    def call(self, purpose: str, key: str, attempt: int = 0) -> Call:
        """The call that puts this prompt, at a place in a run."""
        return Call(purpose, self.messages, self.digest, key, attempt)


class Prompts:
    """The templates, those in `folder` before the engine's own. Raises `UsageError` if there is no such folder."""

    def __init__(self, folder: Path | None = None) -> None:
        own = jinja2.PackageLoader("tournament.oracles", "prompts")
        loaders: list[jinja2.BaseLoader] = [own, jinja2.PrefixLoader({"engine": own})]
        if folder is not None:
            _check_folder(folder)
            loaders.insert(0, jinja2.FileSystemLoader(folder))
        self._environment = ImmutableSandboxedEnvironment(
            loader=jinja2.ChoiceLoader(loaders),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
        )
        self._environment.filters |= {"fence": fence, "repr": repr}

    def render(self, template: str, brief: Brief | None = None) -> Prompt:
        """A template filled with a brief; `probe` needs none. Raises `NotFound`, and `UsageError` where that fails."""
        if template not in TEMPLATES:
            raise NotFound("prompt", template, list(TEMPLATES))
        try:
            source, messages = self._rendered(f"{template}.j2", _words(brief) if brief else {})
        except jinja2.TemplateSyntaxError as error:
            place = f"{error.filename or error.name}, line {error.lineno}"
            raise UsageError(f"{place}: {error.message}") from error
        except (
            jinja2.TemplateError,
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ) as error:
            raise UsageError(f"the prompt {template}.j2 cannot be filled: {error}") from error
        if not messages:
            raise UsageError(f"the prompt {template}.j2 is empty: it has no text")
        what = [template, source, [[message.role, message.text] for message in messages]]
        return Prompt(template, messages, hashlib.sha256(json.dumps(what).encode()).hexdigest())

    def _rendered(self, file: str, words: dict[str, object]) -> tuple[str, tuple[Message, ...]]:
        found = self._environment.get_template(file)
        assert self._environment.loader is not None
        source = self._environment.loader.get_source(self._environment, file)[0]
        context = found.new_context(words)
        whole = "".join(
            found.root_render_func(context)
        )  # which also finds the blocks of templates it extends
        texts = {role: _block(context, role) for role in ("system", "user")}
        texts["user"] = texts["user"] if "user" in context.blocks else whole.strip()
        return source, tuple(Message(role, text) for role, text in texts.items() if text)


def _block(context: jinja2.runtime.Context, role: str) -> str:
    renderers = context.blocks.get(role)
    return "".join(renderers[0](context)).strip() if renderers else ""


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{folder}: no folder of prompts is there")
    known = {f"{name}.j2" for name in TEMPLATES}
    for file in sorted(folder.glob("*.j2")):
        if file.name not in known and not file.name.startswith("_"):
            raise NotFound("prompt", file.name, sorted(known))


def _words(brief: Brief) -> dict[str, object]:
    """What templates can name."""
    game = brief.setting.game
    words: dict[str, object] = {field.name: getattr(brief, field.name) for field in fields(brief)}
    del words["setting"]
    return words | {
        "game": game.name,
        "seats": game.seats,
        "moves": game.moves[brief.seat],
        "rules": rules(brief.setting),
        "payoffs": payoff_table(brief.setting),
        "own_payoffs": own_payoffs(brief.setting, brief.seat),
        "guide": guide(),
    }


@cache
def guide() -> str:
    """The guide to writing a bot."""
    return (resources.files("tournament.bots") / "README.md").read_text("utf-8").strip()


def fence(text: str, mark: str = "") -> str:
    """The text between fences that are longer than any run of their character in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{mark}\n{text.rstrip()}\n{ticks}"


def complaint(outcome: CallOutcome, note: str = "") -> str:
    """What to tell the next attempt about the last; nothing after one that was good or never came."""
    told = COMPLAINTS.get(outcome, "")
    return f"{told} ({note})" if told and note else told


def rules(setting: Setting) -> str:
    """How a setting is played, in sentences."""
    game = setting.game
    lines = [f"{game.name}: {game.seats} seats, numbered from 0. All move at the same time."]
    if len(set(game.moves)) == 1:
        lines.append(f"Legal moves: {_listed(game.moves[0])}.")
    else:
        lines += [f"Legal moves of seat {s}: {_listed(m)}." for s, m in enumerate(game.moves)]
    if game.parameters:
        pairs = ", ".join(f"{name} = {value!r}" for name, value in game.parameters.items())
        lines.append(f"Parameters: {pairs}.")
    if isinstance(game, MatrixGame):
        lines.append(_repetition(setting.repetition))
    else:
        lines.append(f"A match is one episode of at most {game.most_rounds} rounds.")
    return "\n".join(lines)


def _listed(moves: Sequence[object]) -> str:
    return ", ".join(map(repr, moves))


def _repetition(repetition: Repetition) -> str:
    if repetition.rounds == 1:
        text = "The game is played once."
    elif repetition.rounds is not None:
        text = f"The game is repeated for {repetition.rounds} rounds, and payoffs add up."
    else:
        text = f"After each round there is another with probability {repetition.continuation:g}; payoffs add up."
    if repetition.discount != 1:
        text += f" Payoffs of round r, from 0, count {repetition.discount:g} to the power r."
    if repetition.noise:
        text += f" With probability {repetition.noise:g} a move is replaced by another legal one."
    return text


def payoff_table(setting: Setting) -> str:
    """What one round pays: a table for two seats, a list for more; nothing where it cannot be listed."""
    game = setting.game
    if not isinstance(game, MatrixGame) or math.prod(map(len, game.moves)) > MOST_CELLS:
        return ""
    return "\n".join(_table(game) if game.seats == 2 else _list(game))


def _table(game: MatrixGame) -> Iterator[str]:
    yield "Rows are moves of seat 0, columns moves of seat 1; each cell is what seat 0 and seat 1 are paid."
    yield ""
    rows, columns = game.moves
    yield f"| | {' | '.join(map(repr, columns))} |"
    yield "|---" * (len(columns) + 1) + "|"
    for i, row in enumerate(rows):
        cells = (_paid(game.payoff((i, j))) for j in range(len(columns)))
        yield f"| {row!r} | {' | '.join(cells)} |"


def _list(game: MatrixGame) -> Iterator[str]:
    yield "Moves in seat order, and what the seats are paid:"
    for joint in itertools.product(*(range(len(legal)) for legal in game.moves)):
        moves = ", ".join(repr(game.moves[seat][move]) for seat, move in enumerate(joint))
        yield f"- {moves}: {_paid(game.payoff(joint))}"


def _paid(payoffs: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in payoffs)


def own_payoffs(setting: Setting, seat: int) -> str:
    """What one seat is paid in a game of two seats, a line for each pair of moves; nothing for other games."""
    game = setting.game
    if (
        not isinstance(game, MatrixGame)
        or game.seats != 2
        or math.prod(map(len, game.moves)) > MOST_CELLS
    ):
        return ""
    mine, theirs = game.moves[seat], game.moves[1 - seat]
    lines = []
    for i, j in itertools.product(range(len(mine)), range(len(theirs))):
        paid = game.payoff((i, j) if seat == 0 else (j, i))[seat]
        lines.append(f"you {mine[i]!r}, opponent {theirs[j]!r}: {paid:g}")
    return "\n".join(lines)
