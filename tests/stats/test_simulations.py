"""Simulated responses in files: after an interruption none is simulated again, and the results are the same bytes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from regression_for_tests import DATA

from syntagm.core import Interrupted, Progress, RunError
from syntagm.stats import SIMULATIONS, Fit, bootstrap, few_groups, linear, logistic

FORMULAS = ("y ~ 1 + (x | g)", "y ~ x + (x | g)")
DRAWS = 20


def fitted(change: float = 0.0) -> tuple[Fit, Fit]:
    """A clear effect of x in seven groups, so that all responses are simulated."""
    table = pl.read_csv(DATA / "few_groups_sloped.csv").with_columns(pl.col("y") + 2 * pl.col("x") + change)
    smaller, larger = (linear.fit(formula, table) for formula in FORMULAS)
    return smaller, larger


@pytest.fixture(scope="module")
def fits() -> tuple[Fit, Fit]:
    return fitted()


class Stop(Progress):
    """Stop after some responses, and keep the warnings and what was said."""

    def __init__(self, after: int = -1) -> None:
        self.after, self.done, self.lines = after, list[int](), list[str]()

    def simulated(self, done: int, total: int, left: float) -> None:
        self.done.append(done)
        assert (total, left >= 0) == (DRAWS, True)
        if len(self.done) == self.after:
            raise Interrupted

    def began(self, line: str) -> None:
        self.lines.append(line)

    def warned(self, message: str) -> None:
        self.lines.append(message)


def compared(fits: tuple[Fit, Fit], folder: Path | None, progress: Progress) -> linear.LikelihoodRatio:
    with bootstrap.using(None, progress):
        return few_groups.compare(*fits, draws=DRAWS, folder=folder)


@pytest.mark.slow
def test_interrupted_twice_no_response_is_simulated_again(fits: tuple[Fit, Fit], tmp_path: Path) -> None:
    whole = compared(fits, tmp_path / "whole", alone := Stop())
    assert whole == compared(fits, None, Progress())
    assert (whole.method, alone.done) == (f"parametric bootstrap({DRAWS}, seed 1)", list(range(1, DRAWS + 1)))
    folder = tmp_path / "parts"
    attempts = [Stop(4), Stop(9)]
    for attempt in attempts:
        with pytest.raises(Interrupted):
            compared(fits, folder, attempt)
    assert compared(fits, folder, last := Stop()) == whole
    assert [*attempts[0].done, *attempts[1].done, *last.done] == alone.done
    assert last.lines == [f"{alone.lines[0]}, 13 of them kept"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()
    }
    # Of a finished test, nothing is simulated.
    assert compared(fits, folder, silent := Stop()) == whole
    assert (silent.done, silent.lines) == ([], [])


@pytest.mark.slow
def test_more_responses_begin_where_fewer_ended(fits: tuple[Fit, Fit], tmp_path: Path) -> None:
    few_groups.compare(*fits, draws=8, folder=tmp_path)
    progress = Stop()
    assert compared(fits, tmp_path, progress) == compared(fits, None, Progress())
    assert progress.done == list(range(9, DRAWS + 1))
    assert few_groups.compare(*fits, draws=8, folder=tmp_path) == few_groups.compare(*fits, draws=8)


def test_a_test_that_is_clear_needs_no_more(fits: tuple[Fit, Fit], tmp_path: Path) -> None:
    table = pl.read_csv(DATA / "few_groups_sloped.csv")
    nothing = linear.fit("y ~ 1 + (x | g)", table), linear.fit("y ~ x + (x | g)", table)
    whole = compared(nothing, tmp_path, Stop())
    number = int(whole.method.partition("(")[2].partition(" of")[0])
    assert number < DRAWS
    assert whole == compared(nothing, tmp_path, again := Stop())
    assert again.done == []
    with bootstrap.using(bootstrap.Resampling(simulated=0)):
        assert few_groups.planned(nothing[0].design, nothing[1].design, True, tmp_path).responses == 0
    few_groups_plan = few_groups.planned(nothing[0].design, nothing[1].design, True, tmp_path)
    assert (few_groups_plan.responses, few_groups_plan.kept) == (few_groups.DRAWS, number)


@pytest.mark.slow
def test_the_plan_counts_what_is_kept(fits: tuple[Fit, Fit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_groups, "DRAWS", DRAWS)
    designs = fits[0].design, fits[1].design
    new = few_groups.planned(*designs, True, tmp_path)
    assert (new.responses, new.kept, new.left) == (DRAWS, 0, DRAWS)
    with pytest.raises(Interrupted):
        compared(fits, tmp_path, Stop(12))
    begun = few_groups.planned(*designs, True, tmp_path)
    assert (begun.responses, begun.kept, begun.left) == (DRAWS, 12, DRAWS - 12)
    assert begun.seconds == pytest.approx(new.seconds * (DRAWS - 12) / DRAWS)
    compared(fits, tmp_path, Stop())
    done = few_groups.planned(*designs, True, tmp_path)
    assert (done.responses, done.kept, done.left, done.seconds) == (DRAWS, DRAWS, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("change", ["flipped", "cut", "edited", "of other estimates"])
def test_a_file_that_is_not_as_it_was_written_is_simulated_again(
    fits: tuple[Fit, Fit], tmp_path: Path, change: str
) -> None:
    whole = compared(fits, tmp_path, Stop())
    [path] = tmp_path.iterdir()
    written = path.read_bytes()
    if change == "of other estimates":
        record = SIMULATIONS.read(path)
        SIMULATIONS.write(path, {**record, "fits": "0" * 64})
    elif change == "edited":
        record = json.loads(written)
        path.write_text(json.dumps(record | {"ratios": [0.0, *record["ratios"][1:]]}))
    else:
        path.write_bytes(written[:-40] if change == "cut" else written.replace(b"ratios", b"ratio2"))
    if change != "of other estimates":
        # The plan doesn't count them.
        assert few_groups.planned(fits[0].design, fits[1].design, True, tmp_path).kept == 0
    assert compared(fits, tmp_path, progress := Stop()) == whole
    assert progress.done == list(range(1, DRAWS + 1))
    assert progress.lines[0].startswith(f"{path}: ")
    assert progress.lines[0].endswith("; they are simulated again")
    assert path.read_bytes() == written


def test_a_file_belongs_to_data_formulas_seed_and_kind_of_model(fits: tuple[Fit, Fit]) -> None:
    smaller, larger = fits[0].design, fits[1].design
    other = fitted(1.0)
    table = pl.read_csv(DATA / "few_groups_sloped.csv")
    regrouped = linear.designed(FORMULAS[1], table.with_columns(g=pl.col("g").reverse(), y=larger.response))
    names = {
        few_groups.name(smaller, larger, True, 1),
        few_groups.name(larger, larger, True, 1),
        few_groups.name(smaller, larger, False, 1),
        few_groups.name(smaller, larger, True, 2),
        few_groups.name(other[0].design, other[1].design, True, 1),
        few_groups.name(smaller, regrouped, True, 1),
    }
    assert len(names) == 6
    assert few_groups.name(smaller, larger, True, 1) == few_groups.name(*(f.design for f in fitted()), True, 1)


@pytest.mark.slow
def test_responses_that_cannot_be_fitted_are_kept_as_such(
    fits: tuple[Fit, Fit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deviance_of, calls = linear.deviance_of, iter(range(1000))

    def every_tenth_fails(fit: Fit, response: object) -> float:
        if next(calls) % 10 == 0:
            raise RunError("a response", "no variance")
        return deviance_of(fit, response)  # type: ignore[arg-type]

    monkeypatch.setattr(linear, "deviance_of", every_tenth_fails)
    found = compared(fits, tmp_path, Stop())
    assert "not fitted" in found.method
    assert compared(fits, tmp_path, again := Stop()) == found
    assert again.done == []


@pytest.mark.slow
def test_a_place_that_cannot_be_written_is_an_error(fits: tuple[Fit, Fit], tmp_path: Path) -> None:
    (tmp_path / "simulations").write_text("mine")
    with pytest.raises(RunError, match="simulations"):
        compared(fits, tmp_path / "simulations", Stop())
    assert (tmp_path / "simulations").read_text() == "mine"


KILLED = """
import os, signal, sys
from pathlib import Path
from syntagm.core import Progress
from syntagm.stats import few_groups
import test_simulations as tests
few_groups._LINEAR = 1
class Kill(Progress):
    def simulated(self, done, total, left):
        if done == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
