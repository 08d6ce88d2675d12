"""Arguments of the commands that print intervals: which units are random, and how bootstraps draw."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add --suites, --draws and --seed."""
    group = parser.add_argument_group("intervals")
    group.add_argument(
        "--suites", choices=["random", "fixed"], default="random",
        help="whether intervals over suites are for other suites, too (random, the default), or for these alone (fixed)",
    )  # fmt: skip
    group.add_argument("--draws", metavar="N", help="bootstrap samples, where there is a bootstrap (2,000)")
    group.add_argument("--seed", metavar="N", help="seed of the bootstrap (1)")


def using(options: argparse.Namespace) -> "AbstractContextManager[None]":
    """Compute the intervals of a block of code as the options say.

    Raises:
        UsageError: a number that is not allowed.
    """
    from syntagm.io.number import whole
    from syntagm.stats import bootstrap

    draws = bootstrap.DRAWS if options.draws is None else whole("--draws", options.draws, least=100)
    seed = bootstrap.SEED if options.seed is None else whole("--seed", options.seed, least=0)
    return bootstrap.using(bootstrap.Resampling(options.suites, draws, seed))
