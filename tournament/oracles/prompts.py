"""Prompts, which are made by filling templates with a game, programs and feedback.

A template is a jinja2 file with two blocks, `system` and `user`. The templates of the engine are in `prompts/`. A
user's folder may replace them by files of the same names (`write.j2`, `critique.j2`, `rewrite.j2`, `tiny.j2`,
`probe.j2`), which may `{% extends %}` or `{% include %}` the originals as `engine/NAME`. A template that uses an
undefined name is an error.

The sources of opponents are only data. They stand between fences that are longer than any fence in them, so that they
cannot end the quotation. Templates see the data of a `Brief`, the rules of its game and the guide to writing bots, but
no environment, no settings, and no files other than templates.
"""

import hashlib
import json
import re
import traceback
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tournament.errors import NotFound, UsageError
from tournament.game import Setting
from tournament.oracles.oracle import Call, CallOutcome, Message
from tournament.oracles.rules import own_payoffs, payoff_table, rules

TEMPLATES = ("write", "critique", "rewrite", "tiny", "probe")
SAMPLE = "a line of a sample\n" * 50
"""The text that fills templates when they are checked."""

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
"""What the prompt of the next attempt says about an unusable reply, by its outcome."""


@dataclass(frozen=True)
class Brief:
    """The data from which a prompt is made. Templates leave out texts that are empty.

    `about` is the description in the game's file. `opponents` holds pairs of a seat and the source of its program.
    `tests` holds the traces of failed unit tests, `utility` the value of the program, `rollouts` the course of its
    matches, `critique` a review of it, and `complaint` what was wrong with the last reply.
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
    """The messages of a prompt, with a digest of the template's source and of these messages."""

    messages: tuple[Message, ...]
    digest: str

    def call(self, purpose: str, key: str, attempt: int = 0) -> Call:
        """Return the call that asks this prompt, at the position in a run that `key` and `attempt` name."""
        return Call(purpose, self.messages, self.digest, key, attempt)


class Prompts:
    """The templates. Those in `folder` replace the engine's templates of the same names.

    Raises `UsageError` if there is no such folder, and `NotFound` if it contains a template of an unknown name.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        own = jinja2.PackageLoader("tournament.oracles", "prompts")
        loaders: list[jinja2.BaseLoader] = [own, jinja2.PrefixLoader({"engine": own})]
        if folder is not None:
            _check_folder(folder)
            loaders.insert(0, jinja2.FileSystemLoader(folder))
        self._loader = jinja2.ChoiceLoader(loaders)
        self._environment = ImmutableSandboxedEnvironment(
            loader=self._loader,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= {"fence": fence, "repr": repr}

    def render(self, template: str, brief: Brief | None = None) -> Prompt:
        """Fill a template with a brief. The template `probe` needs none.

        Raises `NotFound` for an unknown template, and `UsageError` with file and line if it cannot be filled.
        """
        if template not in TEMPLATES:
            raise NotFound("prompt", template, list(TEMPLATES))
        words = _words(brief) if brief else {}
        try:
            source, messages = self._rendered(f"{template}.j2", words)
        # A template is a program of the user and may raise any exception.
        except Exception as error:
            raise UsageError(self._message(error, f"{template}.j2")) from error
        if not messages:
            raise UsageError(f"{template}.j2: the prompt has no text")
        what = [template, source, [[message.role, message.text] for message in messages]]
        return Prompt(messages, hashlib.sha256(json.dumps(what).encode()).hexdigest())

    def check(self, setting: Setting) -> None:
        """Fill every template with samples, so that errors in templates are found before a call is paid for.

        Raises what `render` raises.
        """
        fresh, full = _samples(setting)
        for template in TEMPLATES:
            self.render(template, full)
        for template in ("write", "tiny"):
            self.render(template, fresh)

    def _rendered(self, file: str, words: dict[str, object]) -> tuple[str, tuple[Message, ...]]:
        """Return the source of a template, and its messages when it is filled with `words`."""
        found = self._environment.get_template(file)
        source = self._loader.get_source(self._environment, file)[0]
        context = found.new_context(words)
        try:
            # Rendering the root also collects the blocks of the templates that this one extends.
            whole = "".join(found.root_render_func(context))
            texts = {role: _block(context, role) for role in ("system", "user")}
        except Exception:
            # This raises the exception again, with a traceback that shows lines of templates.
            self._environment.handle_exception()
        texts["user"] = texts["user"] if "user" in context.blocks else whole.strip()
        return source, tuple(Message(role, text) for role, text in texts.items() if text)

    def _message(self, error: Exception, file: str) -> str:
        """Return what is wrong with a template, in one line that begins with the file and, if known, the line."""
        if isinstance(error, jinja2.TemplateSyntaxError):
            return f"{error.filename or error.name}, line {error.lineno}: {error.message}"
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f"{f.filename}, line {f.lineno}" for f in frames if f.filename.endswith(".j2")]
        where = lines[-1] if lines else str((self._folder or Path()) / file)
        if isinstance(error, jinja2.TemplateNotFound):
            return f"{where}: there is no template {error.name}"
        if isinstance(error, RecursionError):
            return f"{where}: it includes or calls itself without end"
        return " ".join(f"{where}: {error}".split())


def _samples(setting: Setting) -> tuple[Brief, Brief]:
    """Return a brief with as few texts as a brief can have, and one in which every text is filled."""
    others = tuple((seat, SAMPLE) for seat in range(1, setting.game.seats))
    fresh = Brief(setting, 0, about=SAMPLE, opponents=others)
    texts: Any = {each.name: SAMPLE for each in fields(Brief) if not getattr(fresh, each.name)}
    return fresh, replace(fresh, **(texts | {"seat": 0, "opponents": others}))


def _block(context: jinja2.runtime.Context, role: str) -> str:
    renderers = context.blocks.get(role)
    return "".join(renderers[0](context)).strip() if renderers else ""


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder of prompts")
    known = {f"{name}.j2" for name in TEMPLATES}
    for file in sorted(folder.glob("*.j2")):
        if file.name not in known and not file.name.startswith("_"):
            raise NotFound("prompt", file.name, sorted(known))


def _words(brief: Brief) -> dict[str, object]:
    """Return the values that templates can use, by name."""
    game = brief.setting.game
    return {name: value for name, value in vars(brief).items() if name != "setting"} | {
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
    """Return the guide to writing a bot, which is the README of the bundled bots."""
    return (resources.files("tournament.bots") / "README.md").read_text("utf-8").strip()


def fence(text: str, mark: str = "") -> str:
    """Return the text between fences of backticks that are longer than any run of backticks in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{mark}\n{text.rstrip()}\n{ticks}"


def complaint(outcome: CallOutcome, note: str = "") -> str:
    """Return what the next prompt says about the last reply, or an empty text if it was usable or never arrived."""
    text = COMPLAINTS.get(outcome, "")
    return f"{text} ({note})" if text and note else text
