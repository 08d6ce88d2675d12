"""Whose the folder of a controlled experiment is: mistakes that cost nothing, changes that are refused, two processes."""

import json
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from toy_runs import edit_record

from syntagm.cli import main
from syntagm.core import Progress, RunError, UsageError, held
from syntagm.papers import Cell, Design, finished_models, hyperparameters, record as _record, state_of
from syntagm.papers.experiment import experiment
from syntagm.papers.experiment.design import DESIGN
from syntagm.papers.hu2020 import reproduce as hu2020
from syntagm.runs import PERPLEXITY

SUITE = """sentence_good,sentence_bad
{} bark.,{} barks.
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("train", "valid", "test"):
        (tmp_path / f"{name}.txt").write_text("The dog that sees the cat knows it.\n" * 9)
    (tmp_path / "pairs.csv").write_text(SUITE.format("Dogs", "Dogs"))
    return tmp_path


def design(place: Path, sizes: dict[str, int], *families: str, draw: int = 1, **changes: str) -> Design:
    """8 words a line."""
    files = [[str(place / f"{name}.txt")] for name in ("train", "valid", "test")]
    named = {name.replace("_", "."): value for name, value in changes.items()}
    options = hyperparameters.options("small", families, named)
    suites = [f"{place / 'pairs.csv'}?good=sentence_good&bad=sentence_bad"]
    return Design(place / "out", *files, sizes, [1], options, suites, draw)


def record(place: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((place / "out" / "experiment.json").read_text())
    return found


def claim(asked: Design) -> None:
    _record.begin(asked, Progress())


def test_what_training_would_refuse_is_refused_before_anything_is_noted(place: Path) -> None:
    for wrong, message in (
        (design(place, {"xs": 16}, "lstm", lstm_dropout="2"), "dropout: 2.0"),
        (design(place, {"xs": 16}, "gpt2", gpt2_heads="3"), "a multiple of heads"),
        (design(place, {"xs": 16}, "ngram", ngram_order="0"), "order: 0"),
        (design(place, {"xs": 16}, "ngram", draw=-1), "draw: -1"),
    ):
        with pytest.raises(UsageError, match=message):
            claim(wrong)
    assert not (place / "out").exists()


def test_what_nothing_rests_on_can_be_corrected(place: Path) -> None:
    claim(design(place, {"xs": 15, "sm": 16}, "lstm", lstm_lr="1e9"))
    with pytest.raises(UsageError, match="15 and 16 words give the same subset"):
        _record.draw_subsets(design(place, {"xs": 15, "sm": 16}, "lstm"), Progress())
    corrected = design(place, {"xs": 16, "sm": 40}, "lstm", lstm_lr="1")
    claim(corrected)
    assert record(place)["sizes"] == {"xs": 16, "sm": 40}
    # What is locked is not begun, and the tokenizer of a training without a state is made anew.
    with held(place / "out" / "models" / "lstm-xs-1" / "state"):
        (place / "out" / "models" / "lstm-xs-1" / "tokenizer.json").touch()
    claim(design(place, {"xs": 16, "sm": 40}, "lstm", lstm_lr="2"))
    # The first process would train with another rate than the record says.
    with (
        pytest.raises(RunError, match=r"families\.lstm\.lr = 2\.0; expected families\.lstm\.lr = 1\.0"),
        turn(corrected, "lstm"),
    ):
        pass


def turn(asked: Design, family: str) -> AbstractContextManager[None]:
    return experiment.locked(asked, Cell(family, "xs", 1), Progress())


@pytest.mark.parametrize(
    "there", ["models/lstm-xs-1/state/state.safetensors", "runs/lstm-xs-7/run.json", "perplexity/lstm-xs-1.json"]
)
def test_what_something_rests_on_cannot(place: Path, there: str) -> None:
    claim(design(place, {"xs": 16}, "lstm"))
    (place / "out" / there).parent.mkdir(parents=True)
    (place / "out" / there).touch()
    with pytest.raises(RunError, match=r"families\.lstm\.lr = 20\.0"):
        claim(design(place, {"xs": 16}, "lstm", lstm_lr="1"))
    with pytest.raises(RunError, match=r"sizes\.xs = 16"):
        claim(design(place, {"xs": 24}, "ngram"))


def test_a_part_that_is_drawn_keeps_its_size(place: Path) -> None:
    asked = design(place, {"xs": 16}, "lstm")
    claim(asked)
    assert _record.draw_subsets(asked, Progress()) == {"xs": 16}
    with pytest.raises(RunError, match=r"sizes\.xs = 16"):
        claim(design(place, {"xs": 24}, "lstm"))


def test_suites_with_other_items_are_refused(place: Path) -> None:
    """They have the same name: models of the second seed would be scored on others than those of the first."""
    claim(design(place, {"xs": 16}, "ngram"))
    (place / "pairs.csv").write_text(SUITE.format("Cats", "Cats"))
    with pytest.raises(RunError, match=r"suite_hashes\.pairs"):
        claim(design(place, {"xs": 16}, "ngram"))


def test_parts_without_a_record_are_of_nobody_knows_what(place: Path) -> None:
    asked = design(place, {"xs": 16}, "ngram")
    claim(asked)
    _record.draw_subsets(asked, Progress())
    (place / "out" / "experiment.json").unlink()
    with pytest.raises(RunError, match=r"without an experiment\.json"):
        claim(asked)


def test_an_n_gram_that_another_process_makes_is_waited_for(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no seed, so that processes with seeds of their own share it."""
    asked = design(place, {"xs": 16}, "ngram")
    said: list[str] = []
    claim(asked)
    other = held(place / "out" / "models" / "ngram-xs")
    other.__enter__()
    monkeypatch.setattr(_record, "WAIT_SECONDS", 0.0)

    class Told(Progress):
        def began(self, line: str) -> None:
            said.append(line)
            other.__exit__(None, None, None)

    own = held(place / "out" / "models" / "ngram-xs")
    with experiment.locked(asked, Cell("ngram", "xs", 0), Told()), pytest.raises(RunError, match="in use"), own:
        pass
    assert [line.endswith("; waiting") for line in said] == [True]


