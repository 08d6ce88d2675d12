"""Measures that are plugged in: their names, and a whole run with them."""

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from toy_runs import agreement

import syntagm as sg
from syntagm.cli import main
from syntagm.core import InputError, RunError, UsageError, registry
from syntagm.evaluation import Judgement, Kind, Measure, Reading, measures
from syntagm.models import Answers, LanguageModel, Surprisals
from syntagm.runs import run_suites as run
from syntagm.suites import Item

LONGEST = '''
"""The surprisal of the most surprising token."""

from dataclasses import dataclass
from typing import ClassVar

from syntagm.evaluation import Kind
from syntagm.evaluation import Judgement, Measure


@dataclass(frozen=True, slots=True)
class Longest(Measure):
    """In one condition, less a number of bits."""

    kind: ClassVar[Kind] = Kind.BITS

    condition: str
    less: float = 0.0

    def __str__(self):
        return f"longest(condition={self.condition},less={self.less})"

    def asks(self, item):
        return [item.sentences[self.condition].text]

    def judge(self, item, answers, reading):
        bits = answers[item.sentences[self.condition].text].bits
        return Judgement(float(bits.max()) - self.less, len(bits), float("nan"))
'''


def test_a_whole_run_by_pencil(tmp_path: Path) -> None:
    """`barks` after a noun and a verb of twelve sentences: the toy's bits of region 2, item by item."""
    suite = agreement()
    judged = [measures.parse("surprisal(condition=good,region=2)"), measures.parse("surprisal(condition=bad)")]
    made = run(sg.load_model("toy"), [suite], tmp_path, measures=judged)
    regions = made.regions("agreement").filter((pl.col("condition") == "good") & (pl.col("region") == "2"))
    rows = made.results().filter(pl.col("measure") == str(judged[0]))
    assert rows["value"].to_list() == regions["bits"].to_list()
    whole = made.tokens("agreement").filter(pl.col("condition") == "bad").group_by("item", maintain_order=True)
    sums = whole.agg(pl.col("bits").sum())["bits"].to_list()
    assert made.results().filter(pl.col("measure") == str(judged[1]))["value"].to_list() == pytest.approx(sums)
    assert made.results()["margin"].is_nan().all()
    # The toy knows 29 words and marks: log2 of its counts are what stands in the tokens, never a verdict of 0 or 1.
    assert log2(29 / 3) < max(sums)
    assert made.kind(str(judged[0])) is Kind.BITS
    assert next(estimate.value for estimate in sg.estimate(made) if estimate.group.suite) == pytest.approx(
        float(rows["value"].mean())  # type: ignore[arg-type]
    )


def test_the_same_measures_go_on_and_others_are_refused(tmp_path: Path) -> None:
    model, one = sg.load_model("toy"), measures.parse("surprisal(condition=good)")
    first = run(model, [agreement()], tmp_path, measures=[one]).results()
    assert run(model, [agreement()], tmp_path, measures=[one]).results().equals(first)
    with pytest.raises(RunError, match=r"a run with measures\.surprisal"):
        run(model, [agreement()], tmp_path, measures=[measures.parse("surprisal(condition=bad)")])
    with pytest.raises(RunError, match="a run of the task measures; expected a run of the task predictions"):
        run(model, [agreement()], tmp_path)


@dataclass(frozen=True, slots=True)
class Given(Measure):
    """Values that are given, for items in order."""

    kind: ClassVar[Kind] = Kind.SHARE

    values: tuple[float, ...]

    def __str__(self) -> str:
        return "given"

    def asks(self, item: Item) -> list[str]:
        return []

    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        return Judgement(self.values[int(item.id) - 1], 1, math.nan)


def test_what_a_measure_declares_decides_its_interval_and_its_axis(tmp_path: Path) -> None:
    def intervals(values: tuple[float, ...], kind: Kind) -> tuple[str, dict[str, Any]]:
        measure = type("Given", (Given,), {"kind": kind})(values)
        made = run(sg.load_model("toy"), [agreement()], tmp_path / f"{kind.value}{values}", measures=[measure])
        assert made.record["kinds"] == {"given": kind.value}
        [row] = sg.figure("scores", made, measure="given").to_frame().rows(named=True)
        scale = sg.figure("scores", made, measure="given").spec["layer"][0]["encoding"]["x"].get("scale", {})
        return row["method"], scale

    shares, beyond = (0.1, 0.2, 0.9), (0.1, 0.2, 1.1)
    assert intervals(shares, Kind.SHARE) == ("Wilson with t(2); random: items; only 3 items", {"domain": [0, 1]})
    assert intervals(shares, Kind.MS) == ("t(2); random: items; only 3 items", {"zero": False})
    assert intervals(beyond, Kind.MS) == ("t(2); random: items; only 3 items", {"zero": False})
    with pytest.raises(
        InputError, match=r"given, item 3 of agreement: the value 1\.1; expected shares between 0 and 1"
    ):
        intervals(beyond, Kind.SHARE)


def test_runs_that_record_different_kinds_are_not_compared(tmp_path: Path) -> None:
    folders = []
    for kind in (Kind.SHARE, Kind.BITS):
        measure = type("Given", (Given,), {"kind": kind})((0.1, 0.2, 0.9))
        folders.append(run(sg.load_model("toy"), [agreement()], tmp_path / kind.value, measures=[measure]))
    with pytest.raises(
        RunError, match=r"measure given: shares between 0 and 1 in .*, numbers in bits in .*; expected val"
    ):
        sg.table("comparison", folders, measure="given")


