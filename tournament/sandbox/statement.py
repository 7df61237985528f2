"""The language of `proves`: statements about what programs play against each other.

    statement  = implication ("<->" implication)*
    implication = disjunction ["->" implication]
    disjunction = conjunction ("or" conjunction)*
    conjunction = negation ("and" negation)*
    negation   = "not" negation | primary
    primary    = "(" statement ")" | "true" | "false" | "proves" "(" statement ["," ["level" "="] N] ")"
               | NAME "(" NAME ")" ("==" | "!=") MOVE

NAME is `me`, `them` or the name of a library program. MOVE is a word, a number, or any text in quotes. Statements are
written by bots, so their length and depth are limited, and every error says where it is and what was expected there.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast

from tournament.errors import UsageError

MOST_CHARACTERS = 10_000
MOST_DEPTH = 60
MOST_LEVEL = 50

_TOKEN = re.compile(r"""\s*(?:(<->|->|==|!=|[(),=]|-?\d+|[^\W\d]\w*|"[^"\n]*"|'[^'\n]*')|(\S))""")
"""A token in the first group, or in the second one a character with which no token begins."""
_WORDS = frozenset({"and", "or", "not", "true", "false", "proves"})


class StatementError(UsageError):
    """Raised for a text that is not a statement.

    The message says at which character the error is (counted from 1; also in `position`) and what was expected there.
    """

    def __init__(self, position: int, expected: str) -> None:
        super().__init__(f"character {position}: expected {expected}")
        self.position = position


@dataclass(frozen=True)
class Constant:
    """The statement that is always true, or the one that is always false."""

    value: bool


@dataclass(frozen=True)
class Plays:
    """The statement that one program makes a certain move against another.

    After parsing, the programs are names as written; after `substitute`, they are digests and `seat` is the seat of
    the first program.
    """

    program: str
    against: str
    move: str
    seat: int = 0


@dataclass(frozen=True)
class Not:
    """The statement that another statement does not hold."""

    body: "Statement"


@dataclass(frozen=True)
class Joined:
    """Two statements joined by `and`, `or`, `->` or `<->`."""

    operator: str
    left: "Statement"
    right: "Statement"


@dataclass(frozen=True)
class Provable:
    """The statement that another statement is provable in Peano arithmetic."""

    body: "Statement"


Statement = Constant | Plays | Not | Joined | Provable
IsProvable = Callable[[Statement], bool]
"""Answers whether a statement is provable."""
FALSE = Constant(False)


def size(statement: Statement) -> int:
    """Return the number of statements within a statement, counting the statement itself."""
    return 1 + sum(map(size, _parts(statement).values()))


def _parts(statement: Statement) -> dict[str, Any]:
    """Return the statements that a statement consists of, by the names of its fields."""
    return {name: part for name, part in vars(statement).items() if isinstance(part, Statement)}


def at_level(body: Statement, level: int) -> Statement:
    """Return the statement that Peano arithmetic (PA) proves exactly if PA+level proves `body`.

    PA+k is PA with k assumptions of consistency. It proves s if and only if PA proves
    `not proves^k(false) -> s` (Barasz et al. 2014, section 2).
    """
    if level == 0:
        return body
    inconsistent: Statement = FALSE
    for _ in range(level):
        inconsistent = Provable(inconsistent)
    return Joined("->", Not(inconsistent), body)


def substitute(statement: Statement, resolve: Callable[[Plays], Plays]) -> Statement:
    """Return the statement with every `Plays` in it replaced by what `resolve` returns for it.

    `resolve` raises `UsageError` for a name that it does not know.
    """
    if isinstance(statement, Plays):
        return resolve(statement)
    parts = {name: substitute(part, resolve) for name, part in _parts(statement).items()}
    replaced: Statement = replace(cast(Any, statement), **parts)
    return replaced


def evaluate(
    statement: Statement,
    plays: Callable[[Plays], bool | None],
    provable: IsProvable,
) -> bool | None:
    """Whether the statement holds, given which moves the programs make and which statements are provable.

    It is None if the answer depends on a program without a provable move (Kleene's three-valued logic).
    """
    if isinstance(statement, Constant):
        return statement.value
    if isinstance(statement, Plays):
        return plays(statement)
    if isinstance(statement, Provable):
        return provable(statement.body)
    if isinstance(statement, Not):
        return _joined("->", evaluate(statement.body, plays, provable), False)
    left = evaluate(statement.left, plays, provable)
    right = evaluate(statement.right, plays, provable)
    return _joined(statement.operator, left, right)


