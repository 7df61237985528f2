"""What a bot did wrong, as data: nothing here runs code of the bot's without a guard around it."""

import linecache
import traceback

MOST_TEXT = 4000
FILE = "bot.py"
_PLAIN = (str, bytes, int, float, bool, type(None), complex)


def remember(source):
    """Let tracebacks show lines of this source."""
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)


def raised(kind, error, printed):
    """The fault of an exception: kind, message, the bot's own traceback, and what it had printed."""
    if isinstance(error, MemoryError):
        kind = "memory"
    return [kind, *_told(error), printed]


def illegal(value, legal, printed):
    """The fault of a move that is not one of the legal ones."""
    return ["illegal", f"moved {_shown(value)}; legal are {', '.join(map(repr, legal))}", "", printed]


def _told(error):
    """An exception's message and traceback as text, whatever the bot made of its exceptions."""
    try:
        text = "".join(traceback.format_exception_only(error)).strip()[:MOST_TEXT]
        frames = "".join(_own_frames(error.__traceback__))
        return text.splitlines()[-1], (frames + text)[-MOST_TEXT:]
    except BaseException:
        return "an exception that cannot be shown", ""


def _own_frames(trace):
    """The frames of a traceback that are the bot's, each with its line of source."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == FILE:
            line = linecache.getline(FILE, trace.tb_lineno).strip()[:200]
            yield f'  File "{FILE}", line {trace.tb_lineno}, in {code.co_name}\n    {line}\n'
        trace = trace.tb_next


def _shown(value):
    """A returned value as short text, without running any code of the bot's."""
    kind = type(value)
    if kind in (str, bytes):
        value = value[:80]
    if kind is int and value.bit_length() > 256:
        return "a very large int"
    if kind in _PLAIN:
        return f"{value!r} ({kind.__name__})"
    return f"an object of type {type.__getattribute__(kind, '__name__')[:80]}"
