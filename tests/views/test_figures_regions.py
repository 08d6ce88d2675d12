"""The bits of all regions at once equal those that are read token by token, by the rule as it is written."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from report_examples import crossed, gaps
from toy_runs import agreement, pairs, toy_run

from syntagm.evaluation import Reading, regions
from syntagm.models import Surprisals
from syntagm.runs import Run, open_run, run_suites as run
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse


def owner(sentence: Sentence, place: int) -> int:
    """The last region that holds a character, -1 for none."""
    held = [k for k, region in enumerate(sentence.regions) if region.start <= place < region.end]
    return held[-1] if held else -1


def values(sentence: Sentence, answer: Surprisals, reading: Reading) -> list[float]:
    """The bits of each region, token by token."""
    text, found = sentence.text, [0.0] * len(sentence.regions)
    for start, bits in zip(answer.starts.tolist(), answer.bits.tolist(), strict=True):
        end = min((at for at in answer.starts.tolist() if at > start), default=len(text))
        visible = [at for at in range(start, len(text)) if not text[at].isspace()]
        # White space at the end follows the last visible character; an end symbol belongs nowhere.
        first = visible[0] if visible else len(text.rstrip()) - 1
        inside = {owner(sentence, at) for at in visible if at < end}
        if len(inside) > 1 and reading.rule == "strict":
            return [np.nan] * len(found)
        if start < len(text) and (home := owner(sentence, first)) >= 0:
            found[home] += 0.0 if np.isnan(bits) and not reading.first_scored else bits
    return found


def expected(opened: Run, suite: str) -> pl.DataFrame:
    rows = [
        (item, condition, region.name, place, bits)
        for item, condition, sentence, answer in opened.answers(suite)
        for place, (region, bits) in enumerate(
            zip(sentence.regions, values(sentence, answer, opened.reading(suite)), strict=True)
        )
    ]
    return pl.DataFrame(rows, schema=["item", "condition", "region", "place", "bits"], orient="row")


def found(opened: Run, suite: str) -> pl.DataFrame:
    return regions(opened.sentences(suite), opened.reading(suite))


def same(one: pl.DataFrame, other: pl.DataFrame) -> None:
    keys = ["item", "condition", "region", "place"]
    assert one.select(keys).rows() == other.select(keys).rows()
    np.testing.assert_array_equal(one["bits"].to_numpy(), other["bits"].to_numpy())


def test_empty_regions_crossings_and_no_regions(tmp_path: Path) -> None:
    opened = toy_run(tmp_path, agreement(), gaps(), crossed(), pairs("plain", ("the dog barks", "the dog bark")))
    for suite in ("agreement", "gaps", "crossed"):
        same(found(opened, suite), expected(opened, suite))
        assert opened.regions(suite)["bits"].to_list() == pytest.approx(
            found(opened, suite)["bits"].to_list(), nan_ok=True
        )
    assert found(opened, "crossed")["bits"].is_nan().all()
    assert found(opened, "gaps").filter(pl.col("empty")).select("condition", "region").rows() == [
        ("gap", "2"), ("full", "3"), ("gap", "2"),
    ]  # fmt: skip
    assert not len(found(opened, "plain"))


# A suite needs a prediction; the numbers of regions don't depend on it.
ANY = Prediction("any", parse("(*;%only%) > 0"))
TEXTS = st.text("ab \u3000\u00e9\n", min_size=1, max_size=12).filter(str.strip)


@pytest.mark.slow
@given(st.lists(st.tuples(TEXTS, st.data()), min_size=1, max_size=4), st.sampled_from(["strict", "start"]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_texts_and_borders(tmp_path_factory: pytest.TempPathFactory, drawn, rule: str) -> None:
    items = []
    for number, (text, draw) in enumerate(drawn):
        cuts = sorted(draw.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=5)))
        parts = tuple(Region(str(k), low, high) for k, (low, high) in enumerate(pairwise(cuts)))
        items.append(Item(str(number), {"only": Sentence(text, parts)}))
    from unittest.mock import patch

    from syntagm.models import load

    with patch("syntagm.runs.engine.violations", lambda suites: []):
        opened = run(
            load("toy:?eos=yes"), [Suite("any", tuple(items), (ANY,))], tmp_path_factory.mktemp("run"), align=rule
        )
    same(found(opened, "any"), expected(open_run(opened.folder), "any"))
