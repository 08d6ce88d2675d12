"""What the figures of Hu et al. 2020 are drawn of: scores of model instances, wherever they come from.

The instances are of model classes that were trained for a study, each on corpora of several sizes with several seeds, and of
models taken off the shelf, which have no corpus.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from syntagm.analysis import score_deltas, suite_scores


@dataclass(frozen=True, slots=True)
class Study:
    """Model instances and what they score.

    Arguments:
        items: columns as in `suite_scores.ITEM`; corpus is empty for models off the shelf. Of the suites that count.
        circuits: suite -> circuit, of those that have one.
        perplexity: columns model, corpus, seed, perplexity; perhaps empty.
        words: corpus -> how many words it has, in ascending order: the order in which corpora are shown.
        labels: model -> what to call it.
        chance: what independent draws would score over the suites; nan where that isn't known.
        absent: the models that the published figures by corpus leave out.
        words_alike: the neural models that read whole words, whose perplexities can be compared.
    """

    items: pl.DataFrame
    circuits: Mapping[str, str]
    perplexity: pl.DataFrame
    words: Mapping[str, float]
    labels: Mapping[str, str] = field(default_factory=dict)
    chance: float = float("nan")
    absent: tuple[str, ...] = ()
    words_alike: tuple[str, ...] = ()

    def label(self, model: str) -> str:
        """What to call a model."""
        return self.labels.get(model, model)

    @property
    def suites(self) -> list[str]:
        """The suites, in the order of first appearance."""
        return [str(name) for name in self.items["suite"].unique(maintain_order=True)]

    def scores(self) -> pl.DataFrame:
        """A row an instance and suite; see `suite_scores.suite_scores`."""
        return suite_scores.suite_scores(self.items)

    def deltas(self) -> pl.DataFrame:
        """The scores of the models that have a corpus, with their deltas."""
        return score_deltas.score_deltas(self.scores().filter(pl.col("corpus") != ""))

    def instances(self) -> pl.DataFrame:
        """A row an instance: model, corpus, seed, score, suites, perplexity (null where it isn't known), words."""
        scores = suite_scores.over_suites(self.scores())
        joined = scores.join(self.perplexity, on=list(suite_scores.INSTANCE), how="left", maintain_order="left")
        sizes = {"corpus": list(self.words), "words": [float(one) for one in self.words.values()]}
        table = pl.DataFrame(sizes, schema={"corpus": pl.String, "words": pl.Float64})
        return joined.join(table, on="corpus", how="left", maintain_order="left")
