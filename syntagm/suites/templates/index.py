"""Inverted indices: for each value of each column, the words that have it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from syntagm.suites.templates.cells import MISSING
from syntagm.suites.templates.expression import All, Any, Expression, Has, Not, Share, cell_has, holds, values

FEW = 100  # one of so many members


@dataclass(slots=True)
class Index:
    """The members with each value of each column, as sets of bits: bit i stands for member i."""

    members: Sequence[Mapping[str, str]]  # the cells of each member by column
    full: int = field(init=False)
    _columns: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    _masks: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.full = (1 << len(self.members)) - 1

    def column(self, name: str) -> Mapping[str, Sequence[int]]:
        """Return the numbers of the members by value of a column. The value `-` stands for no value."""
        if name not in self._columns:
            numbers: dict[str, list[int]] = {}
            for number, member in enumerate(self.members):
                for value in values(member.get(name, MISSING)) or (MISSING,):
                    numbers.setdefault(value, []).append(number)
            self._columns[name] = numbers
        return self._columns[name]

    def any(self, name: str, wanted: Iterable[str]) -> int:
        """Return the members that have one of the values in a column."""
        result, few = 0, list[int]()
        column = self.column(name)
        for value in wanted:
            numbers = column.get(value, ())
            # A column may have as many values as there are members. So only large sets are kept.
            if len(numbers) * FEW < len(self.members):
                few += numbers
            else:
                if (name, value) not in self._masks:
                    self._masks[name, value] = mask_of(numbers, len(self.members))
                result |= self._masks[name, value]
        return result | mask_of(few, len(self.members)) if few else result

    def present(self, form: str) -> int:
        """Return the members that have a form: its cell isn't `-`."""
        key = form, "\0"
        if key not in self._masks:
            numbers = [number for number, member in enumerate(self.members) if member.get(form, MISSING) != MISSING]
            self._masks[key] = mask_of(numbers, len(self.members))
        return self._masks[key]

    def meeting(self, expression: Expression, slot: str, others: Mapping[str, Mapping[str, str]]) -> int:
        """Return the members that meet a bound condition without `!= slot`."""
        if isinstance(expression, Has):
            if expression.ref.slot == slot:
                return self.any(expression.ref.name, expression.values)
            cell = others[expression.ref.slot].get(expression.ref.name, MISSING)
            return self.full if cell_has(cell, expression.values) else 0
        if isinstance(expression, Share):
            return self._sharing(expression, slot, others)
        if isinstance(expression, Not):
            return self.full & ~self.meeting(expression.part, slot, others)
        if isinstance(expression, All):
            result = self.full
            for part in expression.parts:
                result &= self.meeting(part, slot, others)
            return result
        if isinstance(expression, Any):
            result = 0
            for part in expression.parts:
                result |= self.meeting(part, slot, others)
            return result
        raise AssertionError("!= slot compares words, not groups of words")

    def _sharing(self, share: Share, slot: str, others: Mapping[str, Mapping[str, str]]) -> int:
        own, other = (share.ref, share.other) if share.ref.slot == slot else (share.other, share.ref)
        if own.slot != slot or other.slot == slot:
            numbers = (
                number for number, member in enumerate(self.members) if holds(share, {**others, slot: member}, {})
            )
            return mask_of(list(numbers), len(self.members))
        return self.any(own.name, values(others[other.slot].get(other.name, MISSING)))


def mask_of(numbers: Sequence[int], size: int) -> int:
    """Return a set of members by their numbers, as bits."""
    if len(numbers) * FEW < size:
        result = 0
        for number in numbers:
            result |= 1 << number
        return result
    digits = bytearray(b"0") * size
    for number in numbers:
        digits[size - 1 - number] = 49
    return int(digits, 2) if size else 0


_FLAGS = bytes(max(0, value - 48) if value < 50 else 0 for value in range(256))


def flags(mask: int, size: int) -> bytes:
    """Return a byte 0 or 1 for each member, from the first.

    >>> list(flags(0b1010, 5))
    [0, 1, 0, 1, 0]
    """
    return f"{mask:0{size}b}".encode().translate(_FLAGS)[::-1] if size else b""
