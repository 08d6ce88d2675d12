"""Models that change while they are asked: nothing that a changed one answered is used, stored or gone on with."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from executor_for_tests import Here
from served_for_tests import Request, Server, serving
from toy_runs import agreement

from syntagm.cli import main
from syntagm.core import ModelError, Permissions, Progress
from syntagm.evaluation import Predictions, perplexity, score_text
from syntagm.models import Asking, Fill, Gap, LanguageModel, Surprisals, names
from syntagm.runs import Job, Run, open_run, run_suites
from syntagm.runs.cache import AnswerCache
from syntagm.runs.computing import Work
from syntagm.runs.driver import drive
from syntagm.runs.engine import execute
from syntagm.runs.evaluate import evaluate
from syntagm.suites import Suite

SUITES = [
    agreement("first"),
    agreement("second", ("man", "woman", "girl")),
    agreement("third", ("tree", "house", "car")),
]
CHANGED = "another answer than before: '.*' had .* bits, and now has .*; expected the same answer, within "


class Shifting(LanguageModel):
    """A bit for each letter; after it was asked about `after` texts or gaps, `shift` more for each token."""

    steady: ClassVar[bool] = False
    can = frozenset({"score", "fill"})

    def __init__(self, shift: float = 0.0, after: int = 0, numerical_error: float = 0.0) -> None:
        self.name, self.fingerprint = "shifting:", hashlib.sha256(b"shifting").hexdigest()
        self.bos, self.settings, self.record = "<s>", {"bos": "yes"}, {}
        self.shift, self.after, self.numerical_error = shift, after, numerical_error
        self.asked: list[str] = []

    def _added(self, question: str) -> float:
        self.asked.append(question)
        return self.shift if len(self.asked) > self.after else 0.0

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        for text in texts:
            lengths = [len(word) + bool(at) for at, word in enumerate(text.split(" "))]
            starts = np.cumsum([0, *lengths])[:-1].astype(np.int32)
            bits = np.array(lengths, np.float64) + self._added(text)
            yield Surprisals(text, starts, bits, np.ones(len(lengths), bool))

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        for gap in gaps:
            bits = np.array([len(word) for word in gap.words], np.float64) + self._added(gap.left)
            unknown = np.full(len(bits), np.nan)
            yield Fill(bits, unknown, unknown, np.ones(len(bits), bool))

    def single(self, words: Sequence[str]) -> Any:
        return np.ones(len(words), bool)


def shortened(answer: Surprisals, tokens: int) -> Surprisals:
    """An answer with so many tokens, which begin at 2."""
    starts = np.full(tokens, 2, np.int32)
    return Surprisals(answer.text, starts, np.ones(tokens), np.ones(tokens, bool))


class Disordered(Shifting):
    """Like a class of somebody's own that sorts the texts, or leaves one out."""

    def __init__(self, order: Callable[[list[Surprisals]], list[Surprisals]]) -> None:
        super().__init__()
        self._order = order

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        yield from self._order(list(super().score(texts, done)))


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (lambda answers: answers[::-1], "an answer to 'c d e' in the place of that to 'a b'"),
        (lambda answers: answers[:-1], "no answer to 'c d e'; expected 2 answers"),
        (lambda answers: [*answers, answers[0]], "more than 2 answers"),
        (lambda answers: [shortened(answer, 0) for answer in answers], "no tokens, in 'a b'"),
        (lambda answers: [shortened(answer, 1) for answer in answers], "a first token at 2, in 'a b'"),
    ],
)
def test_answers_are_those_to_the_texts(order: Callable[[list[Surprisals]], list[Surprisals]], message: str) -> None:
    for ask in (score_text, perplexity):
        with pytest.raises(ModelError, match=message):
            ask(Disordered(order), ["a b", "c d e"], **({"ends": False} if ask is perplexity else {}))


def test_a_steady_model_is_not_asked_again() -> None:
    class Steady(Shifting):
        steady: ClassVar[bool] = True

    (steady, other) = Steady(), Shifting()
    for model in (steady, other):
        evaluate(model, SUITES[:1])
    assert (len(steady.asked), len(other.asked)) == (6, 7)


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_change_within_a_unit(after: int, tmp_path: Path) -> None:
    """The first question is asked again at the end, whether its own answer was changed or not."""
    cache = AnswerCache(tmp_path / "answers.sqlite", pytest.fail)
    model = Shifting(-0.5, after)
    if not after:
        model.shift = 0.5
        model._added = lambda question: 0.5 * len(model.asked.append(question) or model.asked)  # type: ignore[method-assign]
    with pytest.raises(ModelError, match=f"shifting:: {CHANGED}"):
        run_suites(model, SUITES, tmp_path / "run", cache=cache)
    run = open_run(tmp_path / "run")
    assert (run.done, run.record["status"], run.first_answer()) == (False, "running", None)
    texts = [sentence.text for item in SUITES[0].items for sentence in item.sentences.values()]
    assert cache.get(model, texts) == {}


