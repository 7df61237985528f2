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
from dataclasses import dataclass

from tournament.errors import UsageError

MOST_CHARACTERS = 10_000
MOST_DEPTH = 60
MOST_LEVEL = 50

_TOKEN = re.compile(r"""\s*(<->|->|==|!=|[(),=]|-?\d+|[^\W\d]\w*|"[^"\n]*"|'[^'\n]*')""")
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

    def __str__(self) -> str:
        return "true" if self.value else "false"


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

    def __str__(self) -> str:
        return f"{self.program}({self.against}) == {self.move}"


@dataclass(frozen=True)
class Not:
    """The statement that another statement does not hold."""

    body: "Statement"

    def __str__(self) -> str:
        return f"not {_wrapped(self.body)}"


@dataclass(frozen=True)
class Joined:
    """Two statements joined by `and`, `or`, `->` or `<->`."""

    operator: str
    left: "Statement"
    right: "Statement"

    def __str__(self) -> str:
        return f"{_wrapped(self.left)} {self.operator} {_wrapped(self.right)}"


@dataclass(frozen=True)
class Provable:
    """The statement that another statement is provable in Peano arithmetic."""

    body: "Statement"

    def __str__(self) -> str:
        return f"proves({self.body})"


Statement = Constant | Plays | Not | Joined | Provable
IsProvable = Callable[[Statement], bool]
"""Answers whether a statement is provable."""
FALSE = Constant(False)


def size(statement: Statement) -> int:
    """Return the number of statements within a statement, counting the statement itself."""
    parts = [part for part in vars(statement).values() if isinstance(part, Statement)]
    return 1 + sum(map(size, parts))


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
    if isinstance(statement, Not):
        return Not(substitute(statement.body, resolve))
    if isinstance(statement, Provable):
        return Provable(substitute(statement.body, resolve))
    if isinstance(statement, Joined):
        left, right = (substitute(part, resolve) for part in (statement.left, statement.right))
        return Joined(statement.operator, left, right)
    return statement