def _joined(operator: str, left: bool | None, right: bool | None) -> bool | None:
    if operator == "<->":
        return None if None in (left, right) else left == right
    if operator == "->":
        left = None if left is None else not left
    decisive = operator != "and"
    if decisive in (left, right):
        return decisive
    return None if None in (left, right) else not decisive


def parse(text: str) -> Statement:
    """Return the statement that a text is. Raises `StatementError` if it is not a statement."""
    if len(text) > MOST_CHARACTERS:
        raise StatementError(
            MOST_CHARACTERS + 1, f"the end: at most {MOST_CHARACTERS:,} characters are read"
        )
    parser = _Parser(text)
    statement = parser.statement(0)
    if parser.token:
        parser.fail("an operator, or the end")
    return statement


class _Parser:
    """A recursive-descent parser with one method per rule of the grammar. All errors are `StatementError`.

    `token` is the next token of the text, and empty at the end. `start` and `stop` are the indices of its first
    character and of the one behind its last.
    """

    def __init__(self, text: str) -> None:
        self.matches = _TOKEN.finditer(text)
        self.token = ""
        self.start = self.stop = 0
        self.advance()

    def advance(self) -> str:
        """Go on to the next token, and return the one before it."""
        token, self.token, self.start = self.token, "", self.stop
        if match := next(self.matches, None):
            self.start, self.stop = match.span(match.lastindex or 0)
            if match[1] is None:
                self.fail("a name, an operator or a parenthesis")
            self.token = match[1]
        return token

    def fail(self, expected: str) -> NoReturn:
        raise StatementError(self.start + 1, expected)

    def take(self, token: str) -> None:
        """Go past the next token, which must be this one."""
        if not self.accept(token):
            self.fail(f"{token!r}")

    def accept(self, token: str) -> bool:
        """Go past the next token if it is this one, and return whether it is."""
        found = self.token == token
        if found:
            self.advance()
        return found

    def check_depth(self, depth: int) -> None:
        if depth > MOST_DEPTH:
            self.fail(f"no more than {MOST_DEPTH} levels of nesting")

    def statement(self, depth: int) -> Statement:
        self.check_depth(depth)
        left = self.implication(depth)
        while self.accept("<->"):
            left = Joined("<->", left, self.implication(depth + 1))
        return left

    def implication(self, depth: int) -> Statement:
        left = self.chain("or", lambda: self.chain("and", lambda: self.negation(depth)))
        if self.token != "->":
            return left
        self.check_depth(depth)
        self.advance()
        return Joined("->", left, self.implication(depth + 1))

    def chain(self, operator: str, part: Callable[[], Statement]) -> Statement:
        """Read one or more parts that are joined by the same operator, and group them to the left."""
        joined, count = part(), 1
        while self.accept(operator):
            if count > MOST_DEPTH:
                self.fail(f"no more than {MOST_DEPTH} parts joined by {operator!r}")
            joined, count = Joined(operator, joined, part()), count + 1
        return joined

    def negation(self, depth: int) -> Statement:
        negations = 0
        while self.accept("not"):
            negations += 1
            if negations > MOST_DEPTH:
                self.fail(f"no more than {MOST_DEPTH} times 'not'")
        body = self.primary(depth)
        for _ in range(negations):
            body = Not(body)
        return body

    def primary(self, depth: int) -> Statement:
        if self.accept("("):
            body = self.statement(depth + 1)
            self.take(")")
            return body
        if self.token in ("true", "false"):
            return Constant(self.advance() == "true")
        return self.provable(depth) if self.accept("proves") else self.plays()

    def provable(self, depth: int) -> Statement:
        self.take("(")
        body = self.statement(depth + 1)
        if self.accept(","):
            if self.accept("level"):
                self.take("=")
            body = at_level(body, self.level())
        self.take(")")
        return Provable(body)

    def level(self) -> int:
        try:
            level = int(self.token)
        except ValueError:  # not a number, or one with thousands of digits
            level = -1
        if not 0 <= level <= MOST_LEVEL:
            self.fail(f"a level from 0 to {MOST_LEVEL}")
        self.advance()
        return level

    def plays(self) -> Statement:
        program = self.name("a statement, such as them(me) == C")
        self.take("(")
        against = self.name("a program: me, them or one of the library")
        self.take(")")
        if self.token not in ("==", "!="):
            self.fail("'==' or '!='")
        equal = self.advance() == "=="
        if not (self.token[:1].isalnum() or self.token.startswith(("_", "'", '"', "-"))):
            self.fail("a move")
        statement = Plays(program, against, self.advance().strip("'\""))
        return statement if equal else Not(statement)

    def name(self, expected: str) -> str:
        named = self.token[:1].isalpha() or self.token.startswith("_")
        if not named or self.token in _WORDS:
            self.fail(expected)
        return self.advance()
