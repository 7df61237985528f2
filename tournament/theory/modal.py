"""Modal agents, decided by provability logic: who cooperates with whom, without running a program.

A modal agent cooperates if and only if its formula is true, and the formula speaks of what can be
proved (M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma: Program Equilibrium via
Provability Logic", arXiv:1401.5577, 2014, section 4):

    T, F            true, false
    a, b            I cooperate with my opponent, it cooperates with me
    them(X)         my opponent cooperates with my helper X
    ~p, []p         p is false, p is provable in Peano arithmetic
    [k]p            p is provable with consistency assumed k < 100 times over: [](~[]..[]F -> p)
    <>p, <k>p       ~[]~p, ~[k]~p
    p && q, p || q, p -> q, p <-> q     from the tightest to the loosest; all group to the right
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
TOKEN = re.compile(r"&&|\|\||<->|->|\[\d*\]|<\d*>|them\(\w+\)|\w+|\S|\Z", re.ASCII)
LONGEST = 120


class FormulaError(UsageError):
    """A text is no formula; `position` is the number of characters before the trouble."""

    def __init__(self, text: str, position: int, problem: str) -> None:
        super().__init__(f"formula {text!r} at character {position + 1}: {problem}")
        self.position = position


@dataclass(frozen=True)
class Formula:
    """A sign and its parts: two for `&& || -> <->`, one for `~ [] <>`, none for `T F` and atoms."""

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
        """This formula as text, in parentheses if its connective is looser than that."""
        return f"({self})" if TIGHTNESS.get(self.sign, PREFIX) < tightness else str(self)

    @property
    def modalised(self) -> bool:
        """Whether every atom stands under a box."""
        return self.sign in MODAL or (self.sign in TRUTH and all(p.modalised for p in self.parts))

    @property
    def depth(self) -> int:
        """How many boxes stand within each other, with every `[k]` written out."""
        deepest = max((part.depth for part in self.parts), default=0)
        return 1 + max(self.level, deepest) if self.sign in MODAL else deepest

    def within(self) -> Iterator["Formula"]:
        """This formula and every formula in it."""
        yield self
        for part in self.parts:
            yield from part.within()

    def atoms(self) -> set[str]:
        """The atoms in this formula."""
        return {part.sign for part in self.within()} - TRUTH.keys() - MODAL.keys()

    def renamed(self, names: Mapping[str, str]) -> "Formula":
        """This formula with other names for its atoms."""
        parts = tuple(part.renamed(names) for part in self.parts)
        return Formula(names.get(self.sign, self.sign), parts, self.level)

    def holds(self, known: Mapping["Formula", bool]) -> bool:
        """Whether this formula is true, given which atoms and boxes are."""
        if self in known:
            return known[self]
        return TRUTH[self.sign](*(part.holds(known) for part in self.parts))


def parse(text: str) -> Formula:
    """The formula that the text is; `FormulaError` if it is none."""
    tokens = [*TOKEN.finditer(text)][::-1]
    if len(tokens) > LONGEST:
        raise FormulaError(text, tokens[-LONGEST].start(), f"more than {LONGEST} signs")
    formula = _formula(tokens)
    _take(tokens, "", "a connective or the end")
    return formula


def _formula(tokens: list[re.Match[str]], tightness: int = 0) -> Formula:
    """The longest formula whose connectives are at least so tight."""
    left = _operand(tokens)
    while TIGHTNESS.get(sign := tokens[-1][0], -1) >= tightness:
        tokens.pop()
        left = Formula(sign, (left, _formula(tokens, TIGHTNESS[sign])))
    return left


def _operand(tokens: list[re.Match[str]]) -> Formula:
    token = _take(tokens, r"[TFab(~]|\[\d{0,2}\]|<\d{0,2}>|them\(.+", "a formula")
    if token == "(":
        inner = _formula(tokens)
        _take(tokens, r"\)", "a connective or ')'")
        return inner
    if token[0] in "~[<":
        return Formula(re.sub(r"\d", "", token), (_operand(tokens),), int(token[1:-1] or 0))
    return Formula(token)


def _take(tokens: list[re.Match[str]], pattern: str, what: str) -> str:
    """The next token, which must match the pattern; the end of the text is an empty one."""
    token = tokens[-1]
    if not re.fullmatch(pattern, token[0]):
        found = repr(token[0]) if token[0] else "the end"
        raise FormulaError(token.string, token.start(), f"expected {what}, found {found}")
    return tokens.pop()[0]


@dataclass(frozen=True)
class Agent:
    """Cooperates if and only if its formula is true; the formula may name the helpers."""

    name: str
    formula: Formula
    helpers: tuple["Agent", ...] = ()

    def __post_init__(self) -> None:
        if not self.formula.modalised:
            raise UsageError(f"{self.name}: an atom of {self.formula} stands under no box")
        for atom in sorted(self.formula.atoms() - self.meant(self).keys()):
            raise NotFound("atom", atom, list(self.meant(self)))

    def meant(self, them: "Agent") -> dict[str, tuple["Agent", "Agent"]]:
        """For every atom who plays whom in it, when this agent meets `them`."""
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


def _named(name: str) -> Agent:
    formula = parse(FORMULAS[name])
    helpers = (atom[len("them(") : -1] for atom in sorted(formula.atoms() - {"a", "b"}))
    return Agent(name, formula, tuple(map(_named, helpers)))


AGENTS = {name: _named(name) for name in FORMULAS}
"""Cooperate, Defect, Fair, Prudent, Just, Troll and WaitFair: Barasz et al., sections 2 to 5; other
levels, Nice, Magic, ReverseFair and ToughButFair: klao/provability, 2013; Hobson: D. Hobson, "Yet
more modal combat", 2021; the rest: A. Critch, M. Dennis, S. Russell, arXiv:2208.07006, 2022."""


def competition(x: Agent, y: Agent) -> dict[str, Formula]:
    """The equations `P(Q) <-> formula` of x(y), y(x) and all that these two depend on."""
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
    """Which atoms are true at the worlds 0, 1, 2, ... for ever; a box sees all worlds below it."""
    boxes = {part for body in equations.values() for part in body.within() if part.sign in MODAL}
    below: dict[Formula, list[bool]] = {box: [] for box in boxes}
    while True:
        # A box of level k passes over the worlds below k: []..[]F is true there and only there.
        known = {box: MODAL[box.sign](below[box][box.level :]) for box in boxes}
        row = {atom: formula.holds(known) for atom, formula in equations.items()}
        yield row
        known |= {Formula(atom): value for atom, value in row.items()}
        for box in boxes:
            below[box].append(box.parts[0].holds(known))


def trace(x: Agent, y: Agent, worlds: int | None = None) -> dict[str, str]:
    """What is played at the worlds 0, 1, 2, ...: a word of C and D for every `P(Q)` that matters.

    As many as asked for. If none are asked for, until one row has come once more than boxes stand
    within each other: all rows after it are the same, and are what is really played.
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
    """The moves of the two: `CD` if x cooperates with y and y defects against x."""
    moves = trace(x, y)
    return moves[f"{x.name}({y.name})"][-1] + moves[f"{y.name}({x.name})"][-1]
