"""What a bot did wrong, as data: nothing here runs code of the bot's without a guard around it."""

import collections
import linecache
import traceback

from powers import Failure

MOST_TEXT = 4000
MOST_LINE = 1000
MOST_READ = 1 << 19
"""Characters of an exception's own text: a syntax error has a line of the source in it."""
MOST_FRAMES = 20
FILE = "bot.py"
_PLAIN = (str, bytes, int, float, bool, type(None), complex)


def remember(source):
    """Let tracebacks show lines of this source."""
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)


def raised(kind, error, printed):
    """The fault of an exception: kind, message, the bot's own traceback, and what it had printed."""
    if issubclass(type(error), MemoryError):
        kind = "memory"
    return [kind, *_told(error), printed]


def illegal(value, legal, printed):
    """The fault of a move that is not one of the legal ones."""
    message = f"moved {_shown(value)}; legal are {', '.join(map(repr, legal))}"
    return ["illegal", message, "", printed]


def _told(error):
    """An exception's message and traceback as text, whatever the bot made of its exceptions."""
    try:
        text = "".join(traceback.format_exception_only(error))[:MOST_READ]
        lines = [line[:MOST_LINE] for line in text.splitlines()]
        message = next(line for line in lines if not line.startswith(" "))
        frames = collections.deque(_own_frames(error.__traceback__), MOST_FRAMES)
        text = "".join(map(_frame, frames)) + "\n".join(lines)
        return message, text[-MOST_TEXT:]
    except BaseException:
        return "an exception that cannot be shown", ""


def _own_frames(trace):
    """The entries of a traceback that are the bot's."""
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            yield trace
        trace = trace.tb_next


def _frame(trace):
    number, function = trace.tb_lineno, trace.tb_frame.f_code.co_name
    line = linecache.getline(FILE, number).strip()[:200]
    return f'  File "{FILE}", line {number}, in {function}\n    {line}\n'


def _shown(value):
    """A returned value as short text, without running any code of the bot's."""
    kind = type(value)
    if kind is Failure:
        return value.name
    if kind is str or kind is bytes:
        value = value[:80]
    if kind is int and value.bit_length() > 256:
        return "a very large int"
    if any(kind is plain for plain in _PLAIN):
        return f"{value!r} ({kind.__name__})"
    return f"an object of type {_name(kind)[:80]}"


_name = vars(type)["__name__"].__get__
