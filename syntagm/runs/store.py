"""Runs and the reading of run directories (`runs.files`). Reading a run never loads a model."""

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cached_property, lru_cache
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
import polars as pl

from syntagm.core import FormulaError, Progress, RunError, UsageError, counted, natural, public, shown
from syntagm.evaluation import PUBLISHED, Kind, Reading, Rule, Schema, SuiteRecord, Task, regions
from syntagm.models import Surprisals, entropy_reduction
from syntagm.runs.files import content_of, damaged, has_run, place_of, read_ledger, read_record, read_shard
from syntagm.runs.kept import Kept
from syntagm.runs.signature import Signature
from syntagm.runs.tasks import TASKS
from syntagm.stats import score
from syntagm.suites import Region, Sentence, compared, exclusion_of, parse, sample_of

REGION_COLUMNS = ("model", "suite", "item", "condition", "region", "content", "bits")
TOKEN_COLUMNS = ("model", "suite", "item", "condition", "index", "start", "token", "bits", "known")
DISTRIBUTION_COLUMNS = ("model", "suite", "item", "condition", "index", "entropy", "rank", "probability")
# The file of all results, and the ending of those of a unit.
RESULTS, RESULTS_OF_UNIT = "results.parquet", "results.parquet"


_CURE = "Use syntagm.evaluate(model, suites), or syntagm.open_run(folder)."
_NOTED: ContextVar[tuple[list["Run"], ...]] = ContextVar("judged", default=())


@contextlib.contextmanager
def judged() -> Iterator[list["Run"]]:
    """Collect the runs of which a block of code reads verdicts, values or margins."""
    # Runs are shared by threads, so that a mark on a run could be another thread's.
    found: list[Run] = []
    token = _NOTED.set((*_NOTED.get(), found))
    try:
        yield found
    finally:
        _NOTED.reset(token)


def _note(run: "Run") -> None:
    for found in _NOTED.get():
        if run not in found:
            found.append(run)