def test_a_measure_without_a_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = type("Lacking", (Given,), {"kind": None})
    monkeypatch.setattr(registry, "find", lambda room, name: lacking)
    monkeypatch.setattr(registry, "names", lambda room: ["lacking"])
    with pytest.raises(
        UsageError, match=r"measure lacking: no kind of its values; expected kind: ClassVar\[Kind\], one"
    ):
        measures.parse("lacking")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slor", "no such name: 'slor'; expected one of entropy, entropy_reduction, rank, surprisal"),
        ("surprisal", "no condition=; expected condition=VALUE"),
        ("surprisal(cond=good)", "no option 'cond'; expected one of condition=, region="),
        ("surprisal(condition=good,condition=bad)", "each option once"),
        ("surprisal(good)", "option=value"),
        ("surprisal(", "NAME or NAME"),
    ],
)
def test_names_that_mean_nothing(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        measures.parse(text)


def test_what_an_item_lacks_is_said_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no 'ugly' in item 1 of agreement; expected one of good, bad"):
        run(sg.load_model("toy"), [agreement()], tmp_path, measures=[measures.parse("surprisal(condition=ugly)")])
    made = run(
        sg.load_model("toy"), [agreement()], tmp_path, measures=[measures.parse("surprisal(condition=good,region=9)")]
    )
    assert all(math.isnan(value) for value in made.results()["value"])
    [(reason, count)] = made.undefined.items()
    assert "an item lacks a region or condition, for example in item 1 of agreement: no '9'" in reason
    assert count == len(agreement().items)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spelled = "surprisal(condition=good, region=critical)"
    options = ["--suite", "marvin2018/simple_agrmt", "-n", "4", "--no-cache"]
    assert main(["run", "toy", *options, "--measure", spelled, "-o", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr()
    assert "surprisal(condition=good,region=critical)" in shown.out
    assert (tmp_path / "run" / "report.html").exists()
    assert main(["table", "scores", str(tmp_path / "run")]) == 0


@pytest.mark.slow
def test_a_measure_of_another_distribution(tmp_path: Path) -> None:
    """An entry point of the group `syntagm.measures` is a measure like ours."""
    (tmp_path / "longest_token.py").write_text(LONGEST)
    (about := tmp_path / "longest_token-1.0.dist-info").mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: longest-token\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[syntagm.measures]\nlongest = longest_token\n")
    line = ["run", "toy", "--suite", "marvin2018/simple_agrmt", "-n", "2", "--no-cache", "--no-report"]
    line += ["--measure", "longest(condition=good, less=1)", "-o", str(tmp_path / "run")]
    path = os.pathsep.join(part for part in (str(tmp_path), os.environ.get("PYTHONPATH", "")) if part)
    done = subprocess.run(
        [sys.executable, "-m", "syntagm", *line],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = sg.open_run(tmp_path / "run")
    tokens = made.tokens("simple_agrmt").filter(pl.col("condition") == "good").group_by("item", maintain_order=True)
    expected = [value - 1 for value in tokens.agg(pl.col("bits").max())["bits"]]
    assert made.results()["value"].to_list() == pytest.approx(expected)


class Reused(Measure):
    """A measure that notes whether it could change what it was given."""

    kind: ClassVar[Kind] = Kind.BITS
    refused = 0

    def __str__(self) -> str:
        return "reused"

    def asks(self, item: Item) -> list[str]:
        return [item.sentences["good"].text]

    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        bits = answers[item.sentences["good"].text].bits
        total = float(bits.sum())
        try:
            bits[0] = 99.0
        except ValueError:
            Reused.refused += 1
        return Judgement(total, len(bits), math.nan)


class Recycling(LanguageModel):
    """A family of another package that answers every text in the same arrays: 1, 2, 3 ... bits."""

    name, fingerprint, bos = "recycling:", "recycling", "nothing"
    settings: ClassVar[dict[str, str]] = {"bos": "yes"}
    record: ClassVar[dict[str, Any]] = {}
    arrays = np.zeros(1, np.int32), np.zeros(1), np.ones(1, bool)

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        for number, text in enumerate(texts, 1):
            self.arrays[1][0] = number
            yield Surprisals(text, *self.arrays)


class Keeping(dict[str, Surprisals]):
    """A cache of somebody's own, which keeps what it is given."""

    def get(self, model: LanguageModel, texts: Sequence[str], reduced: bool = False) -> dict[str, Surprisals]:  # type: ignore[override]
        return {text: self[text] for text in texts if text in self}

    def put(self, model: LanguageModel, answers: Iterable[Surprisals]) -> None:
        self |= {answer.text: answer for answer in answers}


def test_what_plug_ins_use_again_or_write_into_changes_no_number() -> None:
    # Of the sorted texts, "The cat barks" is the second and "The dog barks" the fourth.
    suite, cache, expected = agreement(nouns=("dog", "cat")), Keeping(), {"1": 4.0, "2": 2.0}
    for _ in range(2):
        Reused.refused = 0
        made = sg.evaluate(Recycling(), [suite], measures=[Reused()], cache=cache)
        assert dict(made.results().select("item", "value").rows()) == expected
        good = made.tokens("agreement").filter(condition="good")
        assert dict(good.select("item", "bits").rows()) == expected
        assert Reused.refused == 2
        # The second time, the answers are from the cache, whose arrays are its own.
        for text, answer in cache.items():
            cache[text] = Surprisals(text, answer.starts, answer.bits.copy(), answer.in_vocabulary)
    assert all(answer.bits.flags.writeable for answer in cache.values())