def evaluate(
    statement: Statement,
    plays: Callable[[Plays], bool | None],
    provable: Callable[[Statement], bool],
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
        value = evaluate(statement.body, plays, provable)
        return None if value is None else not value
    left = evaluate(statement.left, plays, provable)
    right = evaluate(statement.right, plays, provable)
    return _joined(statement.operator, left, right)


def _joined(operator: str, left: bool | None, right: bool | None) -> bool | None:
    if operator == "<->":
        return None if left is None or right is None else left == right
    if operator == "and":
        return False if left is False or right is False else _both(left, right)
    if operator == "->":
        left = None if left is None else not left
    return True if left is True or right is True else _either(left, right)


def _both(left: bool | None, right: bool | None) -> bool | None:
    return None if left is None or right is None else left and right


def _either(left: bool | None, right: bool | None) -> bool | None:
    return None if left is None or right is None else left or right


def _wrapped(statement: Statement) -> str:
    """Return the statement as text, in parentheses if it is two statements joined by an operator."""
    return f"({statement})" if isinstance(statement, Joined) else str(statement)


def parse(text: str) -> Statement:
    """Return the statement that a text is. Raises `StatementError` if it is not a statement."""
    if len(text) > MOST_CHARACTERS:
        raise StatementError(
            MOST_CHARACTERS + 1, f"the end: at most {MOST_CHARACTERS:,} characters are read"
        )
    parser = _Parser(text)
    statement = parser.statement(0)
    if parser.token is not None:
        parser.fail("an operator, or the end")
    return statement


class _Parser:
    """A recursive-descent parser with one method per rule of the grammar.

    `token` is the next word of the text, or None at the end. `start` and `stop` are the indices of its first character
    and of the one behind its last. All errors are raised as `StatementError`.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = self.stop = 0
        self.token: str | None = None
        self.advance()

    def advance(self) -> str | None:
        """Go on to the next token, and return the one before it."""
        token, self.start = self.token, self.stop
        found = _TOKEN.match(self.text, self.stop)
        if found:
            self.token, self.start, self.stop = found.group(1), found.start(1), found.end()
        elif self.text[self.stop :].strip():
            self.start += len(self.text[self.stop :]) - len(self.text[self.stop :].lstrip())
            self.fail("a name, an operator or a parenthesis")
        else:
            self.token = None
        return token

    def fail(self, expected: str) -> None:
        raise StatementError(self.start + 1, expected)

    def take(self, token: str) -> None:
        """Go past the next token, which must be this one."""
        if self.token != token:
            self.fail(f"{token!r}")
        self.advance()

    def statement(self, depth: int) -> Statement:
        if depth > MOST_DEPTH:
            self.fail(f"no more than {MOST_DEPTH} levels of nesting")
        left = self.implication(depth)
        while self.token == "<->":
            self.advance()
            left = Joined("<->", left, self.implication(depth + 1))
        return left

    def implication(self, depth: int) -> Statement:
        left = self.disjunction(depth)
        if self.token != "->":
            return left
        if depth > MOST_DEPTH:
            self.fail(f"no more than {MOST_DEPTH} levels of nesting")
        self.advance()
        return Joined("->", left, self.implication(depth + 1))

    def disjunction(self, depth: int) -> Statement:
        return self._chain("or", lambda: self._chain("and", lambda: self.negation(depth)))

    def _chain(self, operator: str, part: Callable[[], Statement]) -> Statement:
        """Read one or more parts that are joined by the same operator, and group them to the left."""
        parts = [part()]
        while self.token == operator:
            self.advance()
            if len(parts) > MOST_DEPTH:
                self.fail(f"no more than {MOST_DEPTH} parts joined by {operator!r}")
            parts.append(part())
        joined = parts[0]
        for right in parts[1:]:
            joined = Joined(operator, joined, right)
        return joined

    def negation(self, depth: int) -> Statement:
        negations = 0
        while self.token == "not":
            self.advance()
            negations += 1
            if negations > MOST_DEPTH:
                self.fail(f"no more than {MOST_DEPTH} times 'not'")
        body = self.primary(depth)
        for _ in range(negations):
            body = Not(body)
        return body

    def primary(self, depth: int) -> Statement:
        if self.token == "(":
            self.advance()
            body = self.statement(depth + 1)
            self.take(")")
            return body
        if self.token in ("true", "false"):
            return Constant(self.advance() == "true")
        if self.token == "proves":
            return self.provable(depth)
        return self.plays()

    def provable(self, depth: int) -> Statement:
        self.advance()
        self.take("(")
        body = self.statement(depth + 1)
        level = 0
        if self.token == ",":
            self.advance()
            if self.token == "level":
                self.advance()
                self.take("=")
            level = self.level()
        self.take(")")
        return Provable(at_level(body, level))

    def level(self) -> int:
        if self.token is None or not self.token.isdigit() or int(self.token) > MOST_LEVEL:
            self.fail(f"a level from 0 to {MOST_LEVEL}")
        return int(self.advance() or 0)

    def plays(self) -> Statement:
        program = self.name("a statement, such as them(me) == C")
        self.take("(")
        against = self.name("a program: me, them or one of the library")
        self.take(")")
        if self.token not in ("==", "!="):
            self.fail("'==' or '!='")
        equal = self.advance() == "=="
        statement = Plays(program, against, self.move())
        return statement if equal else Not(statement)

    def name(self, expected: str) -> str:
        token = self.token
        if token is None or not (token[0].isalpha() or token[0] == "_") or token in _WORDS:
            self.fail(expected)
        return self.advance() or ""

    def move(self) -> str:
        if self.token is None or not (self.token[0].isalnum() or self.token[0] in "_'\"-"):
            self.fail("a move")
        return (self.advance() or "").strip("'\"")
