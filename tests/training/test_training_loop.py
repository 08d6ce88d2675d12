"""The training loop: history, schedules, stopping, and that nothing is lost or changed by a kill or a full disk."""

import errno
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
import training_for_tests
from models_for_tests import TEXT
from safetensors.torch import load_file
from training_for_tests import GPT2, LSTM, learn

from syntagm.cli import _lines, main
from syntagm.core import InputError, Interrupted, ModelError, Progress, RunError, UsageError, lock, seal
from syntagm.models import splitting
from syntagm.training import (
    Default,
    Gpt2Settings,
    Gpt2Text,
    LstmSettings,
    Settings,
    TransformerSize,
    families,
    loop,
    rate_at,
    record,
    state,
    warmup_steps,
)
from syntagm.training.gpt2.train import train as train_gpt2
from syntagm.training.lstm import train as lstm


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_text(TEXT * 4, encoding="utf-8")
    return path


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(family, marks=() if family == "lstm" else pytest.mark.slow)
        for family in training_for_tests.BY_GRADIENTS
    ],
)
def undisturbed(request: pytest.FixtureRequest, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A family, and the folder of a training that nothing happened to."""
    folder = tmp_path_factory.mktemp("undisturbed") / request.param
    learn(request.param, folder, corpus)
    return request.param, folder


class Noting(Progress):
    """Notes each step, and stops the training after `last`."""

    def __init__(self, last: int = 0) -> None:
        self.steps: list[tuple[int, float]] = []
        self.rows: list[Mapping[str, float]] = []
        self._last = last

    def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
        self.steps.append((step, rate))
        if step == self._last:
            raise Interrupted

    def evaluated(self, row: Mapping[str, float]) -> None:
        self.rows.append(row)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The bits that evaluations shall find, one after the other."""
    bits: list[float] = []
    nats = torch.log(torch.tensor(2.0, dtype=torch.float64)).item()
    monkeypatch.setattr(lstm.Lstm, "held_out", lambda _: (bits.pop(0) * nats, 1))
    return bits


@pytest.mark.slow
def test_the_history_says_how_it_went(undisturbed: Any) -> None:
    family, folder = undisturbed
    made = json.loads((folder / "training.json").read_text())
    rows = made["history"]
    assert made["family"] == family
    assert made["settings"]["lr"] == training_for_tests.LOOPS.get(family, LSTM).lr
    text = "text.trees" if training_for_tests.on_trees(families.find(family)) else "text.txt"
    assert [made[name][0]["name"] for name in ("corpus", "held_out")] == [text, text]
    assert rows[-1]["bits_per_word"] < rows[0]["bits_per_word"]
    assert all(row["perplexity"] == pytest.approx(2 ** row["bits_per_word"]) for row in rows)
    assert [row["step"] for row in rows] == sorted({row["step"] for row in rows})
    assert not (folder / "state").exists()
    assert (made["device"], made["version"], made["torch"]) == ("cpu", version("syntagm"), torch.__version__)


@pytest.mark.parametrize("damage", ["", "[1]", "[" * 10_000])
def test_a_damaged_record_is_refused(tmp_path: Path, damage: str) -> None:
    (tmp_path / "training.json").write_text(damage)
    with pytest.raises(
        RunError, match=r"no JSON|a list; expected a record written by `syntagm train`|brackets nested more"
    ):
        record.finished(tmp_path)


@pytest.mark.slow
def test_the_same_call_again_trains_no_more(undisturbed: Any, corpus: Path) -> None:
    family, folder = undisturbed
    before = (folder / "training.json").read_bytes()
    noting = Noting()
    history = learn(family, folder, corpus, progress=noting)
    assert (history, noting.steps) == (json.loads(before)["history"], [])
    assert (folder / "training.json").read_bytes() == before


@pytest.mark.parametrize("kind", ["*.json", "model.safetensors"])
def test_a_finished_model_that_was_damaged_is_refused_by_name(
    undisturbed: Any, corpus: Path, tmp_path: Path, kind: str
) -> None:
    family, made = undisturbed
    folder = Path(shutil.copytree(made, tmp_path / family))
    path = min(path for path in folder.glob(kind) if path.name in ("model.json", "config.json", "model.safetensors"))
    content = path.read_bytes()
    path.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
    with pytest.raises(RunError, match=re.escape(f"{path}: a file that was damaged or edited after sealing")):
        learn(family, folder, corpus)


@pytest.mark.slow
def test_the_size_is_told_before_the_first_step_and_a_slow_step_when_it_ends(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_lines, "_INTERVAL", 0.0)
    learn("gpt2", tmp_path / "m", corpus, progress=_lines.Lines())
    parameters = sum(tensor.numel() for tensor in load_file(tmp_path / "m" / "model.safetensors").values())
    steps = json.loads((tmp_path / "m" / "training.json").read_text())["history"][-1]["step"]
    size, first, *_ = capsys.readouterr().out.splitlines()
    told = f"{parameters:,} parameters, {steps:,} steps at most (epochs: 2, steps in each: {steps // 2:,})"
    assert size == f"gpt2: {told}"
    assert re.fullmatch(rf"step 1 of {steps:,}, loss [\d.]+, rate .*, .* tokens/s, \d+ min left at most", first)


@pytest.mark.slow
def test_the_rate_falls_to_a_quarter_after_an_evaluation_without_gain(
    corpus: Path, tmp_path: Path, judged: list[float]
) -> None:
    judged += [5.0, 5.0, 4.0, 4.5]
    noting = Noting()
    learn("lstm", tmp_path / "m", corpus, replace(LSTM, epochs=4, every=0), noting)
    steps = len(noting.steps) // 4
    rates = [rate for _, rate in noting.steps]
    # No better at the second evaluation; at the fourth all is over.
    assert rates == [5.0] * 2 * steps + [1.25] * 2 * steps
    assert [row["bits_per_word"] for row in noting.rows] == pytest.approx([5, 5, 4, 4.5])


@pytest.mark.slow
def test_the_last_step_is_evaluated_too(tmp_path: Path, corpus: Path) -> None:
    steps = learn("lstm", tmp_path / "a", corpus, replace(LSTM, epochs=1, every=0))[-1]["step"]
    history = learn("lstm", tmp_path / "b", corpus, replace(LSTM, epochs=1, every=int(steps) - 1))
    assert [row["step"] for row in history] == [steps - 1, steps]


def test_training_stops_when_patience_ends_and_the_best_is_kept(
    corpus: Path, tmp_path: Path, judged: list[float]
) -> None:
    judged += [5.0, 4.0, 4.5, 4.2, 3.0]
    settings = replace(LSTM, epochs=9, every=3, patience=2)
    history = learn("lstm", tmp_path / "m", corpus, settings)
    assert [row["step"] for row in history] == [3, 6, 9, 12]
    # What is written is the model after step 6: that of a training that stops there.
    judged[:] = [5.0, 4.0, 4.0]
    with pytest.raises(Interrupted):
        learn("lstm", tmp_path / "six", corpus, settings, Noting(last=6))
    best = load_file(tmp_path / "six" / "state" / "best-6.safetensors")
    written = load_file(tmp_path / "m" / "model.safetensors")
    assert all(torch.equal(best[name], written[name]) for name in written)


@pytest.mark.slow
def test_a_cosine_goes_up_and_down(corpus: Path, tmp_path: Path) -> None:
    noting = Noting()
    settings = Settings(2, "adamw", 0.01, "cosine", warmup=4)
    learn("lstm", tmp_path / "m", corpus, settings, noting)
    rates = [rate for _, rate in noting.steps]
    assert rates[:5] == pytest.approx([0.0025, 0.005, 0.0075, 0.01, 0.01])
    assert rates[4:] == sorted(rates[4:], reverse=True)
    assert rates[-1] == rate_at(settings, len(rates) - 1, len(rates), 0)
    # A tenth is reached one step after the last; over 100 steps or so the last is near.
    assert 0.001 <= rates[-1] < 0.0011


def killed(family: str, folder: Path, corpus: Path, event: str, number: int) -> None:
    program = Path(training_for_tests.__file__)
    command = [sys.executable, str(program), family, str(folder), str(corpus), event, str(number)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == -signal.SIGKILL, done.stderr


def same_files(folder: Path, other: Path) -> bool:
    """Are the models the same bit for bit, and everything else but the seconds that it took?"""
    names = {path.name for path in folder.iterdir()}
    assert names == {path.name for path in other.iterdir()}
    made, wanted = (json.loads((place / "training.json").read_text()) for place in (folder, other))
    for rows in (made, wanted, *made["history"], *wanted["history"]):
        rows.pop("seconds")
    assert made == wanted
    return all(
        (folder / name).read_bytes() == (other / name).read_bytes() for name in names - {"training.json", "seal.json"}
    )


@pytest.mark.slow
@pytest.mark.parametrize(("event", "number"), [("step", 7), ("evaluation", 20)])
def test_a_killed_training_ends_with_the_same_model(
    undisturbed: Any, corpus: Path, tmp_path: Path, event: str, number: int
) -> None:
    family, folder = undisturbed
    made = json.loads((folder / "training.json").read_text())
    if family != "lstm" and event == "evaluation":
        number = made["history"][0]["step"]
    if family == "onlstm":
        # In the averages.
        assert 0 < made["averaged_after"] < made["history"][-2]["step"]
        number = made["averaged_after"] + 3
    killed(family, tmp_path / family, corpus, event, number)
    assert not (tmp_path / family / "training.json").exists()
    assert event == "evaluation" or (tmp_path / family / "state" / "state.safetensors").exists()
    learn(family, tmp_path / family, corpus)
    assert same_files(tmp_path / family, folder)


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 3, 4, 12, 13, 14])
def test_a_kill_while_a_file_is_put_in_its_place(corpus: Path, tmp_path: Path, number: int) -> None:
    """Best weights, states, and at the end the model's own files."""
    learn("lstm", tmp_path / "whole", corpus)
    killed("lstm", tmp_path / "killed", corpus, "rename", number)
    learn("lstm", tmp_path / "killed", corpus)
    assert same_files(tmp_path / "killed", tmp_path / "whole")


