"""A plain second opinion, written apart from the package: one sentence at a time, float64, formulas by Python's own parser.

Nothing of `syntagm` is imported here.
"""

import ast
import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import torch

Token = tuple[int, int, float]


class Reference:
    """A model in float64; with `bos` the start symbol stands before a text, without it the first token costs 0."""

    def __init__(self, model: Any, tokenizer: Any, bos: bool) -> None:
        self.model, self.tokenizer, self.bos = model.double().eval(), tokenizer, bos
        self.tokens = cache(self._tokens)

    @torch.no_grad()
    def _tokens(self, text: str) -> tuple[Token, ...]:
        """Start, end and bits of each token of a text."""
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids = [self.tokenizer.bos_token_id] * self.bos + encoded["input_ids"]
        spread = self.model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        bits = [-float(spread[place, token]) / math.log(2) for place, token in enumerate(ids[1:])]
        if not self.bos:
            bits = [0.0, *bits]
        return tuple((*span, cost) for span, cost in zip(encoded["offset_mapping"], bits, strict=True))

    def total(self, text: str) -> float:
        return sum(bits for _, _, bits in self.tokens(text))

    def conditional(self, prefix: str, word: str) -> float:
        """-log2 p(word | prefix): the tokens of the joined string that end after the prefix."""
        return sum(bits for _, end, bits in self.tokens(f"{prefix} {word.strip()}") if end > len(prefix))

    def crosses(self, text: str, border: int) -> bool:
        """Does a token have characters on both sides of the border?"""
        return any(start < border < end for start, end, _ in self.tokens(text))

    def regions(self, contents: list[str]) -> list[float]:
        """SyntaxGym 0.8a1's offset alignment: a token goes to the last region whose left edge it has reached.

        The left edge of a region that is not the first and not blank is the blank before it.
        """
        text = " ".join(content.strip() for content in contents if content.strip())
        edges, at = [], 0
        for number, content in enumerate(contents):
            edges.append(at if number else 0)
            if content.strip():
                at += len(content.strip()) + (at > 0)
        values, current = [0.0] * len(contents), 0
        for start, _, bits in self.tokens(text):
            while current + 1 < len(edges) and start >= edges[current + 1]:
                current += 1
            values[current] += bits
        return values


def conditions(item: dict[str, Any]) -> dict[str, list[str]]:
    return {
        condition["condition_name"]: [region["content"] for region in condition["regions"]]
        for condition in item["conditions"]
    }


def verdict(formula: str, values: dict[tuple[str, str], float]) -> tuple[bool, float]:
    """Does the formula hold, and how near is the nearest of its comparisons to turning over?"""
    named = re.sub(r"\(\s*(\d+|\*)\s*;%\s*([\w-]+)\s*%\s*\)", r" value('\1', '\2') ", formula)
    python = named.replace("[", "(").replace("]", ")").replace("&", " and ").replace("|", " or ").replace("=", "==")
    nearest = [math.inf]

    def run(node: ast.AST) -> Any:
        match node:
            case ast.Expression():
                return run(node.body)
            case ast.BoolOp(op=ast.And()):
                return all(list(map(run, node.values)))
            case ast.BoolOp(op=ast.Or()):
                return any(list(map(run, node.values)))
            case ast.Compare(ops=[operator], comparators=[right]):
                return compare(operator, run(node.left), run(right))
            case ast.BinOp(op=ast.Add()):
                return run(node.left) + run(node.right)
            case ast.BinOp(op=ast.Sub()):
                return run(node.left) - run(node.right)
            case ast.Call(args=[ast.Constant(region), ast.Constant(condition)]):
                if region == "*":
                    return sum(bits for (_, name), bits in values.items() if name == condition)
                return values[region, condition]
            case ast.Constant(number):
                return number
        raise ValueError(ast.dump(node))

    def compare(operator: ast.cmpop, left: float, right: float) -> bool:
        if isinstance(operator, ast.Eq):
            slack = 1e-3 + 1e-5 * abs(right) - abs(left - right)
            nearest.append(abs(slack))
            return slack >= 0
        nearest.append(abs(left - right))
        return left < right if isinstance(operator, ast.Lt) else left > right

    return bool(run(ast.parse(python.strip(), mode="eval"))), min(nearest)


def pairs(path: Path, limit: int | None = None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:limit]]
