"""Modal agents: finds out by provability logic which of them cooperate, without running a program.

A modal agent cooperates if and only if its formula is true, and the formula is about what can be
proved (M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma: Program Equilibrium via
Provability Logic", arXiv:1401.5577, 2014, section 4):

    T, F            true, false
    a, b            I cooperate with my opponent, my opponent cooperates with me
    them(X)         my opponent cooperates with my helper X
    ~p, []p         p is false, p is provable in Peano arithmetic
    [k]p            p is provable with consistency assumed k < 100 times over: [](~[]..[]F -> p)
    <>p, <k>p       ~[]~p, ~[k]~p
    p && q, p || q, p -> q, p <-> q     in order of precedence, highest first; all group to the right
"""

import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tournament.errors import NotFound, UsageError

TRUTH: Mapping[str, Callable[..., bool]] = {
    "T": lambda: True,
    "F": lambda: False,
    "~": operator.not_,
    "&&": operator.and_,
    "||": operator.or_,
    "->": operator.le,
    "<->": operator.eq,
}
MODAL: Mapping[str, Callable[[list[bool]], bool]] = {"[]": all, "<>": any}
TIGHTNESS = {"<->": 0, "->": 1, "||": 2, "&&": 3}
PREFIX = 4
"""The precedence of the binary connectives, and of everything else."""
TOKEN = re.compile(r"&&|\|\||<->|->|\[\d*\]|<\d*>|them\(\w+\)|\w+|\S|\Z", re.ASCII)
LONGEST = 120
"""The most tokens that a formula may have, counting the empty one at the end."""


class FormulaError(UsageError):
    """Raised for a text that is not a formula; `position` is the number of characters before the error."""

    def __init__(self, text: str, position: int, problem: str) -> None:
        super().__init__(f"formula {text!r} at character {position + 1}: {problem}")
        self.position = position


@dataclass(frozen=True)
class Formula:
    """A formula, as its outermost sign and the formulas that this sign applies to.

    There are two parts for `&& || -> <->`, one for `~ [] <>`, and none for `T F` and atoms. `level`
    is the k of `[k]` and `<k>`.
    """

    sign: str
    parts: tuple["Formula", ...] = ()
    level: int = 0

    def __str__(self) -> str:
        sign = str(self.level).join(self.sign) if self.level else self.sign
        if len(self.parts) < 2:
            return sign + "".join(part.bracketed(PREFIX) for part in self.parts)
        left, right = self.parts
        tightness = TIGHTNESS[sign]
        return f"{left.bracketed(tightness + 1)} {sign} {right.bracketed(tightness)}"

    def bracketed(self, tightness: int) -> str:
        """Return this formula as text, in parentheses if its precedence is less than `tightness`."""
        return f"({self})" if TIGHTNESS.get(self.sign, PREFIX) < tightness else str(self)

    @property
    def modalised(self) -> bool:
        """Whether every atom is inside a `[]` or `<>`."""
        return self.sign in MODAL or (self.sign in TRUTH and all(p.modalised for p in self.parts))

    @property
    def depth(self) -> int:
        """The deepest nesting of `[]` and `<>` in this formula, with every `[k]` and `<k>` written out."""
        deepest = max((part.depth for part in self.parts), default=0)
        return 1 + max(self.level, deepest) if self.sign in MODAL else deepest

    def within(self) -> Iterator["Formula"]:
        """Yield this formula and every formula in it."""
        yield self
        for part in self.parts:
            yield from part.within()

    def atoms(self) -> set[str]:
        """Return the names of the atoms in this formula."""
        return {part.sign for part in self.within()} - TRUTH.keys() - MODAL.keys()

    def renamed(self, names: Mapping[str, str]) -> "Formula":
        """Return this formula with its atoms renamed; `names` has the new names by old name."""
        parts = tuple(part.renamed(names) for part in self.parts)
        return Formula(names.get(self.sign, self.sign), parts, self.level)

    def holds(self, known: Mapping["Formula", bool]) -> bool:
        """Whether this formula is true.

        `known` says which atoms, and which formulas that begin with `[]` or `<>`, are true.
        """
        if self in known:
            return known[self]
        return TRUTH[self.sign](*(part.holds(known) for part in self.parts))


