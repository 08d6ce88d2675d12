"""Parser of mixed-effects formulas in lme4's notation: `y ~ log(x) + f * g + (x | g) + (1 | h)`.

    model    := variable "~" part ( ("+" | "-") part )*
    part     := product | "(" sum bar group ")"         bar: "|", or "||" for effects without correlations
    sum      := product ( ("+" | "-") product )*
    product  := crossed ( "*" crossed )*                a * b is a + b + a:b
    crossed  := atom ( ":" atom )*
    atom     := variable | "0" | "1" | "(" sum ")"
    variable := column | function "(" column ")"        function: log log2 log10 exp sqrt
    group    := column ( ":" column )*  |  column ( "/" column )*

A column whose name isn't a plain word is enclosed in backticks. `0` or `- 1` removes the intercept, `- a:b` removes a
term. The notation is that of R (Chambers & Hastie 1992) and lme4 (Bates et al. 2015, section 2.2), except for `^`,
`%in%` and `I()`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from syntagm.core import FormulaError


@dataclass(frozen=True, slots=True)
class Variable:
    """A column, optionally with a function applied."""

    column: str
    function: str = ""

    def __str__(self) -> str:
        return f"{self.function}({self.column})" if self.function else self.column


Term: TypeAlias = tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of terms, with or without an intercept. Terms are sorted by order, and variables by first mention, as in R."""

    intercept: bool
    terms: tuple[Term, ...]

    def __str__(self) -> str:
        return " + ".join([str(int(self.intercept)), *(":".join(map(str, term)) for term in self.terms)])


@dataclass(frozen=True, slots=True)
class Bar:
    """A random term: correlated effects that vary between the levels of crossed columns."""

    effects: Sum
    group: tuple[str, ...]

    def __str__(self) -> str:
        return f"({self.effects} | {':'.join(self.group)})"


@dataclass(frozen=True, slots=True)
class Model:
    """A parsed model formula."""

    text: str
    response: Variable
    fixed: Sum
    bars: tuple[Bar, ...]

    def __str__(self) -> str:
        return " + ".join([f"{self.response} ~ {self.fixed}", *map(str, self.bars)])


def joined(left: Term, right: Term) -> Term:
    """Return the interaction of two terms, with each variable included once."""
    return tuple(dict.fromkeys(left + right))


def ordered(intercept: bool, terms: Sequence[Term]) -> Sum:
    """Sort terms: main effects before interactions, and variables of an interaction in the order of first mention."""
    order = {variable: None for term in terms for variable in term}
    mention = {variable: number for number, variable in enumerate(order)}
    inner = [tuple(sorted(term, key=mention.__getitem__)) for term in terms]
    return Sum(intercept, tuple(sorted(inner, key=len)))


def apart(effects: Sum) -> list[Sum]:
    """Split a random term into uncorrelated effects: `(1 + x || g)` becomes `(1 | g) + (0 + x | g)`."""
    return [Sum(True, ())] * effects.intercept + [Sum(False, (term,)) for term in effects.terms]


MAX_LENGTH = 4096
MAX_DEPTH = 32
MAX_TERMS = 128
FUNCTIONS = ("log", "log2", "log10", "exp", "sqrt")


def parse(text: str) -> Model:
    """Parse a model formula.

    Raises:
        FormulaError: the formula can't be parsed; the message points to the place and gives what was expected.

    >>> str(parse("score ~ log(size) * family + (log(size) || suite) + (1 | family/seed)"))
    'score ~ 1 + log(size) + family + log(size):family + (1 | suite) + (0 + log(size) | suite) + (1 | family) + (1 | family:seed)'
    """
    return _Parser(text).model()


