"""What a run over gaps keeps beside its results: the word list, the cut-offs, the tables of contexts and of lemmas."""

from dataclasses import replace
from functools import lru_cache

import polars as pl

from syntagm.errors import RunError
from syntagm.runs.store import Run
from syntagm.tasks.gaps import nucleus
from syntagm.tasks.gaps.nucleus import Cut
from syntagm.tasks.gaps.task import Gaps
from syntagm.word_list import WordList, kept


def over_gaps(run: Run) -> bool:
    """Return whether gaps were filled in a run."""
    return run.task is Gaps


def cuts(run: Run) -> tuple[Cut, ...]:
    """Return the nucleus cut-offs of a run."""
    options = run.record["options"]
    return nucleus.cuts(tuple(options["top"]), tuple(options["bottom"]))


@lru_cache(maxsize=16)
def words(run: Run) -> WordList:
    """Return the word list, with its tags.

    Raises:
        RunError: words.csv is not the list that was asked.
    """
    place, asked = f"{run.place}/words.csv", run.record["options"]["words"]
    found = kept(run.file("words.csv"), place)
    if found.hash != asked["hash"]:
        raise RunError(
            place, f"a list with the hash {found.hash[:8]}", f"the one that was asked, {asked['hash'][:8]}",
            "The command that made the run writes it again.",
        )  # fmt: skip
    return replace(found, name=asked["name"])


def contexts(run: Run, suite: str | None = None) -> pl.DataFrame:
    """Return a row a context of a suite, or of all suites.

    Columns: suite, context (a digest: the same context has the same in all suites), item (the first that has it), left,
    right, label, items (how many have it), eligible and ranked (rows of the list that count, without and with a cut-off), and
    equal_weight, model_weight, covered, each with its cut-off.
    """
    return run.table("contexts.parquet", suite)


def lemmas(run: Run, suite: str | None = None) -> pl.DataFrame:
    """Return a row a suite, label of the context, and lemma, summed over contexts.

    Columns: suite, label, row (number in the list, from 0), lemma, contexts, won (pairs that the right form wins, as a share of
    the row's pairs), right and wrong (probability of the right form, and of the others).
    """
    keys = ("suite", "label", "row", "lemma")
    return run.table("lemmas.parquet", suite).group_by(keys, maintain_order=True).agg(pl.exclude(keys).sum())
