"""A bot's source text, its digest, and what its header says about the games it plays.

The engine's process treats programs only as text. For safety it never parses, compiles or imports a bot.
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
    *("one-shot", "repeated", "episodic"),
    *("two-seat", "many-seat"),
    *("zero-sum", "common-payoff", "general-sum"),
)
"""The kinds of play that a `Plays:` header may name in addition to games."""

_DOCSTRING = re.compile(r'\A\s*+(?:#[^\n]*+\s*+)*+[rRuU]?("""|\'\'\'|"|\')(.*?)\1', re.DOTALL)
_TAPES = re.compile(r"\b(rng|random|shared|secrets|uuid)\b")
_SEATS = re.compile(r"\b(seat|history|simulate|proves)\b")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Program:
    """A bot's source text, with the name and path of the file that it came from."""

    name: str
    source: str
    path: str = ""

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the source as 64 hexadecimal digits. Programs with the same digest are the same program."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @cached_property
    def docstring(self) -> str:
        """The text of the string at the start of the file, or an empty text if there is none."""
        found = _DOCSTRING.match(self.source)
        return found.group(2).strip() if found else ""

    @property
    def summary(self) -> str:
        """The docstring's first line."""
        return self.docstring.partition("\n")[0].strip()

    @cached_property
    def plays(self) -> tuple[str, ...]:
        """The games and kinds of play that the header names. If it is empty, the bot plays everything."""
        return tuple(word for word in re.split(r"[,\s]+", self.header("Plays")) if word)

    @property
    def games(self) -> tuple[str, ...]:
        """The games that the header names. If it names none, the bot plays any game."""
        return tuple(word for word in self.plays if word not in KINDS)

    @cached_property
    def may_draw(self) -> bool:
        """Whether the code, without docstring and comments, mentions a source of random bits. This is only a guess."""
        return _TAPES.search(self._code) is not None

    @cached_property
    def may_ask_its_seat(self) -> bool:
        """Whether the code, without docstring and comments, mentions anything that depends on the seat.

        This is only a guess as well.
        """
        return _SEATS.search(self._code) is not None

    @cached_property
    def _code(self) -> str:
        """The source without its docstring and without anything that follows a `#`."""
        lines = self.source.replace(self.docstring, "", 1).splitlines()
        return "\n".join(line.partition("#")[0] for line in lines)

    @property
    def may_simulate(self) -> bool:
        """Whether the source mentions simulation. One move may then take as long as thousands of other moves."""
        return "simulate" in self.source

    def header(self, field: str) -> str:
        """Return the text after `field:` in the docstring, or an empty text.

        The text may continue on the following lines if they are indented more deeply.
        """
        found = re.search(
            rf"^([ \t]*){field}:[ \t]*(.*(?:\n\1[ \t]+\S.*)*)", self.docstring, re.MULTILINE
        )
        return " ".join(found.group(2).split()) if found else ""

    def fits(self, setting: Setting) -> bool:
        """Whether the bot plays in this setting, according to its header.

        The setting must be of every kind that the header names and, if it names games, be one of these games.
        """
        kinds = {word for word in self.plays if word in KINDS}
        return kinds <= setting.kinds and (not self.games or setting.game.name in self.games)


def read_program(path: Path) -> Program:
    """Return the program in a file.

    Raises `ProgramRefused` if the file cannot be read, its name is not printable, or `check_text` refuses its text.
    """
    if not path.stem.isprintable():
        raise ProgramRefused(str(path), "has unprintable characters in its name")
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ProgramRefused(str(path), error.strerror or str(error)) from error
    return Program(name=path.stem, source=check_text(str(path), raw), path=str(path))


def check_text(file: str, raw: bytes) -> str:
    """Return the source text for a file's bytes, with `\\n` as line end and in Unicode form NFC.

    Raises `ProgramRefused`, which names the line, if the bytes are not UTF-8 or contain NUL or bidirectional control
    characters, which make a source look different from what it does. Also refuses more than 256 KiB.
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
