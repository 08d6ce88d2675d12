"""Arguments of the commands that print intervals: which units are random, and how bootstrap samples are drawn."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syntagm.stats import Resampling


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add --suites, --draws and --seed."""
    group = parser.add_argument_group("intervals")
    group.add_argument(
        "--suites", choices=["random", "fixed"], default="random",
        help="whether intervals over suites generalise to other suites (random, the default) or not (fixed)",
    )  # fmt: skip
    group.add_argument("--draws", metavar="N", help="number of bootstrap samples, if there is a bootstrap (2,000)")
    group.add_argument("--seed", metavar="N", help="seed of the bootstrap (1)")


def given(options: argparse.Namespace) -> "Resampling":
    """Return what a command line says of intervals, for `bootstrap.using`."""
    from syntagm.core import whole
    from syntagm.stats import bootstrap

    draws = bootstrap.DRAWS if options.draws is None else whole("--draws", options.draws, least=100)
    seed = bootstrap.SEED if options.seed is None else whole("--seed", options.seed, least=0)
    return bootstrap.Resampling(options.suites, draws, seed)
