"""Sentences token by token or word by word, coloured by bits or by the difference of two models."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup, escape

from syntagm.report.html import isolate, join
from syntagm.report.predictions.items import cut_tokens

# Bits of a step of colour, and the number of steps; differences of two models have smaller steps.
STEP, STEPS = 2.0, 8
STEP_OF_DIFFERENCE, STEPS_OF_DIFFERENCE = 1.0, 5


def strip(row: Mapping[str, Any], regions: Mapping[str, int], labels: Sequence[str]) -> Markup:
    """Return a sentence token by token, below the names of its regions."""
    spans = tuple(zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True))
    homes, tokens = cut_tokens(regions, row["text"], spans, tuple(row["starts"]))
    parts = []
    cut = zip(homes, tokens, row["bits"], row["known"], strict=True)
    for home, members in groupby(cut, key=lambda member: member[0]):
        name = Markup('<span class="region-name">%s</span>') % (labels[home] if home >= 0 else "") if labels else ""
        cells = join((token(text, bits, known) for _, text, bits, known in members), "")
        outside = " outside" if home < 0 else ""
        parts.append(Markup(f'<span class="region{outside}">%s<span class="run">%s</span></span>') % (name, cells))
    return join(parts, "")


def token(text: str, bits: float, known: bool) -> Markup:
    """Return a token with its bits; the stronger its colour, the more surprising it is. Unknown ones are marked `unk`."""
    level = 0 if math.isnan(bits) else max(0, min(STEPS, math.floor(min(bits, 1e6) / STEP)))
    return _cell(text, f"h{level}", "none" if math.isnan(bits) else f"{bits:.2f}", known)


def word_strip(words: Iterable[tuple[str, float, bool]]) -> Markup:
    """Return words with the difference of their bits under two models, which of them it surprises more, and if both know it."""
    return join((_difference(*word) for word in words), "")


def _difference(text: str, bits: float, known: bool) -> Markup:
    if math.isnan(bits):
        return _cell(text, "h0", "none", known)
    step = min(STEPS_OF_DIFFERENCE, math.floor(min(abs(bits), 1e6) / STEP_OF_DIFFERENCE))
    return _cell(text, f"{'up' if bits > 0 else 'down'}{step}", f"{bits:+.2f}", known)


def _cell(text: str, name: str, number: str, known: bool) -> Markup:
    shown = "end" if text == "" else text.strip() or "\u2423"
    mark = ("", "") if known else (" unknown", " unk")
    cell = Markup('<span class="token %s%s">%s<small>%s%s</small></span>')
    return cell % (name, mark[0], isolate(shown, False), escape(number), mark[1])
