"""A bot's source text: its digest, and what its header says of it.

Programs are text here and never more: nothing of a bot is parsed, compiled or imported in the engine's process.
"""

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tournament.errors import ProgramRefused
from tournament.game import Setting

MOST_BYTES = 256 * 1024
KINDS = (
    "one-shot",
    "repeated",
    "episodic",
    "two-seat",
    "many-seat",
    "zero-sum",
    "common-payoff",
    "general-sum",
)
"""Kinds of play that a `Plays:` header may name beside games."""

_DOCSTRING = re.compile(r'\A\s*+(?:#[^\n]*+\s*+)*+[rRuU]?("""|\'\'\'|"|\')(.*?)\1', re.DOTALL)
_TAPES = re.compile(r"\b(rng|random|shared|secrets|uuid)\b")
_SEATS = re.compile(r"\b(seat|history|simulate|proves)\b")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Program:
    """A bot's source, under the name of the file it came from."""

    name: str
    source: str
    path: str = ""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the source: 64 hexadecimal digits. Programs with one digest are one program."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @cached_property
    def docstring(self) -> str:
        """The text of the string that the file opens with, or nothing."""
        found = _DOCSTRING.match(self.source)
        return found.group(2).strip() if found else ""

    @property
    def summary(self) -> str:
        """The docstring's first line."""
        return self.docstring.partition("\n")[0].strip()

    @cached_property
    def plays(self) -> tuple[str, ...]:
        """Games and kinds of play that the header asks for; empty: whatever is asked."""
        return tuple(word for word in re.split(r"[,\s]+", self.header("Plays")) if word)

    @cached_property
    def may_draw(self) -> bool:
        """Whether the program's text, its docstring and comments aside, mentions a tape: a guess, not a promise."""
        return _TAPES.search(self._code) is not None

    @cached_property
    def may_ask_its_seat(self) -> bool:
        """Whether the text, so far, mentions anything that depends on the seat: a guess as well."""
        return _SEATS.search(self._code) is not None

    @cached_property
    def _code(self) -> str:
        lines = self.source.replace(self.docstring, "", 1).splitlines()
        return "\n".join(line.partition("#")[0] for line in lines)

    @property
    def may_simulate(self) -> bool:
        """Whether the text mentions simulation: a move may then take as long as thousands of others."""
        return "simulate" in self.source

    def header(self, field: str) -> str:
        """The text after `field:` in the docstring, continued on deeper-indented lines; or nothing."""
        found = re.search(
            rf"^([ \t]*){field}:[ \t]*(.*(?:\n\1[ \t]+\S.*)*)", self.docstring, re.MULTILINE
        )
        return " ".join(found.group(2).split()) if found else ""

    def fits(self, setting: Setting) -> bool:
        """Whether the header lets the bot play: its game, where any is named, and every kind that is named."""
        kinds = {word for word in self.plays if word in KINDS}
        games = set(self.plays) - kinds
        return kinds <= setting.kinds and (not games or setting.game.name in games)


def read_program(path: Path) -> Program:
    """The program in a file. Raises `ProgramRefused` if it cannot be one: see `check_text`."""
    if not path.stem.isprintable():
        raise ProgramRefused(str(path), "has unprintable characters in its name")
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ProgramRefused(str(path), error.strerror or str(error)) from error
    return Program(name=path.stem, source=check_text(str(path), raw), path=str(path))


def check_text(file: str, raw: bytes) -> str:
    """The source text of a file's bytes, with line ends as `\\n` and in Unicode form NFC.

    Raises `ProgramRefused` for more than 256 KiB, bytes that are not UTF-8, NUL and bidirectional control
    characters (which make source read otherwise than it runs), naming the line.
    """
    if len(raw) > MOST_BYTES:
        raise ProgramRefused(file, f"is longer than {MOST_BYTES:,} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ProgramRefused(file, f"line {line} is not UTF-8: save the file as UTF-8") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for line, content in enumerate(text.split("\n"), 1):
        if "\0" in content:
            raise ProgramRefused(file, f"line {line} has a NUL character")
        if hidden := _BIDI.intersection(content):
            name = unicodedata.name(min(hidden))
            raise ProgramRefused(file, f"line {line} has the invisible character {name}")
    return unicodedata.normalize("NFC", text)