def test_a_training_killed_while_it_tidies_up_has_ended(undisturbed: Any, corpus: Path) -> None:
    family, folder = undisturbed
    (folder / "state").mkdir()
    (folder / "state" / "best-3.safetensors").write_bytes(b"left")
    (folder / "state" / f".state.safetensors.{'0' * 16}.syntagm").mkdir()
    (folder / f".model.json.{'0' * 16}.syntagm").write_bytes(b"left")
    noting = Noting()
    learn(family, folder, corpus, progress=noting)
    assert noting.steps == []
    assert not (folder / "state").exists()
    assert not list(folder.glob(".*"))


@pytest.fixture
def begun(corpus: Path, tmp_path: Path) -> Path:
    """An LSTM's training, stopped after step 13, in the first epoch; its state is that of the evaluation at step 10."""
    with pytest.raises(Interrupted):
        learn("lstm", tmp_path / "begun", corpus, progress=Noting(last=13))
    assert (tmp_path / "begun" / "state" / "state.safetensors").exists()
    return tmp_path / "begun"


def test_it_goes_on_from_the_last_state(begun: Path, corpus: Path) -> None:
    noting = Noting()
    learn("lstm", begun, corpus, progress=noting)
    assert noting.steps[0][0] == 11


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"settings": replace(LSTM, lr=4.0)}, r"settings\.lr = 5\.0; expected settings\.lr = 4\.0"),
        ({"settings": replace(LSTM, seed=2)}, r"settings\.seed = 1"),
        ({"batch": 3}, r"text\.batch = 2; expected text\.batch = 3"),
        ({"tied": True}, r"size\.tied = False"),
    ],
)
def test_other_settings_are_refused(begun: Path, corpus: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(RunError, match=message):
        learn("lstm", begun, corpus, **change)


def test_another_text_is_refused(begun: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT * 4 + "One more .\n", encoding="utf-8")
    with pytest.raises(RunError, match="corpus"):
        learn("lstm", begun, tmp_path / "text.txt")


@pytest.mark.parametrize("place", [0.001, 0.5, 0.999])
@pytest.mark.parametrize("name", ["state", "best-10"])
def test_a_damaged_state_is_refused(begun: Path, corpus: Path, name: str, place: float) -> None:
    path = begun / "state" / f"{name}.safetensors"
    content = bytearray(path.read_bytes())
    content[int(len(content) * place)] ^= 1
    path.write_bytes(content)
    # Nothing may be better, or the best would be written anew.
    with pytest.raises(RunError, match="damaged") if name == "state" else pytest.raises((RunError, Interrupted)):
        learn("lstm", begun, corpus, progress=Noting(last=11) if name != "state" else None)
    if name != "state":
        with pytest.raises(RunError, match="damaged"):
            state.load_best(begun / "state", state.Place(best_file=path.name))


def test_an_edited_place_and_the_best_weights_of_another_step_are_refused(begun: Path, corpus: Path) -> None:
    path, best = begun / "state" / "state.safetensors", begun / "state" / "best-10.safetensors"
    content, weights = path.read_bytes(), best.read_bytes()
    edited = content.replace(b'\\"tokens\\": 1', b'\\"tokens\\": 2')
    assert edited != content
    path.write_bytes(edited)
    with pytest.raises(RunError, match=r"state\.safetensors: a damaged state \(the checksum does not match"):
        learn("lstm", begun, corpus)
    path.write_bytes(content)
    saved = state.load(begun / "state")
    assert saved
    # Aligned like the tensors of a training that was never interrupted: the file's own lie anywhere in memory.
    assert {tensor.data_ptr() % 64 for tensor in saved[1].values()} == {0}
    state.save_best(begun / "state", 10, {"a": torch.zeros(2)})
    with pytest.raises(RunError, match=r"best-10\.safetensors: .*not those that the state names"):
        state.load_best(begun / "state", saved[0])
    best.write_bytes(weights)
    assert state.load_best(begun / "state", saved[0])


@pytest.mark.parametrize("family", ["gpt2", "masked"])
def test_a_tokenizer_that_was_damaged_during_the_training_is_refused(corpus: Path, tmp_path: Path, family: str) -> None:
    with pytest.raises(Interrupted):
        learn(family, tmp_path, corpus, replace(GPT2, every=3), progress=Noting(last=5))
    path = tmp_path / "tokenizer.json"
    content = json.loads(path.read_text())
    # Two entries of the same length swap their numbers: everything else about the text stays as it was.
    vocabulary = content["model"]["vocab"]
    one, two = [token for token in vocabulary if len(token) == 1][-2:]
    vocabulary[one], vocabulary[two] = vocabulary[two], vocabulary[one]
    path.write_text(json.dumps(content))
    with pytest.raises(RunError, match=r"another training run, with tokenizer\.json = "):
        learn(family, tmp_path, corpus, replace(GPT2, every=3))


def test_a_state_cut_short_is_refused(begun: Path, corpus: Path) -> None:
    path = begun / "state" / "state.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RunError, match="damaged"):
        learn("lstm", begun, corpus)


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No file may grow beyond 2,000 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, before)


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_state(
    begun: Path, corpus: Path, undisturbed: Any, request: pytest.FixtureRequest
) -> None:
    if undisturbed[0] != "lstm":
        pytest.skip("the loop is the same")
    names = {path.name: path.read_bytes() for path in (begun / "state").glob("*.safetensors")}
    request.getfixturevalue("full_disk")
    with pytest.raises(RunError, match=r"can't be written|no space"):
        learn("lstm", begun, corpus)
    assert {path.name: path.read_bytes() for path in (begun / "state").glob("*.safetensors")} == names
    assert not list((begun / "state").glob(".*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.getrlimit(resource.RLIMIT_FSIZE)[1],) * 2)
    learn("lstm", begun, corpus)
    assert same_files(begun, undisturbed[1])


def test_a_folder_in_use_is_refused(begun: Path, corpus: Path) -> None:
    with lock.held(begun / "state"), pytest.raises(RunError, match="in use by process"):
        learn("lstm", begun, corpus)


def test_a_loss_that_is_no_number_is_refused(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"step \d+: a loss of (nan|inf); expected a finite number"):
        learn("lstm", tmp_path / "m", corpus, Settings(40, "sgd", 1e38, "constant", clip=0))
    with pytest.raises(InputError, match=r"step \d+: .+ bits per held-out word"):
        learn("lstm", tmp_path / "n", corpus, Settings(40, "sgd", 1e30, "constant", clip=0, every=1))


def test_a_text_without_a_batch_is_refused(corpus: Path, tmp_path: Path) -> None:
    # A column needs two numbers, of words of the Treebank and ends of sentences; a row of BERT's is a sentence.
    sentences = corpus.read_text().splitlines()
    words = sum(len(splitting.split(text, "treebank")) + 1 for text in sentences)
    for family, has, needed in (
        ("lstm", f"{words:,} words and sentence ends", "200,000"),
        ("gpt2", r"[\d,]+ tokens, cut into [\d,]+ rows of 16", "100,000 rows"),
        ("masked", r"[\d,]+ rows of at most 16 tokens", "100,000 rows"),
    ):
        with pytest.raises(InputError, match=f"too short for one batch: {has}; expected at least {needed}"):
            learn(family, tmp_path / family, corpus, batch=100_000)


@pytest.mark.slow
def test_a_warm_up_longer_than_the_training_is_refused(corpus: Path, tmp_path: Path) -> None:
    one_epoch = replace(GPT2, epochs=1)
    [row] = learn("gpt2", tmp_path / "m", corpus, one_epoch)
    steps = int(row["step"])
    [row] = learn("gpt2", tmp_path / "as_long", corpus, replace(one_epoch, warmup=steps))
    assert row["step"] == steps
    with pytest.raises(UsageError, match=f"warmup: {steps + 1} steps, and the whole training has {steps} .*, 1 epochs"):
        learn("gpt2", tmp_path / "longer", corpus, replace(one_epoch, warmup=steps + 1))
    # Twice as many epochs are twice as many steps.
    with pytest.raises(UsageError, match=f"expected at most {2 * steps}\\."):
        learn("gpt2", tmp_path / "longer", corpus, replace(GPT2, warmup=2 * steps + 1))


@pytest.mark.slow
def test_a_default_warm_up_fits_a_short_training(corpus: Path, tmp_path: Path) -> None:
    class Hearing(Progress):
        heard: ClassVar[list[str]] = []
        rates: ClassVar[list[float]] = []

        def warned(self, message: str) -> None:
            self.heard.append(message)

        def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
            self.rates.append(rate)

    default = replace(GPT2, warmup=Default(10_000))
    row = learn("gpt2", tmp_path / "m", corpus, default, Hearing())[-1]
    steps = int(row["step"])
    assert Hearing.heard == [
        f"the whole training has {steps} steps, so the warm-up is reduced from the default of 10,000 steps to {steps // 10} "
        "(--warmup sets it)"
    ]
    assert Hearing.rates.index(max(Hearing.rates)) + 1 == steps // 10
    # The same number, given, is refused; and it is another training.
    with pytest.raises(UsageError, match="warmup: 10,000 steps, and the whole training"):
        learn("gpt2", tmp_path / "given", corpus, replace(GPT2, warmup=10_000))
    with pytest.raises(RunError, match="warmup"):
        learn("gpt2", tmp_path / "m", corpus, replace(GPT2, warmup=10_000))
    # What fits is not reduced.
    assert warmup_steps(replace(GPT2, warmup=Default(steps // 2)), steps) == steps // 2


def test_a_tokenizer_that_is_nowhere(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["--corpus", str(corpus), "--valid", str(corpus), "-o", str(tmp_path / "m")]
    (empty := tmp_path / "empty").mkdir()
    for name, found in (
        (str(tmp_path / "none"), "no such folder"),
        (
            "nobody/nothing",
            "no such folder, and no such tokenizer on the hub or in its cache; the hub can't be reached",
        ),
        (str(empty), "a folder without a readable tokenizer"),
    ):
        assert main(["train", "gpt2", *texts, "--tokenizer", name]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"syntagm: tokenizer {name}: {found}")
        assert "expected a folder with tokenizer.json" in said
        assert "Give the folder of a GPT-2 tokenizer" in said


@pytest.mark.slow
@pytest.mark.parametrize("family", ["lstm", "gpt2"])
def test_two_processes_train_the_model_of_one_with_twice_the_rows(family: str, corpus: Path, tmp_path: Path) -> None:
    program = training_for_tests.__file__
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", program]
    done = subprocess.run(
        [*command, family, str(tmp_path / "two"), str(corpus), "together", "2"],
        capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert not done.returncode, done.stderr
    history = learn(family, tmp_path / "one", corpus, batch=4, dropout=0.0)
    made = json.loads((tmp_path / "two" / "training.json").read_text())
    assert made["processes"] == 2
    for row, other in zip(made["history"], history, strict=True):
        assert row["step"] == other["step"]
        assert row["tokens"] == other["tokens"]
        assert row["loss"] == pytest.approx(other["loss"], abs=1e-4)
        assert row["bits_per_word"] == pytest.approx(other["bits_per_word"], abs=1e-3)
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    for name, tensor in one.items():
        torch.testing.assert_close(two[name], tensor, rtol=0, atol=2e-3)


class OfTwo:
    """Stands for `torch.distributed` in one of two processes, of which the other does the same."""

    def __init__(self) -> None:
        self.talk = ""

    def is_initialized(self) -> bool:
        return bool(self.talk)

    def init_process_group(self, talk: str) -> None:
        self.talk = talk

    def destroy_process_group(self) -> None:
        """Nothing runs beside this process."""

    def barrier(self) -> None:
        """The other is here, too."""

    def broadcast(self, tensor: torch.Tensor, source: int) -> None:
        """What the first says."""

    def all_reduce(self, tensor: torch.Tensor) -> None:
        """The other has as much."""
        tensor *= 2


@pytest.fixture
def of_two(monkeypatch: pytest.MonkeyPatch) -> OfTwo:
    together = OfTwo()
    monkeypatch.setattr(loop, "dist", together)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "0")
    return together


@pytest.mark.slow
def test_the_second_process_needs_no_best_weights_at_the_end(
    corpus: Path, tmp_path: Path, of_two: OfTwo, judged: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(LSTM, epochs=2, every=0)
    judged += [5.0]
    [row] = learn("lstm", tmp_path / "one", corpus, replace(settings, epochs=1))
    judged += [5.0, 4.0]
    with pytest.raises(Interrupted):
        # In the second epoch; the state is that of the end of the first.
        learn("lstm", tmp_path / "m", corpus, settings, Noting(last=int(row["step"]) + 1))
    monkeypatch.setenv("RANK", "1")
    [best] = (tmp_path / "m" / "state").glob("best-*")
    # The first process has found a better one, and deleted what stood here.
    monkeypatch.setattr(lstm.Lstm, "held_out", lambda learner: (best.unlink(), (4.0, 1))[1])
    learn("lstm", tmp_path / "m", corpus, settings)
    assert not (tmp_path / "m" / "model.safetensors").exists()


def test_processes_talk_as_the_device_of_the_model_needs(
    corpus: Path, tmp_path: Path, of_two: OfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A machine with cards that this training leaves alone.
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    learn("lstm", tmp_path / "m", corpus, replace(LSTM, epochs=1))
    assert of_two.talk == "gloo"


@pytest.mark.slow
def test_a_model_that_was_not_trained_here_is_not_overwritten(corpus: Path, tmp_path: Path) -> None:
    learn("gpt2", tmp_path / "given", corpus, replace(GPT2, epochs=1))
    texts, rows = [str(corpus)], Gpt2Text(window=16, batch=2, tokenizer=str(tmp_path / "given"))
    settings = Gpt2Settings(TransformerSize(1, 8, 2, 32), rows, GPT2)
    for name in ("model.safetensors", "model-00001-of-00002.safetensors", "pytorch_model.bin"):
        (folder := tmp_path / name.partition(".")[0]).mkdir()
        (folder / name).write_bytes(b"of somebody else")
        with pytest.raises(RunError, match=rf"not trained here \({name}\); expected a new folder"):
            learn("lstm", folder, corpus)
        with pytest.raises(RunError, match="not trained here"):
            train_gpt2(texts, texts, folder, settings)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {name: b"of somebody else"}


@pytest.mark.slow
def test_a_record_without_weights_is_no_model(corpus: Path, tmp_path: Path) -> None:
    learn("lstm", tmp_path / "m", corpus, replace(LSTM, epochs=1))
    (tmp_path / "m" / "model.safetensors").unlink()
    with pytest.raises(RunError, match=r"training\.json of a finished training without the weights"):
        learn("lstm", tmp_path / "m", corpus, replace(LSTM, epochs=1))


def test_the_first_process_alone_says_that_all_is_done(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lstm, "train", lambda *_: [])
    command = ["train", "lstm", "--corpus", str(corpus), "--valid", str(corpus), "-o", str(tmp_path / "m")]
    for rank, said in (("0", f"{tmp_path / 'm'}: done\n"), ("1", "")):
        monkeypatch.setenv("RANK", rank)
        assert main(command) == 0
        assert capsys.readouterr().out == said


def test_units_are_not_asked_of_a_given_tokenizer() -> None:
    with pytest.raises(UsageError, match="units: words; expected no units together with tokenizer"):
        Gpt2Settings(text=Gpt2Text("words", tokenizer="given"))


@pytest.mark.slow
def test_a_state_that_can_not_be_deleted_costs_nothing(corpus: Path, tmp_path: Path) -> None:
    # As a lock that is held is, on a network file system.
    (tmp_path / "m" / "state" / "left").mkdir(parents=True)
    learn("lstm", tmp_path / "m", corpus, replace(LSTM, epochs=1))
    assert (tmp_path / "m" / "training.json").exists()


def test_a_training_goes_on_on_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    module = torch.nn.Linear(2, 1)
    optimiser = torch.optim.SGD(module.parameters())
    tensors = state.tensors_of(module, optimiser, {})
    monkeypatch.setattr(torch.Tensor, "device", property(lambda _: torch.device("cuda")))
    assert state.restore(module, optimiser, tensors) == {}


def test_a_file_that_is_missing_is_named_before_any_text_is_read(corpus: Path, tmp_path: Path) -> None:
    (bad := tmp_path / "bad.txt").write_bytes(b"A dog barks .\n\0\n")
    none = str(tmp_path / "none.txt")
    with pytest.raises(InputError, match=r"none\.txt: no such file"):
        lstm.train([str(bad)], [none], tmp_path / "m", LstmSettings())
    for held_out, cloze in ((none, str(corpus)), (str(corpus), none)):
        with pytest.raises(InputError, match=r"none\.txt: no such file"):
            train_gpt2([str(bad)], [held_out], tmp_path / "m", Gpt2Settings(cloze=(str(corpus), cloze)))


@pytest.mark.slow
def test_a_vocabulary_of_another_training_is_not_taken_over(corpus: Path, tmp_path: Path) -> None:
    size, loop, texts = TransformerSize(1, 8, 2, 32), replace(GPT2, epochs=1), [str(corpus)]

    def train(name: str, vocabulary: int) -> Path:
        rows = Gpt2Text(vocabulary=vocabulary, window=16, batch=2)
        train_gpt2(texts, texts, tmp_path / name, Gpt2Settings(size, rows, loop))
        return tmp_path / name

    with pytest.raises(RunError, match=r"text\.vocabulary = 270; expected text\.vocabulary = 280"):
        train(train("a", 270).name, 280)
    # What a training leaves that was killed before its first state.
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "tokenizer.json").write_bytes((tmp_path / "a" / "tokenizer.json").read_bytes())
    assert len(json.loads((train("b", 280) / "tokenizer.json").read_text())["model"]["vocab"]) == 280
    # A checkpoint of somebody else's.
    (tmp_path / "b" / "training.json").unlink()
    with pytest.raises(RunError, match="not trained here"):
        train("b", 280)


@pytest.mark.slow
def test_a_gpt2_begins_with_a_checkpoint(corpus: Path, tmp_path: Path) -> None:
    history = learn("gpt2", tmp_path / "first", corpus)
    start, texts = str(tmp_path / "first"), [str(corpus)]
    size, rows = TransformerSize(1, 8, 2, 32, 0.2), Gpt2Text(window=16, batch=2)

    def train(name: str, **changes: int) -> list[dict[str, float]]:
        # So low a rate leaves the weights as they were.
        loop = replace(GPT2, epochs=1, lr=1e-12)
        settings = Gpt2Settings(replace(size, **changes), rows, loop, init_from=start)
        return train_gpt2(texts, texts, tmp_path / name, settings)

    best = min(row["bits_per_word"] for row in history)
    assert train("second")[-1]["bits_per_word"] == pytest.approx(best, abs=1e-6)
    made, first = (json.loads((tmp_path / name / "training.json").read_text()) for name in ("second", "first"))
    assert made["init_from"]["training"] == first
    assert made["text"]["vocabulary"] == 300
    with pytest.raises(ModelError, match="n_layer = 1; expected 2, as in the settings"):
        train("third", layers=2)
    config = tmp_path / "first" / "config.json"
    whole = config.read_text()
    config.write_text(json.dumps(json.loads(whole) | {"n_layer": 2}))
    with pytest.raises(ModelError, match=r"config\.json: a file that was damaged or edited after sealing"):
        train("third", layers=2)
    seal.renew(tmp_path / "first")
    with pytest.raises(ModelError, match="12 weights that are missing or have another shape"):
        train("third", layers=2)
    config.write_text(whole)
    seal.write(tmp_path / "first")
    settings = Gpt2Settings(size, replace(rows, vocabulary=300), replace(GPT2, epochs=1, lr=1e-12))
    with pytest.raises(RunError, match="another training run, with init_from"):
        train_gpt2(texts, texts, tmp_path / "second", settings)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("seed", "-1", "seed: -1; expected from 0"),
        ("seed", "99999999999999999999", "seed"),
        ("clip", "nan", "clip: nan; expected at least 0"),
        ("lr", "inf", "lr: inf"),
        ("device", "quark", "a device of this machine"),
        ("window", "0", "window: 0; expected at least 1"),
        ("batch", "0", "batch: 0; expected at least 1"),
        ("dropout", "1.5", "dropout: 1.5"),
    ],
)
@pytest.mark.parametrize("family", ["lstm", "gpt2"])
def test_odd_options_are_refused(
    family: str, option: str, value: str, message: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["--corpus", str(corpus), "--valid", str(corpus), "-o", str(tmp_path / "m")]
    assert main(["train", family, *texts, f"--{option}={value}"]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


@pytest.mark.slow
def test_a_full_disk_at_the_end_costs_nothing(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Any, folder: Path) -> None:
        # The library opens the file, which empties it, before it writes.
        (folder / "tokenizer.json").write_text('{"version":')
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("transformers.PreTrainedTokenizerFast.save_pretrained", full)
        with pytest.raises(RunError, match=r"no space for [1-9]"):
            learn("gpt2", tmp_path / "m", corpus)
    noting = Noting()
    learn("gpt2", tmp_path / "m", corpus, progress=noting)
    assert (noting.steps, (tmp_path / "m" / "training.json").exists()) == ([], True)
    modes = {path.stat().st_mode for path in (tmp_path / "m").iterdir()}
    assert len(modes) == 1, "who may read the configuration may read the weights"


def test_a_file_where_the_folder_should_be(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for family in ("lstm", "gpt2"):
        with pytest.raises(RunError, match=r"can't be written.*Choose another folder"):
            learn(family, tmp_path / "file", corpus)