@public(cure=_CURE)
class Run:
    """A run, finished or not, in a run directory (`open_run`) or in memory.

    Attributes:
        folder: the run directory as it was given, for messages; None for a run in memory.
        root: its absolute path, by which files are read: the program may change its working directory.
        record: the content of run.json.
        model: the canonical name of the model.
        name: the label that was given to the model (`--name`), or else its canonical name.
        tolerance: margins within it are ties. Under another convention than bits, ties are margins of exactly 0.
        tolerance_in_bits: differences in bits within it are ties.
    """

    def __init__(
        self,
        folder: Path | None,
        record: dict[str, Any],
        ledger: dict[str, dict[str, Any]],
        tables: Mapping[tuple[str, str], pl.DataFrame] | None = None,
        files: Mapping[str, bytes] | None = None,
        root: Path | None = None,
    ) -> None:
        self.folder, self.record, self._ledger = folder, record, ledger
        self.root = root or (folder and folder.absolute())
        self._in_memory, self._files = tables or {}, files or {}
        if missing := {"model", "task", "options", "suites", "status"} - record.keys():
            raise UsageError("Run, record", f"no {min(missing)!r}", "the record of a run", _CURE)
        self.model: str = record["model"]["name"]
        self.name: str = self.recorded_name
        self.task: type[Task[Any]] = TASKS[record["task"]]
        self.tolerance_in_bits: float = record["options"]["tolerance"]
        self.tolerance = 0.0 if "convention" in record["options"] else self.tolerance_in_bits
        self.rule: Rule = record["options"].get("align", "strict")
        # A run whose ledger lost lines is unfinished, whatever the record says. The same command computes missing units.
        recorded = {name for suite in record["suites"] for name in suite["shards"]}
        self.done: bool = record["status"] == "done" and recorded <= ledger.keys()
        self._kept = Kept(self)

    @property
    def recorded_name(self) -> str:
        """The name that the record gives: the label of the model, or else its canonical name."""
        name: str = self.record["model"].get("label") or self.model
        return name

    @property
    def place(self) -> str:
        """The place of the run, for messages."""
        return str(self.folder) if self.folder else f"the run of {self.model} in memory"

    @property
    def title(self) -> str:
        """The label and the canonical name of the model."""
        return self.model if self.name == self.model else f"{self.name}: {self.model}"

    @property
    def label(self) -> str:
        """The name of the folder, or that of the model for a run in memory."""
        return self.folder.name if self.folder else self.model

    def file(self, name: str) -> bytes:
        """Return the content of a file that the task saves in addition to the tables, such as `words.csv`.

        Raises:
            RunError: the file is missing, damaged or edited.
        """
        if name not in (known := self._files if self.folder is None else self.record["files"]):
            raise RunError(
                self.place, f"no file {name!r}", "one of " + ", ".join(known) if known else "a run with files"
            )
        if self.root is None or self.folder is None:
            return self._files[name]
        path, cure = self.folder / name, "Repeat the command that made the run to restore the file."
        content = content_of(self.root / name)
        if hashlib.sha256(content).hexdigest() != self.record["files"].get(name):
            raise damaged(path, cure)
        return content

    @property
    def paths(self) -> list[Path]:
        """The files whose hashes the record and the ledger have; none of a run in memory."""
        if self.root is None:
            return []
        shards = self.root / "shards"
        tables = [shards / f"{name}.{kind}" for name, line in self._ledger.items() for kind in line["files"]]
        return [*(self.root / name for name in self.record["files"]), *tables]

    def __repr__(self) -> str:
        state = "" if self.done else ", not finished"
        suites = counted(len(self.suites), "suite")
        return shown(f"<Run of {self.model} on {suites}, {self.task.name}{state}: {self.place}>")

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("suite", "items", "predictions"))
        rows = "".join(
            f"<tr><td>{escape(shown(suite.name))}</td><td>{suite.items}</td>"
            f"<td>{escape(shown(', '.join(suite.predictions)))}</td></tr>"
            for suite in self.suites
        )
        return (
            f"<table><caption>{escape(repr(self))}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )

    @cached_property
    def suites(self) -> tuple[SuiteRecord, ...]:
        """The records of the suites, in order."""
        tuple_fields = ("conditions", "shards", "left_out")
        suites = [
            suite | {key: tuple(suite[key]) for key in tuple_fields if key in suite} for suite in self.record["suites"]
        ]
        return tuple(SuiteRecord(**suite) for suite in suites)

    @cached_property
    def tables(self) -> Mapping[str, Schema]:
        """The tables of each unit: file suffix -> columns."""
        return self.task.tables(self.record["options"])

    def report_finished(self, progress: Progress) -> None:
        """Report a run of which nothing is left to compute."""
        size = sum(suite.sentences for suite in self.suites)
        progress.planned(size, size, len(self.suites))

    def suite(self, name: str) -> SuiteRecord:
        """Return the record of a suite.

        Raises:
            RunError: the suite is not in the run.
        """
        for suite in self.suites:
            if suite.name == name:
                return suite
        raise RunError(self.place, f"no suite {name!r}", "one of " + ", ".join(suite.name for suite in self.suites))

    def kind(self, measure: str) -> Kind:
        """Return the recorded kind of the values of a measure, or of those that a scoring rule selects (`stats.score`).

        If a rule selects no measure, there are no values, and the kind is `VERDICT`.

        Raises:
            RunError: the rule selects measures of different kinds.
        """
        recorded: Mapping[str, str] = self.record["kinds"]
        if measure in recorded and measure not in ("first", "all"):
            return Kind(recorded[measure])
        measures = {name for suite in self.suites for name in suite.predictions_for(measure)}
        kinds = {Kind(recorded[name]) for name in measures} or {Kind.VERDICT}
        if len(kinds) > 1:
            found = " and ".join(sorted(kind.described for kind in kinds))
            raise RunError(self.place, f"{measure}: {found}", "measures of one kind", "Name one measure.")
        return kinds.pop()

    @property
    def undefined(self) -> dict[str, int]:
        """The reasons why results are undefined, each with its first example: reason -> count."""
        shards = [self._ledger.get(name, {}) for suite in self.suites for name in suite.shards]
        counts: dict[str, int] = {}
        with_example: dict[str, str] = {}
        for reason, count in [pair for shard in shards for pair in shard.get("undefined", {}).items()]:
            kind = reason.partition(", for example in ")[0]
            with_example.setdefault(kind, reason)
            counts[kind] = counts.get(kind, 0) + count
        return {with_example[kind]: count for kind, count in counts.items()}

    def results(self, suite: str | None = None) -> pl.DataFrame:
        """Return the results of one suite, or of all suites: one row per item and measure.

        The columns are model, suite, item, measure, value, margin and n.
        """
        _note(self)
        if suite is None:
            return self._derived("results", lambda: self._named(self._all_results()))
        return self._named(self.table(RESULTS_OF_UNIT, suite))

    def tally(self, rule: str = "") -> pl.DataFrame:
        """Return the tally of the results under a rule, or of all measures (`stats.score.tally`).

        Many numbers of a page rest on it: it is made once from the results, and kept in memory like tables.

        Arguments:
            rule: "first" or "all" (predictions), or the name of a measure; empty for all measures.
        """
        predictions = {suite.name: suite.predictions_for(rule) for suite in self.suites}
        if rule == "all":
            return self._derived(
                "tally all", lambda: score.tally(score.verdicts(self.results(), predictions, rule), self.tolerance)
            )
        of_measures = self._derived("tally", lambda: score.tally(self.results(), self.tolerance))
        return score.selected(of_measures, predictions, rule) if rule else of_measures

    def _derived(self, name: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """Return what is made of the whole run, kept in memory like its tables: a run that was opened never changes."""
        _note(self)
        return self._kept.table(name, "", make)

    def _all_results(self) -> pl.DataFrame:
        # A finished run has them in one file, which is decoded several times faster than those of all units. These are
        # the original, so each must still be what was written; and if the file is not, nothing is lost.
        if self.root is None or not self.done or RESULTS not in self.record["files"]:
            return self.table(RESULTS_OF_UNIT)
        content = content_of(self.root / RESULTS)
        if hashlib.sha256(content).hexdigest() != self.record["files"][RESULTS]:
            return self.table(RESULTS_OF_UNIT)
        for suite in self.suites:
            for name in suite.shards:
                self._content(name, RESULTS_OF_UNIT)
        return pl.read_parquet(BytesIO(content)).select(*self.tables[RESULTS_OF_UNIT])

    def _named(self, results: pl.DataFrame) -> pl.DataFrame:
        # A run may be continued with another spelling of the model's name (`bos=yes` for `bos=auto`).
        return results.with_columns(model=pl.lit(self.model))

    def sentences(self, suite: str) -> pl.DataFrame:
        """Return the sentences of a suite: one row per sentence, with the columns of `evaluation.SENTENCES`.

        Regions and tokens are lists.

        Raises:
            RunError: the run has no table of sentences.
        """
        if "parquet" not in self.tables:
            self.refuse("sentences, tokens or regions")
        return self.table("parquet", suite)

    def in_vocabulary(self, suite: str) -> tuple[int, int]:
        """Return how many tokens of a suite's sentences are in the model's vocabulary, and how many tokens there are.

        Only the column with the answer is decoded.
        """
        names = self._units_about.get(suite, ()) if self.task.surprisals and "parquet" in self.tables else ()

        def counts() -> pl.DataFrame:
            known = [self._table(name, "parquet", ["known"])["known"].explode() for name in names]
            total = sum(len(part) - part.null_count() for part in known)
            return pl.DataFrame({"known": [sum(int(part.sum()) for part in known)], "tokens": [total]})

        known, tokens = self._kept.table("in vocabulary", suite, counts).row(0)
        return known, tokens

    def scored(self, suite: str) -> pl.DataFrame:
        """Return the sentences of a suite with their surprisals; RunError if the run has none."""
        if not self.task.surprisals:
            self.refuse("surprisals, tokens or regions")
        return self.sentences(suite)

    def table(self, ending: str, suite: str | None = None) -> pl.DataFrame:
        """Return a table of one suite, or of all suites in order.

        Arguments:
            ending: the suffix of the table's files, a key of `tables`.
            suite: the name of the suite; None for all.

        Raises:
            UsageError: the run has no such table.
        """
        if ending not in self.tables:
            raise UsageError(f"Run.table, {ending!r}", "no such table", "one of " + ", ".join(self.tables))
        if suite is None:
            parts = [self.table(ending, record.name) for record in self.suites]
            return pl.concat([pl.DataFrame(schema=self.tables[ending]), *parts])
        return self._kept.table(ending, suite, lambda: self._of_suite(ending, self.suite(suite)))

    def _of_suite(self, ending: str, suite: SuiteRecord) -> pl.DataFrame:
        """Return the rows of a suite. In fill runs, units of earlier suites may contain some of them."""
        schema, tables = self.tables[ending], []
        for name in self._units_about.get(suite.name, ()):
            # Columns are selected by name, because their order is that of the cut-offs in the command.
            table = self._table(name, ending).select(*schema)
            shared = len(self._ledger[name].get("suites", ())) > 1
            tables.append(table.filter(pl.col("suite") == suite.name) if shared else table)
        return pl.concat([pl.DataFrame(schema=schema), *tables])

    @cached_property
    def _units_about(self) -> dict[str, list[str]]:
        """The finished units with rows of each suite, in order: suite -> units."""
        units: dict[str, list[str]] = {}
        for suite in self.suites:
            for name in suite.shards:
                if name in self._ledger:
                    for other in self._ledger[name].get("suites") or (suite.name,):
                        units.setdefault(other, []).append(name)
        return units

    def tokens(self, suite: str, sentences: pl.DataFrame | None = None) -> pl.DataFrame:
        """Return the tokens of a suite: one row per token, with the columns of `TOKEN_COLUMNS`.

        The token of an end-of-text symbol is empty.

        Arguments:
            sentences: some of the sentences of the suite, if not all are wanted.
        """
        exploded = self._numbered(self.scored(suite) if sentences is None else sentences)
        ends = pl.concat_list(pl.col("starts").list.slice(1), pl.col("text").str.len_chars().cast(pl.Int32))
        exploded = exploded.with_columns(ends=ends).explode(["starts", "ends", "bits", "known"])
        return exploded.select(
            pl.lit(self.model).alias("model"),
            pl.lit(suite).alias("suite"),
            "item",
            "condition",
            pl.int_range(pl.len()).over("sentence").alias("index"),
            pl.col("starts").alias("start"),
            pl.col("text").str.slice(pl.col("starts"), pl.col("ends") - pl.col("starts")).alias("token"),
            "bits",
            "known",
        )

    def distributions(self, suite: str) -> pl.DataFrame:
        """Return what is kept of the distributions before tokens: one row per token, with `DISTRIBUTION_COLUMNS`.

        `entropy` is in bits, `rank` counts from 1, and `probability` is that of the token. Where `entropy_reduction` was
        asked for, there is a further column of this name, in bits (`answers.entropy_reduction`).

        Raises:
            RunError: no measure of the run asked for reductions.
        """
        self.refuse_unreduced()
        exploded = self._numbered(self.scored(suite)).explode(["bits", "entropy", "rank"])
        if not self.reduces_entropy:
            return self._distributions(suite, exploded)
        parts = exploded["entropy"].to_numpy(), np.flatnonzero(np.diff(exploded["sentence"].to_numpy())) + 1
        reduced = [entropy_reduction(part) for part in np.split(*parts)]
        column = pl.Series("entropy_reduction", np.concatenate(reduced), pl.Float64)
        return self._distributions(suite, exploded).with_columns(column)

    @property
    def reduces_entropy(self) -> bool:
        """Whether a measure of the run asked for the reduction of entropies."""
        measures = self.record["options"].get("measures", {})
        return any(name.partition("(")[0] == "entropy_reduction" for name in measures)

    def _distributions(self, suite: str, exploded: pl.DataFrame) -> pl.DataFrame:
        return exploded.select(
            pl.lit(self.model).alias("model"),
            pl.lit(suite).alias("suite"),
            "item",
            "condition",
            pl.int_range(pl.len()).over("sentence").alias("index"),
            "entropy",
            "rank",
            (2.0 ** -pl.col("bits")).alias("probability"),
        )

    def refuse_unreduced(self) -> None:
        """Raise RunError if the run has no entropies and ranks."""
        if "entropy" not in self.tables.get("parquet", {}):
            raise RunError(
                self.place, "a run without entropies and ranks", "a run with a measure that asks for them",
                "Run the model with --measure 'rank(condition=NAME, region=NAME)', or with entropy(...).",
            )  # fmt: skip

    def _numbered(self, sentences: pl.DataFrame) -> pl.DataFrame:
        """Return the sentences with at least one token, numbered in `sentence`."""
        return sentences.with_row_index("sentence").filter(pl.col("starts").list.len() > 0)

    def regions(self, suite: str) -> pl.DataFrame:
        """Return the regions of a suite: one row per region, with the columns of `REGION_COLUMNS`.

        `bits` is the suite's aggregate over the tokens of the region, or nan where a token crosses a region border.
        """
        values = regions(self.scored(suite), self.reading(suite))
        return values.select(pl.lit(self.model).alias("model"), pl.lit(suite).alias("suite"), *REGION_COLUMNS[2:])

    def reading(self, suite: str) -> Reading:
        """Return the rules that turn the bits of a suite's tokens into the values of regions."""
        return Reading(self.suite(suite).aggregate, self.rule, self.record["model"]["start"] is not None)

    def answers(self, suite: str) -> Iterator[tuple[str, str, Sentence, Surprisals]]:
        """Yield item id, condition, sentence and surprisals of each sentence of a suite."""
        for row in self.scored(suite).iter_rows(named=True):
            spans = zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True)
            sentence = Sentence(row["text"], tuple(Region(*span) for span in spans))
            starts, bits = np.array(row["starts"], np.int32), np.array(row["bits"], np.float64)
            yield (
                row["item"],
                row["condition"],
                sentence,
                Surprisals(row["text"], starts, bits, np.array(row["known"], bool)),
            )

    def first_answer(self) -> Surprisals | None:
        """Return the surprisals of the first sentence that is finished; None if there is none, or the task has no sentences."""
        if "parquet" not in self.tables:
            return None
        answers = (answer for suite in self.suites for *_, answer in self.answers(suite.name))
        return next(answers, None)

    def signature(self, suite: str, measure: str) -> Signature:
        """Return the signature of a number from this run: of a `measure` on a `suite`, both by name."""
        family, _, path = self.model.partition(":")
        record, model = self.suite(suite), self.record["model"]
        weights = model["record"].get("weights")
        model_parts = (
            path.partition("?")[0],
            family,
            *([f"weights:{weights[:8]}"] if weights else []),
            *(f"{key}:{value}" for key, value in model["policies"].items()),
        )
        options = (
            *self.task.signature_parts(self.record["options"]),
            *self._convention(record, measure),
            *self._sample(record.tags),
            f"tie:{self.tolerance_in_bits:g}",
        )
        version = self.record["versions"]["syntagm"]
        return Signature(model_parts, options, f"{suite}@{record.hash[:8]}", measure, record.aggregate, version)

    def _convention(self, suite: SuiteRecord, measure: str) -> tuple[str, ...]:
        """Return the part of signatures that names the convention; empty if it is the sum of bits."""
        # No convention applies to a prediction that doesn't compare two whole sentences: its number is the same
        # without. If the conventions of the suites' authors differ, it is `published`, and the record has them.
        if not (asked := self.record["options"].get("convention")):
            return ()
        formulas = [suite.predictions[name] for name in suite.predictions_for(measure)]
        if formulas and not any(map(_compares_sentences, formulas)):
            return ()
        if asked != PUBLISHED:
            return (f"convention:{asked}",)
        scored = {self.record.get("scored", {}).get(suite.name, "") for suite in self.suites}
        return (f"convention:{scored.pop() if len(scored) == 1 else PUBLISHED}",)

    def _sample(self, tags: Mapping[str, str]) -> tuple[str, ...]:
        """Return the parts of a suite's signatures that describe its items; empty if all items were evaluated."""
        gone = exclusion_of(tags)
        excluded = (f"exclude:{gone[0]}@{gone[2]}",) if gone else ()
        samples = (sample_of(suite) for suite in (tags, *(suite.tags for suite in self.suites)))
        if not (sample := next((sample for sample in samples if sample), None)):
            return excluded
        reach = "" if sample.reach is None else f",half-width:{sample.reach:g}"
        return *excluded, f"sample:{sample.items},seed:{sample.seed}{reach}"

    def refuse(self, what: str) -> NoReturn:
        """Raise RunError, because runs of this task don't have `what`."""
        raise RunError(
            self.place, f"a run of the task {self.task.name} has no {what}", "a run of `syntagm run`",
            "For this run, use `syntagm export --as results`, `syntagm compare` or `syntagm report`.",
        )  # fmt: skip

    def _table(self, name: str, kind: str, columns: list[str] | None = None) -> pl.DataFrame:
        if self.folder is None:
            return self._in_memory[name, kind]
        return pl.read_parquet(BytesIO(self._content(name, kind)), columns=columns)

    def _content(self, name: str, kind: str) -> bytes:
        """Return the content of a table of a unit; RunError if it is not what was written."""
        assert self.folder
        assert self.root
        content = read_shard(self.root, name, kind, self._ledger)
        if content is None:
            raise damaged(self.folder / "shards" / f"{name}.{kind}")
        return content


@lru_cache(maxsize=4096)
def _compares_sentences(formula: str) -> bool:
    """Return whether a formula compares two whole sentences; False if it can't be read: records are untrusted input."""
    try:
        return compared(parse(formula)) is not None
    except FormulaError:
        return False


def run_folders(folder: str | Path) -> list[Path]:
    """Return the folder if it is a run directory, or else the run directories in it, in the order of their models."""
    # `syntagm run` puts several models into one folder, in the order given. Runs without a place come last, in the
    # natural order of their names: step2 before step10. If there are no runs, the folder itself is returned, for
    # `open_run` to refuse.
    folder = Path(folder)
    if has_run(folder) or not folder.is_dir():
        return [folder]
    inside = [path for path in folder.iterdir() if has_run(path)]
    return sorted(inside, key=lambda path: (place_of(path), natural(path.name))) or [folder]


@public
def open_run(folder: str | Path) -> Run:
    """Open a run directory for reading.

    Raises:
        RunError: the folder contains no run, or its record can't be read or has a different format version.
    """
    folder = Path(folder)
    record = read_record(folder)
    if record is None:
        raise RunError(
            str(folder), "no run.json", "a run directory", "Make one with `syntagm run MODEL --suite ... -o DIR`."
        )
    return Run(folder, record, read_ledger(folder, record))


def reopened(run: Run) -> Run:
    """Read the directory of a run anew, which may have changed since; a run in memory is returned as it is."""
    if run.root is None:
        return run
    found = open_run(run.root)
    return Run(run.folder, found.record, found._ledger, root=run.root)


# One run or several, each as an object or as its run directory; a folder of several runs stands for all of them.
Runs: TypeAlias = Run | str | Path | Sequence[Run | str | Path]


def run_of(run: Run | str | Path) -> Run:
    return run if isinstance(run, Run) else open_run(run)


def runs_of(runs: Runs) -> list[Run]:
    parts = [runs] if isinstance(runs, Run | str | Path) else runs
    return [
        run for part in parts for run in ([part] if isinstance(part, Run) else map(open_run, run_folders(Path(part))))
    ]
