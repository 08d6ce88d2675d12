"""A run over gaps, read: its word list, contexts and lemmas."""

from dataclasses import replace
from functools import cached_property

import polars as pl

from syntagm.errors import RunError
from syntagm.runs.store import Run
from syntagm.tasks.gaps import nucleus
from syntagm.tasks.gaps.nucleus import Cut
from syntagm.word_list import WordList, read


class FillRun(Run):
    """The run directory of a run over gaps."""

    @property
    def eligible(self) -> str:
        """Which rows of the list count."""
        return str(self.record["options"]["eligible"])

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """The nucleus cut-offs of the run."""
        options = self.record["options"]
        return nucleus.cuts(tuple(options["top"]), tuple(options["bottom"]))

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

    def contexts(self, suite: str | None = None) -> pl.DataFrame:
        """Return a row a context of a suite.

        Columns: suite, context (a digest: the same context has the same in all suites), item (the first that has it), left,
        right, label, items (how many have it), eligible and ranked (rows of the list that count, without and with a
        cut-off), and equal_weight, model_weight, covered, each with its cut-off.
        """
        return self.table("contexts.parquet", suite)

    def lemmas(self, suite: str | None = None) -> pl.DataFrame:
        """Return a row a suite, label of the context, and lemma, summed over contexts.

        Columns: suite, label, row (number in the list, from 0), lemma, contexts, won (pairs that the right form wins, as
        a share of the row's pairs), right and wrong (probability of the right form, and of the others).
        """
        keys = ("suite", "label", "row", "lemma")
        return self.table("lemmas.parquet", suite).group_by(keys, maintain_order=True).agg(pl.exclude(keys).sum())
