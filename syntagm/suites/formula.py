"""The prediction language: formulas are parsed, printed, and evaluated to a margin in bits.

    formula    := comparison ( "&" comparison )*  |  comparison ( "|" comparison )*
    comparison := sum ( "<" | ">" | "=" ) sum
    sum        := atom ( ("+" | "-") atom )*
    atom       := region | number | "(" formula ")" | "[" formula "]"
    region     := "(" ( name | "*" ) ";%" condition "%" ")"

The margin is the number of bits by which a prediction holds. The margin of `a < b` is b - a, that of `a > b` is a - b,
and that of `a = b` is 1e-3 + 1e-5 |b| - |a - b|. `&` takes the smaller of two margins, `|` the larger. The prediction
holds if its margin is above 0; ties are left to the measure. If any value is nan, the margin is nan.

Deliberate differences from SyntaxGym 0.8a1, the source of the grammar (docs/reference/differences.md gives the
reasons):

1.  Square brackets group like round brackets, because the suites published with Hu et al. 2020 use them.
2.  A chained comparison (`1 < 2 < 1`) is refused; SyntaxGym drops all operators but the first.
3.  `&` and `|` mixed without brackets are refused; in SyntaxGym they have the same precedence, left to right.
4.  A formula must be a comparison. A sum of bits as a prediction, a comparison as a summand, and a number joined by `&`
    or `|` are refused; SyntaxGym uses Python's truth values for them.
5.  A region may be given by name or by number. Names of conditions may contain any letter or digit, `_`, `-` and `.`.
6.  `<` and `>` give a margin. A margin within the tolerance is a tie, and a tie counts as a failure.
7.  A comparison with nan is undefined, not False.
8.  Numbers are printed as they were read, not with six decimals. Equal formulas compare equal.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeAlias

from syntagm.core import FormulaError, public

MAX_LENGTH = 4096
MAX_DEPTH = 64
MAX_TERMS = 256
# In bits. No sentence has as many. Sums with larger numbers would overflow, or lose the smaller summand to rounding.
MAX_NUMBER = 1e9

Operator: TypeAlias = Literal["+", "-", "<", ">", "=", "&", "|"]
Value: TypeAlias = Callable[[str, str], Any]


@dataclass(frozen=True, slots=True)
class Reference:
    """The value of one region in one condition; region `*` is the whole sentence."""

    region: str
    condition: str


@dataclass(frozen=True, slots=True)
class Binary:
    operator: Operator
    left: "Node"
    right: "Node"


Node: TypeAlias = Reference | Binary | float


@dataclass(frozen=True, slots=True)
@public(cure="Use syntagm.parse_formula(text).")
class Formula:
    """A parsed prediction. Formulas are equal if their syntax trees are, regardless of brackets and spaces.

    >>> formula = parse("[(5;%a%) > (5;%b%)] & [(6;%a%) < (6;%b%)]")
    >>> formula == parse("((5;%a%)>(5;%b%))&((6;%a%)<(6;%b%))")
    True
    >>> bits = {("5", "a"): 4.0, ("5", "b"): 1.0, ("6", "a"): 2.0, ("6", "b"): 2.5}
    >>> float(formula.margin(lambda region, condition: bits[region, condition]))
    0.5
    """

    text: str = field(compare=False)
    tree: Binary

    def margin(self, value: Value) -> Any:
        """Return the margin in bits: a float, or an array if `value` returns arrays.

        Arguments:
            value: function from region and condition to bits. If any value is nan, the margin is nan.
        """
        return _evaluate(self.tree, value)

    def references(self) -> tuple[Reference, ...]:
        """Return all references to regions in the order of the formula, including repetitions."""
        return tuple(_references(self.tree))

    def comparisons(self) -> tuple["Formula", ...]:
        """Return the comparisons joined by `&` and `|`, in order, each as a formula.

        >>> [str(comparison) for comparison in parse("(1;%a%) < (1;%b%) & [(2;%a%) > 3]").comparisons()]
        ['(1;%a%) < (1;%b%)', '(2;%a%) > 3']
        """
        return tuple(Formula(_print(node), node) for node in _comparisons(self.tree))

    def difference(self, value: Value) -> Any:
        """Return the difference between the two sides of a comparison in bits, positive if `<` or `>` holds.

        The difference is b - a for `a < b`, and a - b for `a > b` and `a = b`.

        Arguments:
            value: as for `margin`. The formula must be a single comparison, as returned by `comparisons`.
        """
        if self.tree.operator == "=":
            return _evaluate(self.tree.left, value) - _evaluate(self.tree.right, value)
        return self.margin(value)

    def terms(self) -> tuple[tuple[int, Reference], ...]:
        """Return the references of a comparison with the sign, 1 or -1, that each has in `difference`.

        >>> [(sign, term.condition) for sign, term in parse("(1;%a%) - (1;%b%) < (1;%c%) - (1;%d%)").terms()]
        [(1, 'c'), (-1, 'd'), (-1, 'a'), (1, 'b')]
        """
        first, second = self.tree.left, self.tree.right
        plus, minus = (second, first) if self.tree.operator == "<" else (first, second)
        return (*_terms(plus, 1), *_terms(minus, -1))

    def __str__(self) -> str:
        return _print(self.tree)


@public(name="parse_formula")
def parse(text: str) -> Formula:
    """Parse a formula.

    Raises:
        FormulaError: the text is not a formula; the message has a caret under the place.

    >>> str(parse("(1;%a%) - 2 < (*;%b%)"))
    '((1;%a%) - 2) < (*;%b%)'
    """
    return Formula(text, _Parser(text).formula())


def parse_at(text: str, place: str) -> Formula:
    try:
        return parse(text)
    except FormulaError as error:
        raise FormulaError(f"{place}, {error.place}", error.found, error.expected, error.cure) from None


def compared(formula: Formula) -> tuple[str, str] | None:
    """Return the better and the worse condition of a formula that compares two whole sentences; None for another one."""
    match formula.tree:
        case Binary("<", Reference("*", better), Reference("*", worse)):
            return better, worse
        case Binary(">", Reference("*", worse), Reference("*", better)):
            return better, worse
    return None


def _evaluate(node: Node, value: Value) -> Any:
    if isinstance(node, Reference):
        return value(node.region, node.condition)
    if isinstance(node, float):
        return node
    left, right = _evaluate(node.left, value), _evaluate(node.right, value)
    match node.operator:
        case "+":
            return left + right
        case "-" | ">":
            return left - right
        case "<":
            return right - left
    # Most formulas that `check` evaluates need no numpy.
    import numpy as np

    match node.operator:
        case "=":
            return 1e-3 + 1e-5 * np.abs(right) - np.abs(left - right)
        case "&":
            return np.minimum(left, right)
        case "|":
            return np.maximum(left, right)


def _references(node: Node) -> Iterator[Reference]:
    if isinstance(node, Reference):
        yield node
    elif isinstance(node, Binary):
        yield from _references(node.left)
        yield from _references(node.right)


def _comparisons(node: Binary) -> Iterator[Binary]:
    if node.operator not in ("&", "|"):
        yield node
    else:
        for side in (node.left, node.right):
            assert isinstance(side, Binary), "& and | join comparisons"
            yield from _comparisons(side)


def _terms(node: Node, sign: int) -> Iterator[tuple[int, Reference]]:
    if isinstance(node, Reference):
        yield sign, node
    elif isinstance(node, Binary):
        yield from _terms(node.left, sign)
        yield from _terms(node.right, -sign if node.operator == "-" else sign)


def _print(node: Node, inner: bool = False) -> str:
    if isinstance(node, Reference):
        return f"({node.region};%{node.condition}%)"
    if isinstance(node, float):
        return repr(int(node)) if node.is_integer() and abs(node) < 1e15 else repr(node)
    text = f"{_print(node.left, True)} {node.operator} {_print(node.right, True)}"
    return f"({text})" if inner else text


_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_REGION = re.compile(r"\(\s*(?P<region>\*|[\w.\-]+)\s*;%\s*(?P<condition>[\w.\-]+)\s*%\s*\)")
_ALMOST_REGION = re.compile(r"\([^()\[\]&|<>=]*;")
_CLOSING = {"(": ")", "[": "]"}
_FOREIGN = {
    "!": "There is no negation: use the opposite comparison.",
    "*": "There is no product; `*` only names the whole sentence, as in (*;%condition%).",
    "/": "There is no division: compare sums instead.",
    ",": "Write each formula as a separate prediction.",
    "'": "Write condition names between % signs, without quotation marks.",
}


@dataclass(slots=True)
class _Operand:
    """A parsed node: whether its value is a verdict or bits, and where it starts in the text."""

    node: Node
    verdict: bool
    start: int


class _Parser:
    """A recursive-descent parser. Limits on brackets and terms keep parsing and evaluation from exhausting the stack."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth, self.terms = text, 0, 0, 0

    def formula(self) -> Binary:
        if len(self.text) > MAX_LENGTH:
            self.fail(MAX_LENGTH, f"a formula of {len(self.text)} characters", f"at most {MAX_LENGTH}")
        operand = self.combination()
        if self.at < len(self.text):
            character = self.text[self.at]
            if character in ")]":
                self.fail(self.at, f"{character!r} without its opening bracket", "an operator or the end")
            self.fail(self.at, repr(character), "an operator or the end", _FOREIGN.get(character, ""))
        if not operand.verdict or not isinstance(operand.node, Binary):
            self.fail(
                operand.start, "a number of bits", "a comparison", "Compare it with something, for example `> 0`."
            )
        return operand.node

    def combination(self) -> _Operand:
        left = self.comparison()
        joined = ""
        while (operator := self.peek("&|")) is not None:
            place = self.at
            if joined and operator != joined:
                self.fail(place, f"{operator} beside {joined}", "brackets", "Put one of the two in brackets.")
            joined = operator
            self.advance()
            right = self.comparison()
            for operand in (left, right):
                if not operand.verdict:
                    self.fail(operand.start, f"a number of bits beside {operator}", "a comparison")
            left = _Operand(Binary(operator, left.node, right.node), True, left.start)
        return left

    def comparison(self) -> _Operand:
        left = self.sum()
        if (operator := self.peek("<>=")) is None:
            return left
        self.advance()
        if self.text[self.at : self.at + 1] in ("=", "<", ">"):
            self.fail(self.at - 1, repr(self.text[self.at - 1 : self.at + 1]), "one of < > =", "Ties never hold.")
        right = self.sum()
        self.bits(left, operator)
        self.bits(right, operator)
        if self.peek("<>=") is not None:
            self.fail(self.at, "a second comparison", "& or | or the end", "Write a < b & b < c.")
        return _Operand(Binary(operator, left.node, right.node), True, left.start)

    def sum(self) -> _Operand:
        left = self.atom()
        while (operator := self.peek("+-")) is not None:
            self.advance()
            right = self.atom()
            self.bits(left, operator)
            self.bits(right, operator)
            left = _Operand(Binary(operator, left.node, right.node), False, left.start)
        return left

    def atom(self) -> _Operand:
        self.skip()
        start = self.at
        self.terms += 1
        if self.terms > MAX_TERMS:
            self.fail(start, f"more than {MAX_TERMS} terms", "fewer")
        if match := _REGION.match(self.text, start):
            self.at = match.end()
            region = match["region"]
            if region.isdecimal():
                region = str(int(region))
            return _Operand(Reference(region, match["condition"]), False, start)
        if match := _NUMBER.match(self.text, start):
            self.at = match.end()
            number = float(match[0])
            if abs(number) > MAX_NUMBER:
                self.fail(start, match[0], f"a number from -{MAX_NUMBER:,.0f} to {MAX_NUMBER:,.0f}")
            return _Operand(number, False, start)
        opening = self.text[start : start + 1]
        if opening in _CLOSING:
            return self.group(opening, start)
        if not opening:
            self.fail(start, "the end", "a region, a number or an opening bracket")
        cure = _FOREIGN.get(opening, "")
        if opening in "+-":
            cure = "Only a number may have a sign; write 0 - (...) instead."
        self.fail(start, repr(opening), "a region such as (5;%condition%), a number or an opening bracket", cure)

    def group(self, opening: str, start: int) -> _Operand:
        if _ALMOST_REGION.match(self.text, start):
            self.fail(
                start, "a region that can't be read", "(region;%condition%), the region by name or number",
                "Names contain only letters, digits, _ - and ., and nothing comes between ; and %.",
            )  # fmt: skip
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(start, f"brackets nested more than {MAX_DEPTH} deep", "fewer")
        self.at += 1
        operand = self.combination()
        closing = self.text[self.at : self.at + 1]
        if closing != _CLOSING[opening]:
            found = repr(closing) if closing else "the end"
            self.fail(
                self.at, found, f"{_CLOSING[opening]!r}, to close character {start + 1}", _FOREIGN.get(closing, "")
            )
        self.at += 1
        self.depth -= 1
        self.skip()
        return _Operand(operand.node, operand.verdict, start)

    def bits(self, operand: _Operand, operator: str) -> None:
        if operand.verdict:
            self.fail(operand.start, f"a comparison beside {operator}", "bits", "Comparisons are joined by & and |.")

    def peek(self, operators: str) -> Any:
        self.skip()
        character = self.text[self.at : self.at + 1]
        return character if character and character in operators else None

    def advance(self) -> None:
        self.at += 1

    def skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def fail(self, at: int, found: str, expected: str, cure: str = "") -> NoReturn:
        first = max(0, at - 60)
        window = re.sub(r"\s", " ", self.text[first : at + 60])
        picture = f"\n  {window}\n  {' ' * (at - first)}^"
        raise FormulaError(f"formula, character {at + 1}", found, expected, cure + picture)