_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[^\W\d][\w.]*|\.[\w.]*|`[^`\n]+`")
_NUMBER = re.compile(r"\d+(\.\d*)?")
_FOREIGN = {
    "^": "Write out the products: (a + b)^2 is a * b.",
    "%": "Nested groups are written (1 | outer/inner).",
    "~": "A formula has one ~, between the response and the predictors.",
    "=": "The response is followed by ~.",
    "|": "A random term is enclosed in brackets and joined by +: ... + (x | group).",
    "/": "Only groups nest by `/`; in the fixed part write a + a:b.",
    "-": "To change a sign, add a column with the opposite sign to the table.",
}
_Terms: TypeAlias = list[Term]


class _Parser:
    """A recursive-descent parser that limits depth and number of terms."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.bars: list[Bar] = []

    def model(self) -> Model:
        if len(self.text) > MAX_LENGTH:
            self.fail(MAX_LENGTH, f"a formula of {len(self.text)} characters", f"at most {MAX_LENGTH}")
        response = self.variable("the response")
        if not self.take("~"):
            cure = _FOREIGN.get(self.text[self.at : self.at + 1], "For example: score ~ size + (1 | suite).")
            self.fail(self.at, self.found(), "~ after the response", cure)
        fixed = self.sum(top=True)
        if self.skip() < len(self.text):
            self.fail(self.at, self.found(), "+ or - or the end", _FOREIGN.get(self.text[self.at], ""))
        if any(response in term for term in fixed.terms):
            self.fail(0, f"the response {response} among the predictors", "other columns")
        return Model(self.text, response, fixed, tuple(self.bars))

    def sum(self, top: bool = False) -> Sum:
        intercept, terms = True, dict[frozenset[Variable], Term]()
        sign = "-" if self.take("-") else "+"
        while True:
            start = self.skip()
            if (constant := self.constant()) is not None:
                intercept = constant if sign == "+" else not constant
            elif not (top and self.random(sign)):
                for term in self.product():
                    if sign == "+":
                        terms.setdefault(frozenset(term), term)
                    elif terms.pop(frozenset(term), None) is None:
                        self.fail(start, "removal of a term that the formula doesn't have", "an earlier term")
                self.limit(start, len(terms))
            if self.take("+"):
                sign = "+"
            elif self.take("-"):
                sign = "-"
            else:
                return ordered(intercept, [*terms.values()])

    def constant(self) -> bool | None:
        """Parse 1 or 0 as a part of a sum."""
        if not (number := _NUMBER.match(self.text, self.at)):
            return None
        if number[0] not in ("0", "1"):
            self.fail(self.at, number[0], "0, 1 or a column", "Backticks enclose column names that begin with a digit.")
        self.at = number.end()
        if (after := self.text[self.skip() : self.at + 1]) in (":", "*") and after:
            self.fail(self.at, f"{after!r} after the intercept", "+ or - or the end")
        return number[0] == "1"

    def random(self, sign: str) -> bool:
        """Parse a random term, if there is one at the current position, and add it to `bars`."""
        start = self.at
        if not self.take("("):
            return False
        effects = self.sum()
        if self.text[self.skip() : self.at + 1] != "|":
            self.at = start
            return False
        if sign == "-":
            self.fail(start, "a random term after -", "+", "Remove the term from the formula.")
        independent = self.take("||") or not self.take("|")
        for group in self.group():
            bars = [Bar(part, group) for part in (apart(effects) if independent else [effects])]
            self.bars += bars
        self.limit(start, len(self.bars))
        if not effects.intercept and not effects.terms:
            self.fail(start, "a random term without an effect", "for example (1 | group)")
        self.close(start)
        return True

    def group(self) -> list[tuple[str, ...]]:
        columns, between = [self.column("a column that groups")], ""
        while (operator := self.text[self.skip() : self.at + 1]) in (":", "/") and operator:
            if between and operator != between:
                self.fail(self.at, "`:` beside `/`", "one of the two", "Write a separate random term for each.")
            between, self.at = operator, self.at + 1
            columns.append(self.column("a column that groups"))
        if len(set(columns)) < len(columns):
            self.fail(self.at, "the same column twice in one group", "different columns")
        if between == "/":
            return [tuple(columns[: n + 1]) for n in range(len(columns))]
        return [tuple(columns)]

    def product(self) -> _Terms:
        start = self.at
        terms = self.crossed()
        while self.take("*"):
            others = self.crossed()
            self.limit(start, len(terms) + len(others) + len(terms) * len(others))
            terms = terms + others + [joined(left, right) for left in terms for right in others]
        return terms

    def crossed(self) -> _Terms:
        start = self.skip()
        terms = self.atom()
        while self.take(":"):
            others = self.atom()
            self.limit(start, len(terms) * len(others))
            terms = [joined(left, right) for left in terms for right in others]
        return terms

    def atom(self) -> _Terms:
        start = self.skip()
        if not self.take("("):
            return [(self.variable("a column, a function of one, or an opening bracket"),)]
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(start, f"brackets nested more than {MAX_DEPTH} deep", "fewer")
        inner = self.sum()
        if self.text[self.skip() : self.at + 1] == "|":
            self.fail(start, "a random term inside another part", "random terms joined by +")
        if not inner.intercept:
            self.fail(start, "removal of the intercept inside brackets", "0 or - 1 outside them")
        self.close(start)
        self.depth -= 1
        return list(inner.terms)

    def variable(self, expected: str) -> Variable:
        start = self.skip()
        name = self.column(expected)
        if not self.take("("):
            return Variable(name)
        if name not in FUNCTIONS or self.text[start] == "`":
            cure = "Add a computed column to the table, and use it in the formula."
            self.fail(start, f"the function {name}", f"one of {', '.join(FUNCTIONS)}", cure)
        inner = Variable(self.column(f"a column inside {name}()"), name)
        self.close(start)
        return inner

    def column(self, expected: str) -> str:
        match = _NAME.match(self.text, self.skip())
        if not match:
            self.fail(self.at, self.found(), expected, _FOREIGN.get(self.text[self.at : self.at + 1], ""))
        self.at = match.end()
        return match[0].strip("`")

    def close(self, start: int) -> None:
        if not self.take(")"):
            cure = _FOREIGN.get(self.text[self.at : self.at + 1], "")
            self.fail(self.at, self.found(), f"')', to close character {start + 1}", cure)

    def take(self, symbol: str) -> bool:
        present = self.text.startswith(symbol, self.skip())
        self.at += len(symbol) if present else 0
        return present

    def skip(self) -> int:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def found(self) -> str:
        return repr(self.text[self.at]) if self.at < len(self.text) else "the end"

    def limit(self, start: int, terms: int) -> None:
        if terms > MAX_TERMS:
            self.fail(start, f"more than {MAX_TERMS} terms", "fewer")

    def fail(self, at: int, found: str, expected: str, cure: str = "") -> NoReturn:
        first = max(0, at - 60)
        window = re.sub(r"\s", " ", self.text[first : at + 60])
        raise FormulaError(
            f"model formula, character {at + 1}", found, expected, f"{cure}\n  {window}\n  {' ' * (at - first)}^"
        )