def test_what_was_finished_before_the_change_is_kept(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite", pytest.fail)
    # The first unit asks about 6 texts, and about the first one again.
    with pytest.raises(ModelError, match=CHANGED):
        run_suites(Shifting(2.0, after=9), SUITES, tmp_path / "run", cache=cache)
    assert len((tmp_path / "run" / "ledger.jsonl").read_text().splitlines()) == 1
    restored = Shifting()
    resumed = run_suites(restored, SUITES, tmp_path / "run", cache=cache)
    assert resumed.done
    # A text of the finished unit comes first.
    assert restored.asked[0] == "The dog barks"
    undisturbed = evaluate(Shifting(), SUITES)
    for suite in SUITES:
        assert resumed.results(suite.name).equals(undisturbed.results(suite.name))


def test_a_model_that_has_changed_since_the_run_began_computes_nothing_more(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        run_suites(Shifting(2.0, after=9), SUITES, tmp_path / "run")
    other = Shifting(2.0)
    with pytest.raises(ModelError, match=r"'The dog barks' had 13\.0000 bits, and now has 19\.0000"):
        run_suites(other, SUITES, tmp_path / "run")
    assert other.asked == ["The dog barks"]


def test_a_model_that_has_changed_since_its_answers_were_cached(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite", pytest.fail)
    run_suites(Shifting(), SUITES, tmp_path / "run", cache=cache)
    other = Shifting(2.0)
    with pytest.raises(ModelError, match=CHANGED):
        run_suites(other, SUITES, tmp_path / "other", cache=cache)
    assert len(other.asked) == 1
    same = Shifting()
    assert run_suites(same, SUITES, tmp_path / "same", cache=cache).done
    assert len(same.asked) == len(SUITES), "one cached answer a portion"


@pytest.mark.parametrize(
    ("shift", "numerical_error", "noticed"),
    [
        # 1e-4 nats are 1.44e-4 bits.
        (0.00007, 0.0, False),
        (0.001, 0.0, True),
        # Five times the error: 0.05 bits a token, in a text of two tokens.
        (0.02, 0.01, False),
        (0.04, 0.01, True),
        (float("nan"), 0.01, True),
    ],
)
def test_differences_within_the_numerical_error_are_no_change(
    shift: float, numerical_error: float, noticed: bool
) -> None:
    asking = Asking(Shifting(shift, 1, numerical_error))
    list(asking.score(["the dog"]))
    if noticed:
        with pytest.raises(ModelError, match="another answer than before"):
            asking.confirm()
    else:
        asking.confirm()


def test_errors_of_tokens_that_cancel_are_a_change() -> None:
    model = Shifting()
    model.probes = [next(model.score(["a b"]))]
    model.probes[0].bits[:] += [1.0, -1.0]
    with pytest.raises(ModelError, match=r"'a b' had 2\.0000 bits, and now has 1\.0000"):
        Asking(model).confirm()


def test_other_tokens_are_a_change() -> None:
    model = Shifting()
    [answer] = model.score(["the dog"])
    model.probes = [Surprisals("the dog", np.zeros(1, np.int32), answer.bits[:1], answer.in_vocabulary[:1])]
    with pytest.raises(ModelError, match="'the dog' had 1 tokens, other ones than now; expected the same answer"):
        Asking(model).confirm()


def test_gaps_texts_and_perplexity() -> None:
    asking = Asking(Shifting(1.0, 1))
    list(asking.fill([Gap("The ", "", ("dog", "cat"))]))
    with pytest.raises(ModelError, match=r"a candidate in the gap after 'The ' had 3\.0000 bits, and now has 4\.0000"):
        asking.confirm()
    for ask in (
        lambda model: score_text(model, "The dog"),
        lambda model: perplexity(model, ["The dog"], ends=False),
    ):
        ask(Shifting())
        with pytest.raises(ModelError, match="another answer than before: 'The dog'"):
            ask(Shifting(1.0, 1))


class Tells(Progress):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warned(self, message: str) -> None:
        self.warnings.append(message)


def driven(folder: Path, files: Sequence[str], model: str) -> Run | Exception:
    """Evaluate a model with two workers."""
    folder.mkdir()
    work = Work(Predictions("strict"), files)
    executor = Here(2)
    executor.permissions = Permissions(allow_exec=True)
    [(_, result)] = drive([Job(model, "", folder / "run")], work, folder, executor, Tells())
    return result


# A bit more for each text after so many, in each process.
PROGRAM = """
import json, re, sys
ABOUT = {"name": "m", "fingerprint": "1", "sees": "left", "exact": True, "bos": "<s>", "eos": None}
asked = 0
for line in sys.stdin:
    request = json.loads(line)
    reply = ABOUT
    if request["do"] == "score":
        reply = {"answers": []}
        for text in request["texts"]:
            tokens, asked = re.findall(r"\\s*\\S+", text), asked + 1
            bits = [len(token) + (asked > AFTER) + 0.0 for token in tokens]
            reply["answers"].append({"starts": [sum(map(len, tokens[:i])) for i in range(len(tokens))], "bits": bits})
    print(json.dumps({"id": request["id"], **reply}), flush=True)
"""


def program(folder: Path, after: int) -> str:
    (folder / "model.py").write_text(PROGRAM.replace("AFTER", str(after)))
    (folder / "model.toml").write_text(f"command = {json.dumps([sys.executable, '-SE', 'model.py'])}\n")
    return f"exec:{folder / 'model.toml'}"


def written(folder: Path, suites: Sequence[Suite]) -> list[str]:
    paths = []
    for suite in suites:
        rows = [f"{item.sentences['good'].text}\t{item.sentences['bad'].text}\n" for item in suite.items]
        (path := folder / f"{suite.name}.tsv").write_text("".join(["good\tbad\n", *rows]))
        paths.append(str(path))
    return paths


def test_the_command_line_and_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = written(tmp_path, SUITES)
    line = ["run", program(tmp_path, 4), "--allow-exec", "--no-cache", "--no-report", "-q", "-o", str(tmp_path / "run")]
    line += [word for file in files for word in ("--suite", file)]
    assert main(line) == 2
    [message] = [line for line in capsys.readouterr().err.splitlines() if line.startswith("syntagm: ")]
    assert "another answer than before: 'The bird bark' had 13.0000 bits, and now has 16.0000" in message
    assert not open_run(tmp_path / "run").done
    assert main(["score", program(tmp_path, 1), "The dog", "--allow-exec"]) == 2
    assert main(["score", program(tmp_path, 9), "The dog", "--allow-exec"]) == 0
    result = driven(tmp_path / "workers", files, program(tmp_path, 4))
    assert isinstance(result, ModelError)
    assert "another answer than before" in str(result)


def shifted(server: Server, monkeypatch: pytest.MonkeyPatch, nats: float) -> None:
    """From now on, the server gives other numbers."""
    completed = server.answers.completion

    def changed(request: Request) -> Request:
        answer = completed(request)
        logprobs = answer["choices"][0]["logprobs"]
        logprobs["token_logprobs"] = [value and value - nats for value in logprobs["token_logprobs"]]
        return answer

    monkeypatch.setattr(server.answers, "completion", changed)


@pytest.mark.slow
def test_a_server_that_changes_after_loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole bits, right after it was loaded: all answers agree with each other, and none with those of the loading."""
    cache = AnswerCache(tmp_path / "answers.sqlite", pytest.fail)
    with serving("sglang") as server:
        model = names.load(f"openai:{server.url}")
        undisturbed = run_suites(model, SUITES, tmp_path / "one", cache=cache)
        assert undisturbed.done
        shifted(server, monkeypatch, 1.0)
        # All of these answers are in the cache.
        with pytest.raises(ModelError, match=r"'The gardener who admired the boats was tired\.' had"):
            run_suites(model, SUITES, tmp_path / "two", cache=cache)
        with pytest.raises(ModelError, match=CHANGED):
            execute(Predictions("strict"), model, [agreement("fourth", ("horse",))], None, cache=cache)
        assert cache.get(model, ["The horse barks"]) == {}


@pytest.mark.slow
def test_answers_before_an_error_are_cached_if_the_server_can_confirm_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite", pytest.fail)

    def broken_off(server: Server, suite: Suite, word: str) -> list[str]:
        """Evaluate a suite while the server can't answer to sentences with a word; return what is cached."""
        completed = server.answers.completion
        with monkeypatch.context() as patch:
            patch.setattr(
                server.answers, "completion", lambda request: {} if word in request["prompt"] else completed(request)
            )
            with pytest.raises(ModelError, match="the choices null"):
                run_suites(model, [suite], tmp_path / word, cache=cache)
        return sorted(cache.get(model, [sentence.text for item in suite.items for sentence in item.sentences.values()]))

    with serving("sglang") as server:
        model = names.load(f"openai:{server.url}?parallel=1")
        assert broken_off(server, SUITES[0], "The dog") == [
            "The bird bark",
            "The bird barks",
            "The cat bark",
            "The cat barks",
        ]
        shifted(server, monkeypatch, 1.0)
        assert broken_off(server, SUITES[1], "The woman") == []