def parse(text: str) -> Formula:
    """Return the formula that a text is. Raises `FormulaError` if it is not a formula."""
    tokens = [*TOKEN.finditer(text)][::-1]
    if len(tokens) > LONGEST:
        raise FormulaError(text, tokens[-LONGEST].start(), f"more than {LONGEST} signs")
    formula = _formula(tokens)
    _take(tokens, "", "a connective or the end")
    return formula


def _formula(tokens: list[re.Match[str]], tightness: int = 0) -> Formula:
    """Read the longest formula whose connectives have at least this precedence.

    `tokens` is in reverse order, so the next token is the last one of the list.
    """
    left = _operand(tokens)
    while TIGHTNESS.get(sign := tokens[-1][0], -1) >= tightness:
        tokens.pop()
        left = Formula(sign, (left, _formula(tokens, TIGHTNESS[sign])))
    return left


def _operand(tokens: list[re.Match[str]]) -> Formula:
    """Read a formula without a binary connective, unless it is in parentheses."""
    token = _take(tokens, r"[TFab(~]|\[\d{0,2}\]|<\d{0,2}>|them\(.+", "a formula")
    if token == "(":
        inner = _formula(tokens)
        _take(tokens, r"\)", "a connective or ')'")
        return inner
    if token[0] in "~[<":
        return Formula(re.sub(r"\d", "", token), (_operand(tokens),), int(token[1:-1] or 0))
    return Formula(token)


def _take(tokens: list[re.Match[str]], pattern: str, what: str) -> str:
    """Remove and return the next token, which is empty at the end of the text.

    Raises `FormulaError`, which says that `what` was expected, if the token does not match the pattern.
    """
    token = tokens[-1]
    if not re.fullmatch(pattern, token[0]):
        found = repr(token[0]) if token[0] else "the end"
        raise FormulaError(token.string, token.start(), f"expected {what}, found {found}")
    return tokens.pop()[0]


@dataclass(frozen=True)
class Agent:
    """An agent that cooperates if and only if its formula is true. The formula may name the helpers.

    Raises `UsageError` if an atom is outside every `[]` and `<>`, and `NotFound` for an unknown atom.
    """

    name: str
    formula: Formula
    helpers: tuple["Agent", ...] = ()

    def __post_init__(self) -> None:
        if not self.formula.modalised:
            raise UsageError(f"{self.name}: an atom of {self.formula} stands under no box")
        for atom in sorted(self.formula.atoms() - self.meant(self).keys()):
            raise NotFound("atom", atom, list(self.meant(self)))

    def meant(self, them: "Agent") -> dict[str, tuple["Agent", "Agent"]]:
        """Return what each atom is about when this agent meets `them`: which agent plays against which."""
        helped = {f"them({helper.name})": (them, helper) for helper in self.helpers}
        return {"a": (self, them), "b": (them, self), **helped}


FORMULAS = {
    "CooperateBot": "T",
    "DefectBot": "F",
    "FairBot": "[]b",
    "FairBot1": "[1]b",
    "FairBot2": "[2]b",
    "PrudentBot": "[]b && [1]~them(DefectBot)",
    "PrudentBot2": "[]b && [2]~them(DefectBot)",
    "PrudentBot5": "[]b && [5]~them(DefectBot)",
    "ImprudentBot0": "[]b && []~them(DefectBot)",
    "JustBot": "[]them(FairBot)",
    "NiceBot": "[]them(CooperateBot)",
    "TrollBot": "[]them(DefectBot)",
    "MagicBot": "[1]([]a -> b)",
    "WaitFairBot1": "~[]F && [1]b",
    "WaitFairBot2": "~[][]F && [2]b",
    "WaitFairBot3": "~[][][]F && [3]b",
    "ReverseFair": "~[]~b && []b",
    "ToughButFair2": "[]b || <>b && [1]b || <>b && <1>b && [2]b",
    "HobsonBot": "~[]b && [1]b",
    "CUPOD": "~[]~b",
    "CIMCIC": "[](a -> b)",
    "DIMCID": "~[](a -> ~b)",
}
"""The formulas of the agents in `AGENTS`, by name."""


