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
            total, unknown, parts, characters = shares(sentences := run.sentences(record.name))
            if not total:
                continue
            script = main_script("".join(sentences["text"].head(100)))
            rows.append((model, title, language, script, total, unknown, parts, characters))
            if unknown + parts >= HARDLY:
                warnings.append(_remark(model, title, unknown + parts))
    if not rows:
        raise UsageError("runs", "no sentences", "runs of suites")
    return Table("Coverage of suites by vocabularies", COLUMNS, tuple(rows), notes=(NOTE,), warnings=tuple(warnings))


def shares(sentences: pl.DataFrame) -> tuple[int, float, float, float]:
    """Return the number of tokens of sentences, the shares of unknown ones and of parts of characters, and their length."""
    tokens = sentences.with_row_index("sentence").filter(pl.col("starts").list.len() > 0).explode(["starts", "known"])
    if not len(tokens):
        return 0, 0.0, 0.0, 0.0
    same = pl.len().over("sentence", "starts") > 1
    unknown, parts = tokens.select((~pl.col("known").cast(pl.Boolean)).mean().alias("u"), same.mean().alias("p")).row(0)
    return len(tokens), float(unknown), float(parts), float(sentences["text"].str.len_chars().sum()) / len(tokens)


def remarks(runs: Sequence[Run]) -> list[str]:
    """Return a sentence for each suite in another script than Latin that a model hardly knows, by its first sentences."""
    return [
        _remark(model, record.name, share)
        for model, run in named(runs)
        for record in (run.suites if "parquet" in run.tables else ())
        if (share := unfamiliar(run.sentences(record.name))) >= HARDLY
    ]


def unfamiliar(sentences: pl.DataFrame) -> float:
    """Return the share of tokens that are unknown or parts of characters in the first sentences that a run has of a suite.

    It is 0 for suites in Latin script, of whose words a small vocabulary may lack many.
    """
    if main_script("".join(sentences["text"].head(20))) in ("", "Latn"):
        return 0.0
    _, unknown, parts, _ = shares(sentences.head(100))
    return unknown + parts


def _remark(model: str, suite: str, share: float) -> str:
    return f"{model} hardly knows the script of {suite}: {share:.0%} of its tokens are unknown or parts of characters."