tests.compared(tests.fitted(), Path(sys.argv[1]), Kill())
"""


@pytest.mark.slow
def test_a_killed_process_leaves_its_responses(fits: tuple[Fit, Fit], tmp_path: Path) -> None:
    whole = compared(fits, tmp_path / "whole", Stop())
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    for number in (5, 14):
        line = [sys.executable, "-c", KILLED, str(tmp_path / "killed"), str(number)]
        killed = subprocess.run(line, env={**os.environ, "PYTHONPATH": paths}, capture_output=True)
        assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert compared(fits, tmp_path / "killed", progress := Stop()) == whole
    assert progress.done == list(range(15, DRAWS + 1))


@pytest.mark.slow
def test_logistic_models_have_files_too(tmp_path: Path) -> None:
    rows = [(suite, run, int((suite + run) % 3 > 0) + 2 * (run % 2), run % 2) for suite in range(4) for run in range(6)]
    table = pl.DataFrame(rows, schema=["s", "r", "correct", "x"], orient="row").with_columns(
        pl.col("s", "r").cast(pl.String), items=pl.lit(4)
    )
    fits = [logistic.fit(f"correct ~ {fixed} + (1 | s)", table, trials="items", starts=1) for fixed in ("1", "x")]
    whole = few_groups.compare(*fits, draws=6, folder=tmp_path)
    assert whole == few_groups.compare(*fits, draws=6)
    with bootstrap.using(None, progress := Stop()):
        assert few_groups.compare(*fits, draws=6, folder=tmp_path) == whole
    assert progress.done == []
    plan = few_groups.planned(fits[0].design, fits[1].design, False, tmp_path)
    assert (plan.responses, plan.kept) == (few_groups.LOGISTIC_DRAWS, 6)