def _named(name: str) -> Agent:
    formula = parse(FORMULAS[name])
    helpers = (atom[len("them(") : -1] for atom in sorted(formula.atoms() - {"a", "b"}))
    return Agent(name, formula, tuple(map(_named, helpers)))


AGENTS = {name: _named(name) for name in FORMULAS}
"""The known agents, by name. Their sources are:

Cooperate, Defect, Fair, Prudent, Just, Troll and WaitFair: Barasz et al., sections 2 to 5. Other
levels, Nice, Magic, ReverseFair and ToughButFair: klao/provability, 2013. Hobson: D. Hobson, "Yet
more modal combat", 2021. The rest: A. Critch, M. Dennis, S. Russell, arXiv:2208.07006, 2022.
"""


def competition(x: Agent, y: Agent) -> dict[str, Formula]:
    """Return the equations that decide what x and y play against each other.

    The result has a formula by name: `P(Q)`, which means that P cooperates with Q, is true if and
    only if its formula is. It has x(y), y(x) and all that these two depend on. Raises `UsageError`
    if different agents have the same name.
    """
    pairs: dict[str, tuple[Agent, Agent]] = {}
    equations: dict[str, Formula] = {}
    needed = [(x, y), (y, x)]
    while needed:
        me, them = pair = needed.pop()
        name = f"{me.name}({them.name})"
        if pairs.setdefault(name, pair) != pair:
            raise UsageError(f"{name} means two things: different agents have one name")
        if name not in equations:
            meant = me.meant(them)
            names = {atom: f"{p.name}({q.name})" for atom, (p, q) in meant.items()}
            equations[name] = me.formula.renamed(names)
            needed += [meant[atom] for atom in me.formula.atoms()]
    return equations


def rows(equations: Mapping[str, Formula]) -> Iterator[dict[str, bool]]:
    """Yield which atoms are true at the worlds 0, 1, 2, ... without end.

    At a world, `[]p` is true if p is true at all worlds below, and `<>p` if p is true at one of them.
    """
    boxes = {part for body in equations.values() for part in body.within() if part.sign in MODAL}
    below: dict[Formula, list[bool]] = {box: [] for box in boxes}
    while True:
        # A box of level k ignores the worlds below k: exactly at these []..[]F is true.
        known = {box: MODAL[box.sign](below[box][box.level :]) for box in boxes}
        row = {atom: formula.holds(known) for atom, formula in equations.items()}
        yield row
        known |= {Formula(atom): value for atom, value in row.items()}
        for box in boxes:
            below[box].append(box.parts[0].holds(known))


def trace(x: Agent, y: Agent, worlds: int | None = None) -> dict[str, str]:
    """Return the moves at the worlds 0, 1, 2, ... as a string of C and D for every `P(Q)` that matters.

    There are `worlds` of them. If `worlds` is None, stop when the moves have been the same at one
    more world in a row than the depth of the formulas: they are the same at all later worlds, and
    are the moves that the agents really make.
    """
    equations = competition(x, y)
    same = 1 + max(formula.depth for formula in equations.values())
    found: list[dict[str, bool]] = []
    for row in itertools.islice(rows(equations), worlds):
        found.append(row)
        if worlds is None and found[-same:] == [row] * same:
            break
    return {atom: "".join("DC"[row[atom]] for row in found) for atom in equations}


def play(x: Agent, y: Agent) -> str:
    """Return the moves of both agents, x first: `CD` if x cooperates with y and y defects against x."""
    moves = trace(x, y)
    return moves[f"{x.name}({y.name})"][-1] + moves[f"{y.name}({x.name})"][-1]