def test_a_perplexity_of_other_weights_is_refused(place: Path) -> None:
    """Weights that are trained anew would stand beside the numbers of those before."""
    asked, cell, out = design(place, {"xs": 40}, "ngram"), Cell("ngram", "xs", 0), place / "out"
    claim(asked)
    _record.draw_subsets(asked, Progress())
    experiment.train_model(asked, cell, Progress())
    experiment.measure_perplexity(asked, cell, 40, Progress())
    experiment.measure_perplexity(asked, cell, 40, Progress())
    weights = out / "models" / "ngram-xs" / "model.safetensors"
    weights.write_bytes(weights.read_bytes() + b"\0")
    with pytest.raises(
        RunError, match="the perplexity of other weights; expected that of the weights in models/ngram-xs"
    ):
        experiment.measure_perplexity(asked, cell, 40, Progress())


def test_a_perplexity_of_another_model_or_experiment_is_refused(place: Path) -> None:
    asked, cell, out = design(place, {"xs": 40}, "ngram"), Cell("ngram", "xs", 0), place / "out"
    claim(asked)
    _record.draw_subsets(asked, Progress())
    experiment.make_model(asked, cell, 40, Progress())
    [(found, _)] = finished_models(out)
    path = out / "perplexity" / "ngram-xs.json"
    for changes in ({"size": "xl"}, {"requested_words": 41}):
        PERPLEXITY.write(path, found | changes)
        with pytest.raises(RunError, match="a model that is not in the experiment"):
            list(finished_models(out))
    PERPLEXITY.write(path, found)
    path.rename(path.with_name("ngram-sm.json"))
    with pytest.raises(RunError, match=r"ngram-sm\.json: the perplexity of ngram-xs; expected that of ngram-sm"):
        list(finished_models(out))
    path.with_name("ngram-sm.json").rename(path)
    edit_record(out / "runs" / "ngram-xs", model=finished_models(out).__next__()[1].record["model"] | {"name": "toy"})
    with pytest.raises(RunError, match=r"runs/ngram-xs: a run of toy; expected a run of ngram:ngram-xs@"):
        list(finished_models(out))


@pytest.mark.slow
def test_a_damaged_run_of_a_later_model_is_repaired(place: Path) -> None:
    asked = design(place, {"xs": 40, "sm": 56}, "ngram")
    hu2020.experiment(asked)
    results = (place / "out" / "results.csv").read_bytes()
    first, second = (asked.run(cell) for cell in asked.cells())
    ledger = first / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"undefined"', b'"undefinee"'))
    [shard] = (second / "shards").glob("*.results.parquet")
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(RunError, match=r"ledger\.jsonl, line 1: damaged"):
        list(finished_models(place / "out"))
    assert {state_of(asked, cell) for cell in asked.cells()} == {"trained"}
    hu2020.experiment(asked)
    assert (place / "out" / "results.csv").read_bytes() == results
    assert main(["integrity", str(place / "out")]) == 0


def test_a_damaged_part_is_refused_and_drawn_again(place: Path) -> None:
    asked = design(place, {"xs": 16, "sm": 40}, "ngram")
    claim(asked)
    _record.draw_subsets(asked, Progress())
    part, whole = asked.part("xs"), asked.part("xs").read_bytes()
    part.write_bytes(whole.replace(b"dog", b"dig"))
    with pytest.raises(RunError, match=r"xs\.txt: damaged or edited; .* Remove it"):
        _record.draw_subsets(asked, Progress())
    part.unlink()
    _record.draw_subsets(asked, Progress())
    assert part.read_bytes() == whole
    # A kill after a part was written and before its hash was recorded.
    recorded = DESIGN.read(asked.record())
    DESIGN.write(asked.record(), recorded | {"parts": {"sm": recorded["parts"]["sm"]}})
    part.write_bytes(whole[:20])
    _record.draw_subsets(asked, Progress())
    assert part.read_bytes() == whole


def test_a_state_that_a_kill_left_behind_goes(place: Path) -> None:
    asked, cell = design(place, {"xs": 40}, "lstm"), Cell("lstm", "xs", 1)
    folder = place / "out" / "models" / "lstm-xs-1"
    (folder / "state").mkdir(parents=True)
    (folder / "state" / "state.safetensors").touch()
    (folder / "training.json").write_text('{"family": "lstm"}')
    experiment.train_model(asked, cell, Progress())
    assert not (folder / "state").exists()
