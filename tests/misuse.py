"""Misuse: each argument of everything public is replaced by each of many wrong values, and every error must be a `SyntagmError`.

`python tests/misuse.py [SHARE]` tries all, or a share of them, and prints a line for each exception of another kind.
"""

import contextlib
import inspect
import io
import math
import random
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import torch
from masked_for_tests import transformer as masked_transformer, word_pieces
from models_for_tests import byte_level, transformer
from toy_runs import agreement, pairs

import syntagm as sg
from syntagm.core import settings
from syntagm.models import Entry, Gap
from syntagm.views import by_name

WORDS = "lemma,form:singular,form:plural\nlaugh,laughs,laugh\nbe,is,are\n"
# Methods of a mapping and the like, whose exceptions are part of what they promise.
DOCUMENTED: dict[str, tuple[type[Exception], ...]] = {
    "Group.count": (KeyError,),
    "Sentence.content": (KeyError,),
}
# Parameters that are functions of the user. Their exceptions are the user's own.
CALLED = ("done", "value")
# What a subclass calls on, and nobody else.
INHERITED = ("on_train_begin", "on_step_end", "on_evaluate", "on_save", "on_epoch_end", "on_train_end")


@dataclass(frozen=True)
class Call:
    """A call that works, with an argument for each parameter that can be given one.

    Arguments:
        name: the public name, or that of a class and its method.
        function: what is called.
        arguments: parameter -> value. `*` stands for positional arguments, and further keywords are options.
    """

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, **changed: Any) -> None:
        """Call it with changed arguments, exhaust what it yields, and show what it returns."""
        arguments = {**self.arguments, **changed}
        with quiet():
            result = self.function(*arguments.pop("*", ()), **arguments)
            if isinstance(result, Iterator):
                result = list(result)
            shown = [repr(result), str(result)]
            for part in result if isinstance(result, list | tuple) else [result]:
                shown += [part._repr_html_()] if hasattr(part, "_repr_html_") else []
            assert all(isinstance(text, str) for text in shown)


@dataclass(frozen=True)
class Misuse:
    """A call with one wrong argument."""

    call: Call
    parameter: str
    value: str

    def __str__(self) -> str:
        return f"{self.call.name}({self.parameter}={self.value})"


@dataclass(frozen=True)
class Finding:
    """A misuse that ended in another exception than a `SyntagmError`."""

    misuse: Misuse
    error: Exception

    def __str__(self) -> str:
        place = traceback.extract_tb(self.error.__traceback__)[-1]
        text = str(self.error).partition("\n")[0][:90]
        return f"{self.misuse}: {type(self.error).__name__}: {text} ({Path(place.filename).name}:{place.lineno})"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Show neither warnings nor what is printed."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


