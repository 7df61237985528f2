"""Reads the requests that a guest sends to its host.

Nothing in them is trusted, because a bot can make its guest send any text.
"""

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

MOST_TEXT = 256 * 1024
MOST_ROUNDS = 100_000

Named = tuple[str, str]
"""A program: "digest" and its digest, or "text" and a source text that the bot has written itself."""


@dataclass(frozen=True)
class Request:
    """A request for one of two abilities: `simulate`, or `proves`, which sets only `statement` and `level` of its own.

    `here` is the history at which it is made, and `history` the one that it is about. Both hold one text for each
    joint move, with one character for the move of each seat, in seat order. `match` is the position of the match in
    the setup of its instance. `drew` is whether the program that asks has read its private tape.
    """

    ability: str
    match: int
    drew: bool
    here: tuple[str, ...]
    history: tuple[str, ...]
    programs: tuple[Named, ...] = ()
    seat: int = 0
    shared: tuple[str, int] = ("", 0)
    fuel: int | None = None
    rounds: int | None = None
    sample: int = 0
    statement: str = ""
    level: int = 0


def read_request(ability: str, text: str, seats: int) -> Request:
    """Return the request for an ability in a JSON text, for a game with so many seats.

    Raises `ValueError` if the text does not have the form of a request, or a value in it is out of range.
    """
    try:
        asked = json.loads(text)
        here = _history(asked["here"], seats)
        request = partial(Request, ability, _whole(asked["match"]), bool(asked["drew"]), here)
        if "statement" in asked:
            level = _whole(asked["level"])
            return request(here, statement=_text(asked["statement"]), level=level)
        name, position = asked["shared"]
        return request(
            history=_history(asked["history"], seats),
            programs=tuple(_program(each) for each in _exactly(asked["programs"], seats)),
            seat=_whole(asked["seat"], seats - 1),
            shared=(_text(name), _whole(position, 1 << 20)),
            fuel=None if asked["fuel"] is None else _whole(asked["fuel"]),
            rounds=None if asked["rounds"] is None else _whole(asked["rounds"], MOST_ROUNDS),
            sample=_whole(asked["sample"]),
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a request: {error}") from error


def _whole(value: Any, most: int = 1 << 62) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError("not a whole number in range")
    return value


def _text(value: Any) -> str:
    if type(value) is not str or len(value.encode()) > MOST_TEXT:
        raise ValueError("not a text in range")
    return value


def _exactly(values: Any, count: int) -> list[Any]:
    if type(values) is not list or len(values) != count:
        raise ValueError("not a list of the right length")
    return values


def _history(values: Any, seats: int) -> tuple[str, ...]:
    if type(values) is not list or any(type(v) is not str or len(v) != seats for v in values):
        raise ValueError("not a history")
    return tuple(values)


def _program(value: Any) -> Named:
    kind, name = _exactly(value, 2)
    if kind not in ("digest", "text"):
        raise ValueError("neither a digest nor a text")
    return kind, _text(name)
