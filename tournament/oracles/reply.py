"""Functions that find the program in a model's reply, or name what is wrong with the reply.

A program is only text here, as everywhere outside the sandbox: no part of a reply is parsed as Python, compiled or
run. This module decides whether a reply contains a program. Unit tests decide later whether the program works.

The program is the last fenced block that defines `act` (or a class `Bot`) at its outermost level. Blocks that are
marked as Python or unmarked go before blocks with other marks, and text inside `<think>` does not count. If the model
reached its limit inside a block, that block is not used; an earlier complete block is used unless the incomplete one
defines the bot too. In a reply without fences, the program reaches from the first line of code to the last one, if
these lines define the bot.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tournament.errors import ProgramRefused
from tournament.oracles.oracle import Answer, CallOutcome
from tournament.program import check_text

PYTHON = ("", "python", "py", "python3", "py3", "python2")
"""The marks after an opening fence that a block of Python may have."""
CUT_OFF = "length"
"""The finish reason of an answer that reached its limit of tokens."""

_ENTRY = re.compile(
    r"^(?:(?:async[ \t]+)?def[ \t]+act[ \t]*\(|class[ \t]+Bot[ \t]*[(:]|act[ \t]*(?::[^=\n]*)?=(?!=))",
    re.MULTILINE,
)
_DEFINES = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)[ \t]*[(:]", re.MULTILINE)
_CODE_LINE = re.compile(
    r"""(?:async[ ]+)?def[ ]+\w+[ ]*\( | class[ ]+\w+[ ]*[(:]
    | import[ ]+[\w., ]+$ | from[ ]+[\w.]+[ ]+import[ ]
    | @\w | \# | \"\"\" | \'\'\'
    | \w+[ ]*(?::[\w\[\], .|]+)?=[^=]
    | (?:if|for|while|with)[ ].*:[ ]*$ | try: | [)\]}]+$""",
    re.VERBOSE,
)
_STATEMENT = re.compile(r"(?:async def|def|class|import|from) ")
_OPENING = re.compile(r"^([ \t]*(?:[-*+][ ]+|\d+[.)][ ]+)?)(`{3,}|~{3,})[ \t]*(.*)$")
_MARK = re.compile(r"[{.]*([\w+#]*)")
_THOUGHT = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_AFTER_THOUGHTS = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_PATCH = re.compile(r"^(?:@@ -\d.*@@|<{7}(?: |$)|--- .*\n\+\+\+ |\*\*\* Begin Patch)", re.MULTILINE)
_REFUSAL = re.compile(
    r"""\W*(?:i['\u2019]?m[ ](?:really[ ]|very[ ]|so[ ])?sorry | sorry\b
    | i[ ](?:can(?:no|['\u2019])t | am[ ](?:unable|not[ ]able) | won['\u2019]t | will[ ]not | must[ ]decline)\b
    | as[ ]an[ ]ai\b | unfortunately,?[ ]i[ ](?:can|am)\b)""",
    re.IGNORECASE | re.VERBOSE,
)

_DECLINES = re.compile(
    r"""\bi(?:[ ]am|['\u2019]m)?[ ](?: can(?:no|['\u2019])t | unable[ ]to | not[ ]able[ ]to
                                  | won['\u2019]t | will[ ]not | must[ ]decline(?:[ ]to)? )
    (?: [ ](?:help|assist|comply|review|critici[sz]e|critique|continue|engage|participate|answer|discuss|support)\b
      | [ ]do[ ](?:that|this|so)\b
      | [ ]provide[ ](?:(?:a|an|any|such|this|that)[ ])?(?:review|critique|feedback|help|assistance)\b
      | [ ]?(?:[.,!]|$))""",
    re.IGNORECASE | re.VERBOSE,
)
LONGEST_REFUSAL = 600
"""Most characters of prose that can be a refusal. Longer prose is taken as a real review."""


@dataclass(frozen=True)
class Reply:
    """The source of the program in a reply, or an empty text if there is none.

    `note` is one line about how the program was found or why it was not found.
    """

    outcome: CallOutcome
    program: str = ""
    note: str = ""


@dataclass(frozen=True)
class Block:
    """Code between fences. `mark` is the word after the opening fence, and `closed` says whether the block ended."""

    mark: str
    code: str
    closed: bool = True

    @property
    def python(self) -> bool:
        """Whether the block is marked as Python or has no mark."""
        return self.mark in PYTHON

    @property
    def defines_bot(self) -> bool:
        """Whether the block is a program that defines `act` or `Bot`, which the engine calls."""
        return bool(_ENTRY.search(self.code)) and not self.patch

    @property
    def patch(self) -> bool:
        """Whether the block is a change to a program (a diff) instead of a program."""
        return self.mark in ("diff", "patch") or bool(_PATCH.search(self.code))


def read(answer: Answer) -> Reply:
    """Return the program in an answer, or the outcome of the answer if the model refused or did not answer."""
    if not answer.outcome.answered or answer.outcome is CallOutcome.REFUSED:
        return Reply(answer.outcome, note=answer.detail)
    return read_text(answer.text, cut_off=answer.finish == CUT_OFF)


def read_review(answer: Answer) -> Reply:
    """Return the outcome of a call that asked for a review.

    A review is prose, so any text that is neither empty nor a refusal counts as one.
    """
    review = without_thoughts(answer.text)
    if answer.outcome is CallOutcome.OK and not review:
        return Reply(CallOutcome.EMPTY, note="nothing beside thoughts")
    if answer.outcome is CallOutcome.OK and _declined(review):
        return Reply(CallOutcome.REFUSED, note=textwrap.shorten(review, 120))
    return Reply(answer.outcome, note=answer.detail)


def _declined(prose: str) -> bool:
    """Whether the prose refuses what was asked. An apology at the beginning alone is not a refusal."""
    polite = len(prose) <= LONGEST_REFUSAL and _REFUSAL.match(prose)
    return bool(polite and _DECLINES.search(prose))


def read_text(text: str, *, cut_off: bool = False) -> Reply:
    """Return the program in a reply. `cut_off` says that the reply ended because it reached its limit."""
    prose, blocks = _scan(text)
    if cut_off and blocks and not blocks[-1].closed and blocks.pop().defines_bot:
        return Reply(CallOutcome.TRUNCATED, note="cut off inside the program")
    bots = [block for block in reversed(blocks) if block.defines_bot]
    found = max(bots, key=lambda block: block.python, default=None if blocks else _unfenced(prose))
    if found is None:
        return _without_program(prose, blocks, cut_off)
    if cut_off and not blocks:
        return Reply(CallOutcome.TRUNCATED, note="cut off in code without fences")
    return _as_program(found, blocks)


def ends_in_code(text: str) -> bool:
    """Whether a reply ends inside a block of code and is therefore incomplete."""
    _, blocks = _scan(text)
    return bool(blocks) and not blocks[-1].closed


def without_thoughts(text: str) -> str:
    """Return the reply without the parts that the model marked as its thoughts."""
    return _AFTER_THOUGHTS.split(_THOUGHTS.sub("", text))[-1].strip()


def _as_program(found: Block, blocks: Sequence[Block]) -> Reply:
    """Return the chosen block as a program, if its text is allowed in programs."""
    try:
        source = check_text("reply", found.code.encode("utf-8", "surrogatepass"))
    except ProgramRefused as error:
        return Reply(CallOutcome.BAD_TEXT, note=error.problem)
    pythons = sum(block.python for block in blocks)
    if pythons > 1:
        note = f"of {pythons} blocks of code, the last that defines the bot was taken"
        return Reply(CallOutcome.SEVERAL_BLOCKS, source, note)
    return Reply(CallOutcome.OK, source)


def _without_program(prose: str, blocks: Sequence[Block], cut_off: bool) -> Reply:
    """Return the outcome of a reply that defines no bot."""
    code = "\n".join(block.code for block in blocks if block.python)
    names = _DEFINES.findall(code or ("" if blocks else textwrap.dedent(prose)))
    if cut_off:
        return Reply(CallOutcome.TRUNCATED, note="cut off before the program was there")
    if any(block.patch for block in blocks) or (not blocks and _PATCH.search(prose)):
        return Reply(CallOutcome.DIFF, note="a change to a program, not a program")
    if names:
        return Reply(CallOutcome.WRONG_FUNCTION, note=f"defines {', '.join(names[:5])}, not act")
    if not prose.strip() and not blocks:
        return Reply(CallOutcome.EMPTY, note="nothing but thoughts, or nothing at all")
    if not blocks and _REFUSAL.match(prose.strip()):
        return Reply(CallOutcome.REFUSED, note=textwrap.shorten(prose, 120))
    return Reply(CallOutcome.NO_CODE, note=f"{len(blocks)} blocks of code, none with a bot")


def _unfenced(prose: str) -> Block | None:
    """Return the code in a reply without fences, from its first line of code to its last.

    The result is None if there is no code, or if the code does not define a bot.
    """
    lines = textwrap.dedent(prose).split("\n")
    first = next((k for k, line in enumerate(lines) if _CODE_LINE.match(line)), len(lines))
    code = lines[first:]
    while code and not (
        _CODE_LINE.match(code[-1]) or (code[-1][:1].isspace() and code[-1].strip())
    ):
        code.pop()
    block = Block("", "\n".join(code) + "\n")
    return block if block.defines_bot else None


def _scan(text: str) -> tuple[str, list[Block]]:
    """Return the prose outside blocks and thoughts, and the blocks outside thoughts; a line may end in any way."""
    scanner = _Scanner()
    for line in text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        scanner.take(line)
    return scanner.end()


class _Scanner:
    """Reads a reply line by line and separates prose, blocks of code and thoughts."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Forget all that was read so far."""
        self._prose: list[str] = []
        self._blocks: list[Block] = []
        self._code: list[str] = []
        self._fence, self._indent, self._mark = "", 0, ""
        self._thinking = False

    def take(self, line: str) -> None:
        """Read the next line."""
        if not self._fence:
            for part in _around_thoughts(line):
                self._take_outside(part)
        elif line.strip().lower() in ("</think>", "</thinking>"):
            # The opening tag was part of the prompt, so everything up to here was thought.
            self._begin()
        elif self._closes(line):
            self._close()
        else:
            self._code.append(line)

    def end(self) -> tuple[str, list[Block]]:
        """Return the prose and the blocks that were read.

        If a block is still open, a fence at the end of one of its lines closes it. Without one it stays unclosed.
        """
        while self._fence:
            ends = (k for k, line in enumerate(self._code) if line.rstrip().endswith(self._fence))
            last = next(ends, None)
            if last is None:
                self._close(closed=False)
                break
            rest = self._code[last + 1 :]
            self._code = [*self._code[:last], self._code[last].rstrip().rstrip(self._fence[0])]
            self._close()
            for line in rest:
                self.take(line)
        return "\n".join(self._prose), self._blocks

    def _take_outside(self, part: str) -> None:
        """Read a tag of a thought, or text that began outside blocks."""
        tag = _THOUGHT.fullmatch(part)
        if tag and tag[1] and not self._thinking:
            self._begin()
        elif tag:
            self._thinking = not tag[1]
        elif self._fence:
            self._code.append(part)
        elif not self._thinking and not self._opens(part):
            self._prose.append(part)

    def _opens(self, line: str) -> bool:
        """Begin a block if the line opens one, or add it if the line contains all of it. Returns whether it did so."""
        found = _OPENING.match(line)
        if not found:
            return False
        indent, fence, info = found.groups()
        info = info.strip()
        inline = fence[0] == "`" and "`" in info
        if inline and not info.endswith(fence):
            return False
        word, _, rest = info.partition(" ")
        code = next((text for text in (info, rest.lstrip()) if _STATEMENT.match(text)), "")
        if inline:
            self._blocks.append(Block("", code.removesuffix(fence).rstrip() + "\n"))
            return True
        mark = _MARK.match("" if code == info else word)
        self._indent, self._fence, self._mark = len(indent), fence, mark[1].lower() if mark else ""
        self._code = [code] if code else []
        return True

    def _closes(self, line: str) -> bool:
        """Whether the line is a closing fence: only the fence's character, at least as often as in the opening."""
        fence = line.strip()
        return fence.startswith(self._fence) and not fence.strip(self._fence[0])

    def _close(self, *, closed: bool = True) -> None:
        width = self._indent
        lines = [line[width:] if not line[:width].strip() else line for line in self._code]
        code = "\n".join(lines)
        if not any(line and not line[0].isspace() for line in lines):
            code = textwrap.dedent(code)
        self._blocks.append(Block(self._mark, code.strip("\n") + "\n", closed))
        self._code, self._fence = [], ""


def _around_thoughts(line: str) -> Iterator[str]:
    """Yield the parts of a line: the tags of thoughts, and the text between them."""
    end = 0
    for tag in _THOUGHT.finditer(line):
        if line[end : tag.start()].strip():
            yield line[end : tag.start()]
        yield tag[0]
        end = tag.end()
    if end == 0 or line[end:].strip():
        yield line[end:]
