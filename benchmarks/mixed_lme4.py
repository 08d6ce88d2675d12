"""Linear mixed models with crossed random slopes, beside lme4: log-likelihood, estimates and CPU time.

    python -m benchmarks.mixed_lme4 --rows 80000 -o benchmarks/mixed_lme4.md

Needs Rscript with lme4. Both programs fit the same simulated reading times, by maximum likelihood, with correlated slopes of
surprisal by participant and by item. CPU time is that of the fit alone, without reading the table.
"""

import argparse
import json
import platform
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from syntagm.stats import linear

FORMULA = "time ~ bits + length + (1 + bits | participant) + (1 + bits | item)"
_R = """
suppressPackageStartupMessages(library(lme4))
arguments <- commandArgs(trailingOnly = TRUE)
d <- read.csv(arguments[1])
before <- proc.time()
m <- lmer(%s, d, REML = FALSE, control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-8)))
after <- proc.time()
cat(sprintf('{"loglik": %%.10f, "coefficients": [%%s], "seconds": %%.3f, "version": "%%s"}\\n', logLik(m),
    paste(sprintf("%%.12g", fixef(m)), collapse = ", "), sum((after - before)[1:2]), packageVersion("lme4")))
"""


def simulated(rows: int, seed: int = 1) -> pl.DataFrame:
    """Simulate reading times of 40 words of each item, with crossed random intercepts and slopes."""
    random = np.random.default_rng(seed)
    words = 40
    items = max(8, int(np.sqrt(rows / words)))
    people = rows // (items * words)
    person, item, word = (each.ravel() for each in np.indices((people, items, words)))
    bits, length = random.gamma(2, 3, (items, words)), random.integers(1, 12, (items, words)).astype(float)
    of_person = random.multivariate_normal([0, 0], [[900, 15], [15, 1.5]], people)
    of_item = random.multivariate_normal([0, 0], [[200, -3], [-3, 0.5]], items)
    time_of = (
        300 + of_person[person, 0] + of_item[item, 0] + 6 * length[item, word]
        + (3 + of_person[person, 1] + of_item[item, 1]) * bits[item, word] + random.normal(0, 80, len(person))
    )  # fmt: skip
    return pl.DataFrame({
        "time": time_of, "bits": bits[item, word], "length": length[item, word],
        "participant": [f"p{each}" for each in person], "item": [f"i{each}" for each in item],
    })  # fmt: skip


def by_lme4(table: pl.DataFrame) -> dict[str, object] | None:
    """Fit the table with lme4; None where there is no Rscript with lme4."""
    program = shutil.which("Rscript")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path, script = Path(folder) / "table.csv", Path(folder) / "fit.R"
        table.write_csv(path, float_precision=17, float_scientific=True)
        script.write_text(_R % FORMULA)
        done = subprocess.run([program, "--vanilla", script, path], capture_output=True, text=True)
    if done.returncode and "there is no package called" in done.stderr:
        return None
    done.check_returncode()
    found: dict[str, object] = json.loads(done.stdout)
    return found


def main() -> None:
    """Fit with both, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=80_000)
    parser.add_argument("-o", dest="output", type=Path)
    options = parser.parse_args()
    table = simulated(options.rows)
    before = time.process_time()
    ours = linear.fit(FORMULA, table, starts=1)
    seconds = time.process_time() - before
    theirs = by_lme4(table)
    if theirs is None:
        raise SystemExit("no Rscript with lme4")
    apart = max(
        abs(one.estimate - float(two))
        for one, two in zip(ours.coefficients, theirs["coefficients"], strict=True)  # type: ignore[call-overload]
    )
    lines = [
        "# Mixed models beside lme4", "",
        f"Written by `python -m benchmarks.mixed_lme4 --rows {options.rows}`; {table.height:,} rows, "
        f"{table['participant'].n_unique()} participants, {table['item'].n_unique()} items, `{FORMULA}`, maximum likelihood; "
        f"lme4 {theirs['version']}, Python {platform.python_version()}, {platform.machine()}.", "",
        "| | Syntagm | lme4 | difference |", "|---|---|---|---|",
        f"| log-likelihood | {ours.loglik:.7f} | {theirs['loglik']:.7f} | {ours.loglik - float(str(theirs['loglik'])):.1e} |",
        f"| largest difference of a coefficient | | | {apart:.1e} |",
        f"| CPU-seconds of the fit | {seconds:.1f} | {theirs['seconds']} | {seconds / float(str(theirs['seconds'])):.2f} x |",
    ]  # fmt: skip
    text = "\n".join([*lines, ""])
    print(text)
    if options.output:
        options.output.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
