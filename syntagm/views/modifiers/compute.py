"""Stability under modifiers: suites beside the same suites with words put between what depends on each other."""

from collections.abc import Mapping

import polars as pl

from syntagm.views.classes.suite_scores import INSTANCE

PLAIN, MODIFIED = "no modifier", "with modifier"


def modifier_stability(scores: pl.DataFrame, pairs: Mapping[str, str]) -> pl.DataFrame:
    """A row an instance, pair and member: model, corpus, seed, pair, modifier, score. Only pairs of which both are there.

    Arguments:
        scores: as `suite_scores` makes them.
        pairs: suite -> the suite that it is with modifiers.

    >>> rows = [("a", "xs", 1, "mvrr", 0.5), ("a", "xs", 1, "mvrr_mod", 0.25), ("b", "xs", 1, "mvrr", 1.0)]
    >>> table = pl.DataFrame(rows, schema=["model", "corpus", "seed", "suite", "score"], orient="row")
    >>> modifier_stability(table, {"mvrr": "mvrr_mod"}).select("model", "modifier", "score").rows()
    [('a', 'no modifier', 0.5), ('a', 'with modifier', 0.25)]
    """
    members = [(plain, plain, PLAIN) for plain in pairs] + [(other, plain, MODIFIED) for plain, other in pairs.items()]
    named = pl.DataFrame(members, schema=dict.fromkeys(("suite", "pair", "modifier"), pl.String), orient="row")
    joined = scores.join(named, on="suite", how="inner", maintain_order="left")
    whole = joined.filter(pl.len().over(*INSTANCE, "pair") == 2)
    return whole.select(*INSTANCE, "pair", "modifier", "score")
