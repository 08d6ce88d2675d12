"""Mutation of inputs with a seeded generator: bytes, pieces, lines and numbers."""

import random
import re
from collections.abc import Callable, Sequence

PIECES = [
    *(b'"', b"'", b",", b"\t", b"\n", b"\r", b"\r\n", b" ", b"{", b"}", b"[", b"]", b"(", b")", b":", b";", b"%", b"#"),
    *(b"null", b"true", b"NaN", b"-inf", b"1e999", b"-1", b"0", b"2147483648", b"99999999999999999999", b"0x1f"),
    *(b"\\", b"\\u0000", b"\\ud800", b"\x00", b"\x1b[2J", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3", b"\xf0\x9f\x98\x80"),
    *("e\u0301".encode(), "\u200b\u202e".encode(), "\u2028".encode(), b"=1+1", b"..", b"/", b"<unk>", b"</s>", b"1e5", b"True"),
    *(b"[" * 70, b"{" * 300, b"(" * 70, b"a" * 3_000, b"\x1f\x8b\x08"),
]  # fmt: skip
NUMBERS = [b"0", b"-1", b"1", b"255", b"65536", b"2147483648", b"18446744073709551616", b"1e308", b"nan", b"0.5", b"-0"]


def mutant(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Change one of the seeds in one to five places."""
    content = chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5))):
        content = chance.choice(_OPERATIONS)(chance, content, seeds)
    return content


def _span(chance: random.Random, content: bytes) -> tuple[int, int]:
    start = chance.randrange(len(content) + 1)
    return start, min(len(content), start + int(chance.expovariate(0.1)))


def _flip(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    if not content:
        return content
    place = chance.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]


def _delete(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(chance, content)
    return content[:start] + content[end:]


def _double(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(chance, content)
    return content[:end] + content[start:end] * chance.randint(1, 3) + content[end:]


def _insert(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(chance, content)
    return content[:start] + chance.choice(PIECES) + content[start if chance.random() < 0.5 else end :]


def _number(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    if not (found := list(re.finditer(rb"-?\d+(?:\.\d+)?", content))):
        return content
    place = chance.choice(found)
    return content[: place.start()] + chance.choice(NUMBERS) + content[place.end() :]


def _lines(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        return content
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            lines[one], lines[other] = lines[other], lines[one]
        case 1:
            del lines[one]
        case 2:
            lines.insert(other, lines[one])
    return b"".join(lines)


def _cut(chance: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _splice(chance: random.Random, content: bytes, seeds: Sequence[bytes]) -> bytes:
    other = chance.choice(seeds)
    return content[: chance.randrange(len(content) + 1)] + other[chance.randrange(len(other) + 1) :]


Operation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]
_OPERATIONS: list[Operation] = [_flip, _delete, _double, _insert, _insert, _number, _lines, _cut, _splice]
