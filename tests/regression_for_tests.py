"""Tables and likelihoods that the tests of regressions share."""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

CIRCUITS = {
    "npi": "Licensing",
    "reflexive": "Licensing",
    "fgd": "Long-Distance Dependencies",
    "cleft": "Long-Distance Dependencies",
    "number": "Agreement",
    "npz": "Garden-Path Effects",
    "mvrr": "Garden-Path Effects",
    "subordination": "Gross Syntactic State",
    "center": "Center Embedding",
}
MILLIONS = {"xs": 1.0, "sm": 4.8, "md": 14.0, "lg": 42.0}
DATA = Path(__file__).parent / "data" / "regression"


def hu2020_items(folder: Path) -> pl.DataFrame:
    """Item verdicts of the 41 controlled instances on 31 suites; n-grams by majority over their tie-breaking seeds."""
    files = sorted((folder / "sg_results").glob("*.csv"))
    raw = pl.concat(pl.read_csv(file, schema_overrides={"correct": pl.String}) for file in files)
    parts = pl.col("model").str.split_exact("_", 2)
    named = raw.with_columns(
        architecture=parts.struct.field("field_0"),
        corpus=parts.struct.field("field_1"),
        seed=parts.struct.field("field_2"),
        correct=(pl.col("correct") == "True").cast(pl.Float64),
        circuit=pl.col("suite").str.extract(r"^([^-_\d]+)").replace_strict(CIRCUITS, default=""),
    )
    chosen = named.filter(
        pl.col("architecture").is_in(["vanilla", "ordered-neurons", "rnng", "gpt-2", "ngram"]),
        ~pl.col("suite").is_in(["fgd-embed3", "fgd-embed4", "nn-nv-rpl"]),
    ).with_columns(
        numwords=pl.col("corpus").str.extract(r"bllip-(\w\w)").replace_strict(MILLIONS),
        seed=pl.when(pl.col("architecture") == "ngram").then(pl.lit("0")).otherwise("seed"),
    )
    keys = ["architecture", "corpus", "seed", "numwords", "circuit", "suite", "item"]
    verdicts = chosen.group_by(keys).agg((pl.col("correct").mean() > 0.5).cast(pl.Float64)).sort(keys)
    return verdicts.with_columns(instance=pl.concat_str("architecture", "corpus", "seed", separator="_"))


def hu2020_scores(folder: Path) -> pl.DataFrame:
    """The 1,271 suite scores of the controlled instances."""
    keys = ["architecture", "corpus", "seed", "instance", "numwords", "circuit", "suite"]
    return hu2020_items(folder).group_by(keys).agg(performance=pl.col("correct").mean()).sort(keys)


def dense_loglik(
    y: NDArray[np.float64], fixed: NDArray[np.float64], covariance: NDArray[np.float64], reml: bool = False
) -> float:
    """The log-likelihood with the best coefficients under a given covariance of the rows, by brute force."""
    inverse = np.linalg.inv(covariance)
    beta = np.linalg.solve(fixed.T @ inverse @ fixed, fixed.T @ inverse @ y)
    loglik = float(multivariate_normal.logpdf(y, fixed @ beta, covariance))
    if reml:
        loglik += fixed.shape[1] / 2 * np.log(2 * np.pi) - np.linalg.slogdet(fixed.T @ inverse @ fixed)[1] / 2
    return loglik