class Misuses:
    """All misuses, with the calls that they vary.

    Arguments:
        folder: an empty folder for files and runs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "words.csv").write_text(WORDS)
        (folder / "pairs.tsv").write_text("good\tbad\nThe dog barks.\tThe dog bark.\nThe cat sleeps.\tThe cat sleep.\n")
        (folder / "text.txt").write_text("The dog barks.\n")
        (folder / "empty").mkdir()
        self.suites = [agreement("first"), agreement("second", ("dog", "cat"))]
        self.toy, self.chance = sg.load_model("toy"), sg.load_model("random")
        self.run, self.other = (sg.evaluate(model, self.suites) for model in (self.toy, self.chance))
        self.saved = sg.run_suites(self.toy, self.suites, folder / "saved")
        self.small = transformer("gpt2", byte_level()).eval()
        self.causal = sg.from_transformers(self.small, byte_level(), name="small")
        self.masked = sg.from_transformers(
            masked_transformer("bert", word_pieces()), word_pieces(), name="masked", masked=True
        )
        gapped = pairs("gaps", ("The dog laughs.", "The dog laugh."), ("The cat is here.", "The cat are here."))
        self.filled = sg.fill(self.causal, [gapped], str(folder / "words.csv"))
        self.gapped = gapped
        self.values = self._values()
        self.calls = [*self._functions(), *self._types(), *self._methods()]
        self.views = list(self._views())
        self._places = 0

    def of_calls(self) -> list[Misuse]:
        """Return the misuses of functions, types and methods: each argument of each call replaced by each of the values."""
        return self._misuses(self.calls)

    def of_views(self) -> list[Misuse]:
        """Return the misuses of the options of tables and figures."""
        return self._misuses(self.views)

    def _misuses(self, calls: list[Call]) -> list[Misuse]:
        return [
            Misuse(call, parameter, value) for call in calls for parameter in call.arguments for value in self.values
        ]

    def finding(self, misuse: Misuse) -> Finding | None:
        """Try a misuse in a folder of its own; return what is wrong."""
        value = self.values[misuse.value]()
        given = {misuse.parameter: (value,) if misuse.parameter == "*" else value}
        self._places += 1
        (place := self.folder / f"place{self._places}").mkdir()
        try:
            with contextlib.chdir(place):
                misuse.call(**given)
        except (sg.SyntagmError, *DOCUMENTED.get(misuse.call.name, ())):
            return None
        except TypeError as error:
            return None if misuse.parameter in CALLED and callable(value) else Finding(misuse, error)
        except Exception as error:
            return Finding(misuse, error)
        return None

    def _values(self) -> dict[str, Callable[[], Any]]:
        """Return the wrong values, each made anew when it is used."""
        malformed = sg.Suite("x", (sg.Item("1", {"good": sg.Sentence("A dog.")}),), ())
        constant: dict[str, Any] = {
            "None": None, "True": True, "0": 0, "-1": -1, "2.5": 2.5, "nan": math.nan, "inf": math.inf, "10**30": 10**30,
            "''": "", "'x'": "x", "surrogate": "\ud800", "NUL": "a\0b", "override": "\u202eabc", "long": "x" * 5000,
            "b''": b"", "b'x'": b"x", "[]": [], "[None]": [None], "['x']": ["x"], "{}": {}, "{1: 2}": {1: 2},
            "class": int, "function": len, "missing path": Path("no/such"), "folder": self.folder / "empty",
            "file": self.folder / "text.txt", "array": np.array([1.0, 2.0]), "frame": pl.DataFrame({"a": [1]}),
            "module": torch.nn.Linear(1, 1), "tensor": torch.ones(2), "model": self.toy, "run": self.run,
            "runs": [self.run, self.run], "filled": self.filled, "suite": self.suites[0], "malformed": malformed,
            "twice": [self.suites[0], self.suites[0]], "table": sg.Table("T", ("a",), ((1,),)),
        }  # fmt: skip
        made: dict[str, Callable[[], Any]] = {
            "object": object,
            "generator": lambda: (number for number in range(3)),
        }
        return made | {name: (lambda value=value: value) for name, value in constant.items()}

    def _functions(self) -> Iterator[Call]:
        run, other, suites, toy, folder = self.run, self.other, self.suites, self.toy, self.folder
        resampling = sg.Resampling(draws=100)
        numbers = iter(range(10**6))

        def new(function: Callable[..., Any], parameter: str) -> Callable[..., Any]:
            """Replace a parameter that is not given by a new folder."""

            def call(**arguments: Any) -> Any:
                return function(**{parameter: folder / f"new{next(numbers)}", **arguments})

            return call

        evaluated = {
            "model": toy, "suites": suites, "measures": ["surprisal(condition=good)"], "limit": 2, "stop_at": None,
            "seed": 1, "align": "strict", "cache": None, "progress": None,
        }  # fmt: skip
        yield Call("check_suites", sg.check_suites, {"suites": suites, "file": ""})
        yield Call("compare", sg.compare, {"first": run, "second": other, "rule": "first", "resampling": resampling})
        yield Call("estimate", sg.estimate, {"run": run, "resampling": resampling})
        yield Call("evaluate", sg.evaluate, evaluated)
        yield Call("run_suites", new(sg.run_suites, "folder"), evaluated | {"command": ""})
        yield Call("run_suites", sg.run_suites, {"model": toy, "suites": suites, "folder": folder / "saved"})
        gaps = {
            "model": self.causal, "suites": [self.gapped], "words": str(folder / "words.csv"), "folder": None, "limit": 2,
            "seed": 1, "eligible": "all", "top": (0.9,), "bottom": (0.1,), "shared": False, "most_probable": 2,
            "progress": None, "command": "",
        }  # fmt: skip
        yield Call("fill", sg.fill, gaps)
        yield Call("figure", sg.figure, {"name": "scores", "runs": [run], "resampling": resampling, "measure": "first"})
        yield Call("table", sg.table, {"name": "scores", "runs": [run], "resampling": resampling, "measure": "first"})
        in_memory = {"model": self.small, "tokenizer": byte_level(), "name": "mine", "masked": False, "bos": "no"}
        yield Call("from_transformers", sg.from_transformers, in_memory)
        yield Call("load_model", sg.load_model, {"text": "random", "seed": "2"})
        yield Call("make", sg.make, {"*": ("marvin2018/simple_agrmt",), "n": 2, "seed": 1, "style": "natural"})
        yield Call("open_run", sg.open_run, {"folder": folder / "saved"})
        yield Call("parse_formula", sg.parse_formula, {"text": "(*;%a%) < (*;%b%)"})
        yield Call("read_suites", sg.read_suites, {"*": (str(folder / "pairs.tsv"),), "allow_pickle": False})
        text = {
            "model": toy, "text": "The dog barks.", "by": "word", "context": "lines", "stride": None,
            "punctuation": "attached", "line_ends": "space", "progress": None,
        }  # fmt: skip
        yield Call("score_text", sg.score_text, text)
        texts = {"model": sg.load_model("toy", eos="yes"), "texts": ["the dog barks"], "ends": True, "done": None}
        yield Call("perplexity", sg.perplexity, texts)
        report = {"runs": [run], "path": folder / "page.html", "ceiling": 10**7, "resampling": resampling}
        yield Call("write_report", sg.write_report, report)
        written = {"suites": [pairs("p", ("A dog.", "B dog."))], "path": folder / "p.tsv", "format": "", "lossy": False}
        yield Call("write_suites", sg.write_suites, written)

    def _types(self) -> Iterator[Call]:
        suite, numbers = self.suites[0], np.array([1.0, 2.0])
        estimate = {
            "group": sg.Group("m"), "value": 0.5, "low": 0.4, "high": 0.6, "n": 3, "method": "m", "ties": 0, "undefined": 0,
        }  # fmt: skip
        yield Call("Estimate", sg.Estimate, estimate)
        trainer = SimpleNamespace(model=self.small, processing_class=byte_level(), log=print)
        trainer.is_fsdp_enabled = trainer.is_deepspeed_enabled = False
        callback = {
            "trainer": trainer,
            "suites": self.suites,
            "folder": self.folder / "t",
            "every": 2,
            "precision": 0.2,
        }
        yield Call("EvaluationCallback", sg.EvaluationCallback, callback)
        gap_words = {"left": "The ", "right": " barks", "words": ("dog", "cat"), "best": 2}
        yield Call("Gap", sg.Gap, gap_words)
        masses = {name: np.array([0.5, 0.2]) for name in ("bits", "above", "below")}
        yield Call(
            "Fill", sg.Fill, masses | {"in_vocabulary": np.array([True, True]), "best": (Entry("dog", True, 1.5),)}
        )
        rows = (sg.WordRow("be", ("is", "are")), sg.WordRow("laugh", ("laughs", "laugh")))
        words = {"name": "w", "labels": ("singular", "plural"), "rows": rows, "remarks": (), "repeats": False}
        yield Call("WordList", sg.WordList, words)
        yield Call("WordRow", sg.WordRow, {"lemma": "be", "forms": ("is", "are"), "tags": {}, "also": {}})
        yield Call("Figure", sg.Figure, {"spec": sg.figure("scores", self.run).spec, "table": pl.DataFrame({"a": [1]})})
        formula = sg.parse_formula("(1;%a%) < (1;%b%)")
        yield Call("Formula", sg.Formula, {"text": formula.text, "tree": formula.tree})
        group = {"model": "m", "suite": "s", "measure": "", "rule": "", "labels": (("a", "b"),), "counts": (("n", 3),)}
        yield Call("Group", sg.Group, group)
        yield Call("Item", sg.Item, {"id": "1", "sentences": {"good": sg.Sentence("A dog.")}, "tags": {"a": "b"}})
        yield Call("Prediction", sg.Prediction, {"name": "p", "formula": formula})
        yield Call("Region", sg.Region, {"name": "r", "start": 0, "end": 3})
        yield Call("Resampling", sg.Resampling, {"suites": "fixed", "draws": 100, "seed": 1, "simulated": None})
        result = {"model": "m", "suite": "s", "item": "1", "measure": "p", "value": 1.0, "n": 3, "margin": 0.5}
        yield Call("Result", sg.Result, result)
        record = {"folder": None, "record": self.run.record, "ledger": {}, "tables": {}, "files": {}}
        yield Call("Run", sg.Run, record)
        yield Call("Sentence", sg.Sentence, {"text": "A dog.", "regions": (sg.Region("1", 0, 1), sg.Region("2", 2, 5))})
        parts = {"name": "s", "items": suite.items, "predictions": suite.predictions, "tags": {}, "aggregate": "sum"}
        yield Call("Suite", sg.Suite, parts)
        arrays = {"starts": np.array([0, 2], np.int32), "bits": numbers, "in_vocabulary": np.array([True, True])}
        yield Call("Surprisals", sg.Surprisals, {"text": "A dog", **arrays})
        table = {
            "title": "T", "columns": ("a",), "rows": ((1,),), "published": (), "notes": ("N.",), "warnings": (),
            "narrow": (),
        }  # fmt: skip
        yield Call("Table", sg.Table, table)
        trajectory = {
            "folder": self.folder / "steps", "suites": self.suites, "tokenizer": byte_level(), "name": "m",
            "precision": None, "seed": 1, "start": 0, "masked": False, "bos": "no",
        }  # fmt: skip
        yield Call("Trajectory", sg.Trajectory, trajectory)

    def _methods(self) -> Iterator[Call]:
        run, formula = self.run, sg.parse_formula("(1;%a%) < (1;%b%)")
        for each in (run, self.saved):
            for name in (
                "suite",
                "sentences",
                "scored",
                "tokens",
                "distributions",
                "regions",
                "reading",
                "answers",
                "in_vocabulary",
            ):
                parameter = "name" if name == "suite" else "suite"
                yield Call(f"Run.{name}", getattr(each, name), {parameter: "first"})
            yield Call("Run.results", each.results, {"suite": "first"})
            yield Call("Run.table", each.table, {"ending": "parquet", "suite": "first"})
            yield Call("Run.tally", each.tally, {"rule": "first"})
            yield Call("Run.kind", each.kind, {"measure": "verb"})
            yield Call("Run.signature", each.signature, {"suite": "first", "measure": "verb"})
            yield Call("Run.first_answer", each.first_answer)
            yield Call("Run.report_finished", each.report_finished, {"progress": sg.Progress()})
        yield Call("Run.refuse", run.refuse, {"what": "x"})
        yield Call("Run.refuse_unreduced", run.refuse_unreduced, {})
        yield Call("Run.file", self.filled.file, {"name": "words.csv"})
        yield Call("Run.file", self.saved.file, {"name": "results.csv"})
        yield Call("Formula.margin", formula.margin, {"value": lambda region, condition: 1.0})
        yield Call("Formula.difference", formula.difference, {"value": lambda region, condition: 1.0})
        for name in ("references", "comparisons", "terms"):
            yield Call(f"Formula.{name}", getattr(formula, name))
        yield Call("Sentence.content", self.suites[0].items[0].sentences["good"].content, {"name": "1"})
        words = sg.WordList("w", ("a", "b"), (sg.WordRow("be", ("is", "are")),))
        yield Call("WordList.label", words.label, {"word": "is"})
        for name in ("places", "csv"):
            yield Call(f"WordList.{name}", getattr(words, name))
        yield Call("Group.count", sg.Group(counts=(("n", 3),)).count, {"name": "n"})
        yield Call("Resampling.method", sg.Resampling().method, {"units": "suites", "count": 3})
        for model in (self.toy, self.causal, self.masked):
            for name in ("score", "reduce", "parse"):
                yield Call(f"LanguageModel.{name}", getattr(model, name), {"texts": ["the dog"], "done": None})
            for name in ("read", "read_reduced"):
                arguments = {"texts": ["the dog"], "overlap": None, "done": None}
                yield Call(f"LanguageModel.{name}", getattr(model, name), arguments)
            yield Call("LanguageModel.single", model.single, {"words": ["dog"]})
            yield Call("LanguageModel.fill", model.fill, {"gaps": [Gap("the ", "", ("dog", "cat"))], "done": None})
        table, figure = sg.table("scores", run), sg.figure("scores", run)
        for kind, product, format in (("Table", table, "csv"), ("Figure", figure, "svg")):
            yield Call(f"{kind}.save", product.save, {"path": self.folder / f"out.{format}", "formats": [format]})
            yield Call(f"{kind}.content", product.content, {"format": format})
            yield Call(f"{kind}.format_of", product.format_of, {"path": Path(f"a.{format}")})
            for name in ("to_frame", "to_pandas", "marks"):
                yield Call(f"{kind}.{name}", getattr(product, name))
        yield Call("Table.chosen", table.chosen, {"columns": "suite"})
        yield Call("Table.shown_number", table.shown_number, {"column": "accuracy", "number": 0.5})
        for name in ("csv", "markdown", "latex"):
            yield Call(f"Table.{name}", getattr(table, name))
        yield Call("Figure.svg", figure.svg)
        trajectory = sg.Trajectory(self.folder / "steps", self.suites[:1], byte_level())
        yield Call("Trajectory.evaluate", trajectory.evaluate, {"model": self.small, "step": 1})
        yield Call("Trajectory.runs", trajectory.runs)
        progress = sg.Progress()
        for name, method in inspect.getmembers(progress, inspect.ismethod):
            given = dict.fromkeys(inspect.signature(method).parameters, 1)
            yield Call(f"Progress.{name}", method, given)

    def _views(self) -> Iterator[Call]:
        """Yield each table and figure with each of its options."""
        for kind in by_name.MAKERS:
            make = sg.table if kind == "table" else sg.figure
            for name in by_name.offering(kind):
                for option in settings.of_parameters(by_name.find(kind, name)):
                    given = {"name": name, "runs": [self.run, self.other], option.name: option.default}
                    yield Call(
                        f"{kind} {name} {option.name}", _only(make, given, option.name), {option.name: option.default}
                    )


def _only(make: Callable[..., Any], given: Mapping[str, Any], option: str) -> Callable[..., Any]:
    return lambda **changed: make(**{**given, **changed})


def public_calls() -> set[str]:
    """Return the public names, and those of the public methods of public types."""
    names = set()
    for name in sg.__all__:
        public = getattr(sg, name)
        if not inspect.isclass(public):
            names.add(name)
        elif not issubclass(public, (Exception, sg.Measure)):
            names |= {f"{name}.{method}" for method, _ in own_methods(public)}
            names |= {name} if inspect.signature(public).parameters else set()
    return names


def own_methods(kind: type) -> list[tuple[str, Any]]:
    """Return the public methods of a type that this package defines."""
    return [
        (name, method)
        for name, method in inspect.getmembers(kind, callable)
        if not name.startswith("_") and getattr(method, "__module__", "").startswith("syntagm")
        and inspect.isfunction(method) and name not in INHERITED
    ]  # fmt: skip


def main(share: float = 1.0) -> int:
    """Try all misuses, or a share of them; print the findings."""
    total = 0
    with tempfile.TemporaryDirectory(prefix="misuse-") as folder:
        misuses = Misuses(Path(folder))
        for name, group in {"calls": misuses.of_calls(), "views": misuses.of_views()}.items():
            chosen = [misuse for misuse in group if random.random() < share]
            findings = [finding for misuse in chosen if (finding := misuses.finding(misuse))]
            print(*findings, f"{name}: {len(chosen):,} misuses, {len(findings):,} findings", sep="\n", flush=True)
            total += len(findings)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:2])))
