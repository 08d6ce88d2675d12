"""A fill run, read: what stands in each context, item and lemma. Looking never computes with a model.

run.json, ledger.jsonl         as of every run; the record says "kind": "fill"
words.csv                      the word list
shards/NAME.contexts.parquet   a row a context of a suite: CONTEXTS, and equal_weight, model_weight, covered at each cut-off
shards/NAME.lemmas.parquet     a row a suite, label and lemma: sums over contexts
shards/NAME.results.parquet    a row an item (tse), or a context (equal_weight, model_weight at each cut-off)
results.csv                    all results, when the run is done
"""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from syntagm.errors import RunError
from syntagm.runs import shard
from syntagm.runs.store import Run, SuiteRecord, read_ledger
from syntagm.tasks.gaps import nucleus
from syntagm.tasks.gaps import tables as _tables
from syntagm.tasks.gaps.nucleus import Cut
from syntagm.word_list import WordList, read


class FillRun(Run):
    """The run directory of a fill run, finished or not; see `syntagm.runs.store.open_run`."""

    def __init__(self, folder: Path, record: dict[str, Any]) -> None:
        super().__init__(folder, record, read_ledger(folder, _tables.KINDS))
        options = record["options"]
        self.eligible: str = options["eligible"]
        self.cuts: tuple[Cut, ...] = nucleus.cuts(tuple(options["top"]), tuple(options["bottom"]))

    @cached_property
    def suites(self) -> tuple[SuiteRecord, ...]:
        """What was asked about, in order; a suite whose items make no context has no shard."""
        return tuple(replace(suite, asked=bool(suite.shards)) for suite in super().suites)

    @cached_property
    def words(self) -> WordList:
        """The word list, with its tags.

        Raises:
            RunError: words.csv is not the list that was asked.
        """
        path, asked = self.folder / "words.csv", self.record["options"]["words"]
        found = read(path, repeats=True)
        if found.hash != asked["hash"]:
            raise RunError(
                str(path), f"a list with the hash {found.hash[:8]}", f"the one that was asked, {asked['hash'][:8]}",
                "The command that made the run writes it again.",
            )  # fmt: skip
        return replace(found, name=asked["name"])

    def results(self, suite: str | None = None) -> pl.DataFrame:
        """A row an item or context and measure: model, suite, item, measure, value, margin, n. Of one suite, or of all."""
        found = self._gathered("results.parquet", shard.RESULTS, suite)
        return found.with_columns(model=pl.lit(self.model))

    def contexts(self, suite: str | None = None) -> pl.DataFrame:
        """A row a context of a suite.

        Columns: suite, context (a digest: the same context has the same in all suites), item (the first that has it), left,
        right, label, items (how many have it), eligible and ranked (rows of the list that count, without and with a
        cut-off), and equal_weight, model_weight, covered, each with its cut-off.
        """
        return self._gathered("contexts.parquet", _tables.CONTEXTS | _tables.numbers(self.cuts), suite)

    def lemmas(self, suite: str | None = None) -> pl.DataFrame:
        """A row a suite, label of the context, and lemma, summed over contexts.

        Columns: suite, label, row (number in the list, from 0), lemma, contexts, won (pairs that the right form wins, as
        a share of the row's pairs), right and wrong (probability of the right form, and of the others).
        """
        found = self._gathered("lemmas.parquet", _tables.LEMMAS, suite)
        keys = ("suite", "label", "row", "lemma")
        return found.group_by(keys, maintain_order=True).agg(pl.exclude(keys).sum())

    def signature(self, suite: str, measure: str) -> str:
        """What a number of this run rests on, in a line that is enough to repeat it."""
        words = self.record["options"]["words"]
        asked = f"words:{words['name']}@{words['hash'][:8]}|blank:{self.record['options']['blank']}|eligible:{self.eligible}"
        return super().signature(suite, measure).replace(f"align:{self.rule}", asked)

    def sentences(self, suite: str) -> pl.DataFrame:
        """Not in a fill run: RunError."""
        self.refuse("sentences")

    def tokens(self, suite: str) -> pl.DataFrame:
        """Not in a fill run: RunError."""
        self.refuse("tokens")

    def regions(self, suite: str) -> pl.DataFrame:
        """Not in a fill run: RunError."""
        self.refuse("regions")

    def _gathered(self, kind: str, schema: dict[str, pl.DataType], suite: str | None) -> pl.DataFrame:
        """The rows of one suite or of all, suite by suite; those of a suite may stand in shards of suites before it."""
        wanted = [self.suite(suite).name] if suite is not None else [one.name for one in self.suites]
        shards = [name for one in self.suites for name in one.shards if name in self._ledger]
        held = {name: set(self._ledger[name].get("suites", ())) for name in shards}
        tables = [
            # By name: the columns of a run that named its cut-offs in another order stand in that order.
            self._table(name, kind).select(*schema).filter(pl.col("suite") == one)
            for one in wanted
            for name in shards
            if one in held[name]
        ]
        return pl.concat([pl.DataFrame(schema=schema), *tables])

    def refuse(self, what: str) -> NoReturn:
        """Say that a fill run has not got something, as a RunError."""
        raise RunError(
            str(self.folder), f"a fill run has no {what}", "a run of `syntagm run`",
            "Of fill runs there are results: `syntagm export --as results`, `syntagm compare`, "
            "`syntagm report`, `syntagm reproduce newman2021`.",
        )  # fmt: skip
