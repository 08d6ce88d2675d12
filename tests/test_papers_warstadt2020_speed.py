"""All analyses of BLiMP at its full size: 67 paradigms of 1,000 pairs under 6 models."""

from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
import pytest

from syntagm.figures._figure import Figure
from syntagm.figures._save import svg
from syntagm.papers import warstadt2020
from syntagm.papers._paradigms import published
from syntagm.run import Run

PAIRS, MODELS, LENGTH, LIMIT = 1000, 6, 8, 30.0
FULL, ONE = "(*;%good%) < (*;%bad%)", "(critical;%good%) < (critical;%bad%)"


class Made(Run):
    """A run whose tables are there already: all of them of one seed."""

    def __init__(self, model: str, seed: int) -> None:
        suites = [self._record(name) for name in published()]
        versions = {"syntagm": "0"}
        described = {"name": model, "start": "bos", "policies": {}, "record": {"order": 5}}
        options = {"tolerance": 1e-4, "align": "strict"}
        record = {"model": described, "options": options, "suites": suites, "status": "done", "versions": versions}
        super().__init__(Path(model), record, {})
        self._seed = seed
        self._kept = {name: self._tables(name) for name in published()}

    @staticmethod
    def _record(name: str) -> dict[str, object]:
        return {
            "name": name, "hash": "0" * 8, "aggregate": "sum", "predictions": {"full_sentence": FULL, "one_prefix": ONE},
            "conditions": ["good", "bad"], "region_labels": {}, "tags": {}, "items": PAIRS, "sentences": 2 * PAIRS, "shards": [],
        }  # fmt: skip

    def _tables(self, name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        generator = np.random.default_rng([self._seed, *name.encode()])
        bits = generator.gamma(4, 2, size=(2 * PAIRS, LENGTH))
        items = [str(k // 2) for k in range(2 * PAIRS)]
        conditions = ["good", "bad"] * PAIRS
        sentences = pl.DataFrame(
            {
                "item": items,
                "condition": conditions,
                "text": ["a " * int(n) + "b" for n in generator.integers(3, 12, 2 * PAIRS)],
                "bits": pl.Series(bits.tolist(), dtype=pl.List(pl.Float64)),
            }
        )
        margins = np.concatenate([bits.sum(1)[1::2] - bits.sum(1)[::2], bits[1::2, 0] - bits[::2, 0]])
        results = pl.DataFrame(
            {
                "model": [self.model] * 2 * PAIRS,
                "suite": [name] * 2 * PAIRS,
                "item": [str(k) for k in range(PAIRS)] * 2,
                "measure": ["full_sentence"] * PAIRS + ["one_prefix"] * PAIRS,
                "value": (margins > 0).astype(float),
                "margin": margins,
            }
        )
        return results, sentences

    def results(self, suite: str | None = None) -> pl.DataFrame:
        return self._kept[suite][0] if suite else pl.concat([one for one, _ in self._kept.values()])

    def sentences(self, suite: str) -> pl.DataFrame:
        return self._kept[suite][1]


@pytest.mark.slow
def test_everything_in_half_a_minute() -> None:
    families = ["ngram", "lstm", "lstm", "causal", "causal", "causal"]
    runs = [Made(f"{family}:{k}", k) for k, family in enumerate(families)]
    assert len(runs) == MODELS
    began = process_time()
    made = warstadt2020.of_runs(runs, words="1000,2000,4000,8000,16000,32000")
    drawn = sum(len(svg(one)) for one in made.values() if isinstance(one, Figure))
    seconds = process_time() - began
    print(f"{seconds:.1f} CPU-seconds, {drawn:,} characters of figures")
    assert len(made) == 13
    assert seconds < LIMIT
