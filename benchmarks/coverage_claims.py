"""How often claims of several numbers are refuted that are just true, by seeded simulation.

    python -m benchmarks.coverage_claims              # several minutes on one core; writes benchmarks/coverage_claims.md
    python -m benchmarks.coverage_claims --draws 50   # a trial

A claim such as "outperforms all others on each circuit" is about many differences (`papers/hu2020/claims.py`). The
worlds have the suites, the circuits and the numbers of items of Hu et al. 2020, and models whose differences are all at the
limit of the claimed range, where a false refutation is most probable. Under `suites random`, the difference of two
models varies from suite to suite, too. *Size* is the share of studies in which the claim does not hold. The rows with
three dots show what it would be if one interval outside the range refuted the claim.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.coverage_rows import Row, page, rate
from syntagm.core import counted
from syntagm.papers import MODELS, WORDS, Analysis, Claim, Study, View, circuit_of, cited, claims, multiverse
from syntagm.papers.hu2020.multiverse import SUITES
from syntagm.papers.hu2020.raw import SUITES as EXCLUDED
from syntagm.stats import FALSE, Suites
from syntagm.views import ITEM

PAGE = Path(__file__).with_suffix(".md")
ITEMS = {suite: count for suite, count in cited("hu2020")["items"].items() if suite not in EXCLUDED["31"]}
CIRCUITS = {suite: circuit_of(suite) for suite in ITEMS}
# Each claim, and by how much the probability of a correct answer depends on the model: all differences that the claim is
# about are then at the limit of the claimed range.
WORLDS = {
    "Pre-trained GPT-2 and GPT-2-XL outperform all others on each circuit": lambda name, corpus: 0.0,
    "RNNG is comparable to GRNN on all circuits": lambda name, corpus: 0.1 * (name == "rnng"),
    "Corpus size matters little, except for Agreement": lambda name, corpus: 0.1 * (corpus == "LG"),
    "GPT-2 and RNNG are comparable to Transformer-XL and JRNN": lambda name, corpus: 0.1 * (name in ("gpt-2", "rnng")),
    "RNNG scores higher than the LSTM (Figure 3)": lambda name, corpus: 0.0,
}
# The standard deviation of a model's scores between suites of equal difficulty.
BY_SUITE = 0.08


def instances() -> list[tuple[str, str, int]]:
    """The models: class, corpus, seed; three seeds of each class that was trained, as of the published LSTMs."""
    trained = cited("hu2020")["trained"]
    return [
        (model.name, corpus, seed)
        for model in MODELS
        for corpus in (trained.get(model.label) or [""])
        for seed in range(3 if model.label in trained else 1)
    ]


class World(View):
    """Data of an analysis that are drawn, not read."""

    def __init__(self, study: Study, suites: Suites, draw: np.random.Generator, claim: str) -> None:
        self.study, self.analysis = study, Analysis(suites=suites)
        names = instances()
        effect = np.array([WORLDS[claim](name, corpus) for name, corpus, _ in names])
        classes = [(name, corpus) for name, corpus, _ in names]
        values = {}
        for suite, items in ITEMS.items():
            own = {each: draw.normal(0, BY_SUITE * (suites == "random")) for each in dict.fromkeys(classes)}
            level = draw.uniform(0.3, 0.6) + effect + np.array([own[each] for each in classes])
            values[suite] = (draw.random((items, len(names))) < level).astype(float)
        self.__dict__.update(models=names, values=values)


def size(claim: Claim, suites: Suites, draws: int) -> Iterator[Row]:
    """Yield the rows of a claim."""
    draw, study = np.random.default_rng(1), empty()
    adjusted, plain = [], []
    count = 0
    for _ in range(draws):
        world = World(study, suites, draw, claim.text)
        numbers = [world.judge(claim.text, contrast) for contrast in claim.contrasts(world)]
        count = len(numbers)
        plain.append(any(number.verdict == FALSE for number in numbers))
        adjusted.append(any(number.verdict == FALSE for number in multiverse.adjusted_together(numbers)))
    units = f"{counted(count, 'number')}, suites {suites}"
    yield Row(claim.text, units, size=rate(adjusted))
    if count > 1:
        yield Row("... without adjustment", units, size=rate(plain), remark="for comparison")


def empty() -> Study:
    """A study of which only the circuits and the names of the corpora are used."""
    return Study(pl.DataFrame(schema=ITEM), CIRCUITS, pl.DataFrame(), WORDS)


def study(draws: int) -> Iterator[Row]:
    """Yield the rows of all claims."""
    known = {claim.text: claim for claim in claims.claims()}
    for text in WORLDS:
        for suites in SUITES:
            yield from size(known[text], suites, draws)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.coverage_claims", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="studies of a world (default 2000)")
    draws = parser.parse_args().draws
    text = page("Claims of several numbers", "benchmarks.coverage_claims", study(draws), draws)
    if draws == parser.get_default("draws"):
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
