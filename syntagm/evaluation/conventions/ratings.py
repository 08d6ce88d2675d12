"""Ratings of sentences by people, and the fit of MORCELA's parameters to them (Tjuatja et al. 2024, arXiv 2411.02528).

    rating = a (log p - beta log p_u + gamma) / n + c

The model is linear in log p / n, log p_u / n, 1 / n and 1, so it is fitted by least squares; beta and gamma are ratios of
coefficients. Ratings are best given as z-scores within participants, as in the paper. n counts words, as `slor` does here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from syntagm.core import InputError, csv, utf8
from syntagm.evaluation.conventions.linking import Linking, morcela
from syntagm.evaluation.conventions.scored import Scored

# Parameters of the fit, and the least number of sentences for each.
_PARAMETERS, _LEAST = 4, 5


@dataclass(frozen=True, slots=True)
class Fit:
    """MORCELA's parameters, fitted on ratings."""

    beta: float  # the weight of the unigram surprisal; SLOR has 1
    gamma: float  # in bits; SLOR has 0
    slope: float  # rating per bit and word; above 0 if likelier sentences are rated higher
    intercept: float  # the rating of a sentence with the score 0
    sentences: int  # the number of rated sentences
    correlation: float  # Pearson's r of the ratings with the fitted ones
    source: str  # where the ratings come from

    @property
    def linking(self) -> Linking:
        """The linking function with these parameters."""
        return morcela(self.beta, self.gamma)

    @property
    def note(self) -> str:
        return (
            f"morcela: beta {self.beta:.3g}, gamma {self.gamma:.3g} bits, fitted on {self.sentences:,} rated sentences of "
            f"{Path(self.source).name} (r = {self.correlation:.3f}). On the same sentences, its accuracy is not a test."
        )


def read(path: str) -> dict[str, float]:
    """Read ratings: a CSV file with the columns text,rating; several ratings of a sentence are averaged."""
    given: dict[str, list[float]] = {}
    for line, row in csv.records(utf8.read(Path(path)), Path(path), ("text", "rating")):
        try:
            rating = float(row["rating"])
        except ValueError:
            rating = np.nan
        if not np.isfinite(rating):
            raise InputError(f"{path}, line {line}, rating", repr(row["rating"]), "a number")
        given.setdefault(row["text"], []).append(rating)
    return {text: sum(ratings) / len(ratings) for text, ratings in given.items()}


def fit(sentences: Mapping[str, Scored], ratings: Mapping[str, float], source: str = "ratings") -> Fit:
    """Fit MORCELA's parameters by least squares."""
    rows, known = [], []
    for text, sentence in sentences.items():
        size = len(sentence.words)
        if text not in ratings or sentence.unigram is None or not size:
            continue
        row = -sentence.words.sum() / size, -sentence.unigram.sum() / size, 1 / size, 1.0
        if np.isfinite(row).all():
            rows.append(row)
            known.append(ratings[text])
    place = f"ratings={source}"
    if len(rows) < _LEAST * _PARAMETERS:
        expected = f"at least {_LEAST * _PARAMETERS} of the run's sentences"
        raise InputError(place, f"{len(rows)} rated sentences", expected, "The texts must be those of the suites.")
    design, response = np.array(rows), np.array(known)
    scale = np.abs(design).max(0)
    solution, _, rank, _ = np.linalg.lstsq(design / scale, response, rcond=1e-10)
    slope, unigram, length, intercept = (solution / scale).tolist()
    if rank < _PARAMETERS or not abs(slope) > 0:
        found = "sentences that don't determine the parameters"
        cure = "All have the same length, or their probabilities and frequencies go together."
        raise InputError(place, found, "sentences of several lengths and frequencies", cure)
    fitted = design @ (solution / scale)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = float(np.corrcoef(fitted, response)[0, 1])
    return Fit(-unigram / slope, length / slope, slope, intercept, len(rows), correlation, source)
