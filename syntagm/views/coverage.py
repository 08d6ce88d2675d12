"""Coverage: how much of the text of each suite a model's vocabulary has: unknown tokens, and parts of characters."""

from collections.abc import Sequence

import polars as pl

from syntagm.drawing.table import Table
from syntagm.errors import UsageError
from syntagm.languages.scripts import main_script
from syntagm.runs.several import named, titles
from syntagm.runs.store import Run

COLUMNS = ("model", "suite", "language", "script", "tokens", "unknown", "parts", "characters per token")
# From this share of tokens that are unknown or parts of characters, a model can hardly know the script.
HARDLY = 0.5
NOTE = (
    "unknown: the share of tokens that are not in the vocabulary. parts: the share of tokens that are a part of a character "
    "only (byte fallback): another token starts at the same place. Where both together are "
    f"{HARDLY:g} or more, the model has hardly seen the script, and its scores say little about the language."
)


def make_table(runs: Sequence[Run]) -> Table:
    """Make one row for each model and suite.

    Raises:
        UsageError: no run has sentences.
    """
    names = titles(runs)
    rows, warnings = [], []
    for model, run in named(runs):
        for record in run.suites if "parquet" in run.tables else ():
            title, language = names[record.name, record.hash], record.tags.get("language", "")
            total, unknown, parts, characters = shares(run, record.name)
            if not total:
                continue
            script = main_script("".join(run.sentences(record.name)["text"].head(100)))
            rows.append((model, title, language, script, total, unknown, parts, characters))
            if unknown + parts >= HARDLY:
                warnings.append(f"{model} hardly knows the script of {title}: {unknown + parts:.0%} of its tokens are "
                                "unknown or parts of characters.")  # fmt: skip
    if not rows:
        raise UsageError("runs", "no sentences", "runs of suites")
    return Table("Coverage of suites by vocabularies", COLUMNS, tuple(rows), notes=(NOTE,), warnings=tuple(warnings))


def shares(run: Run, suite: str) -> tuple[int, float, float, float]:
    """Return the number of tokens of a suite, the shares of unknown ones and of parts of characters, and their length."""
    tokens = run.tokens(suite)
    if not len(tokens):
        return 0, 0.0, 0.0, 0.0
    same = pl.len().over("item", "condition", "start") > 1
    found = tokens.select(
        pl.len().alias("n"),
        (~pl.col("known")).mean().alias("unknown"),
        same.mean().alias("parts"),
        (pl.col("token").str.len_chars().sum() / pl.len()).alias("characters"),
    ).row(0)
    return int(found[0]), float(found[1]), float(found[2]), float(found[3])
