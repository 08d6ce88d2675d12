"""The options that name a model: MODEL and the permissions."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from syntagm.core import HELP, NAMES, Permissions, UsageError, flag, shown_lines, whole

if TYPE_CHECKING:
    from syntagm.models import LanguageModel, Query
    from syntagm.stats import Resampling


def add_intervals(parser: argparse.ArgumentParser) -> None:
    """Add --suites, --draws and --seed."""
    group = parser.add_argument_group("intervals")
    group.add_argument(
        "--suites", choices=["random", "fixed"], default="random",
        help="whether intervals over suites generalise to other suites (random, the default) or not (fixed)",
    )  # fmt: skip
    group.add_argument("--draws", metavar="N", help="number of bootstrap samples, if there is a bootstrap (2,000)")
    group.add_argument("--seed", metavar="N", help="seed of the bootstrap (1)")


def given_resampling(options: argparse.Namespace) -> "Resampling":
    from syntagm.stats import bootstrap

    draws = bootstrap.DRAWS if options.draws is None else whole("--draws", options.draws, least=100)
    seed = bootstrap.SEED if options.seed is None else whole("--seed", options.seed, least=0)
    return bootstrap.Resampling(options.suites, draws, seed)


def add_models(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add MODEL and the permissions."""
    parser.add_argument(
        "models" if several else "model",
        metavar="MODEL",
        nargs="+" if several else None,
        help="a model: demo, toy, a folder, a name on the Hugging Face Hub, or family:path?options (see `syntagm models`)",
    )
    add_permissions(parser)


def add_texts(parser: argparse.ArgumentParser, help: str) -> None:
    """Add TEXT, of a command that reads --file otherwise."""
    texts = parser.add_argument("texts", metavar="TEXT", nargs="+", default=[], help=help)
    # With nargs="*", argparse takes no text in `score MODEL --json TEXT`.
    texts.required = False
    parser.usage = "%(prog)s MODEL [TEXT ...] [--file FILE] [options]"


def need_texts(command: str, texts: Sequence[str], file: object) -> None:
    """Refuse TEXT beside --file, and neither of them."""
    if bool(texts) == bool(file):
        found = "TEXT and --file" if texts else "no text"
        raise UsageError(command, found, "TEXT, - or --file FILE", f"See `{command} --help`.")


def add_permissions(parser: argparse.ArgumentParser) -> None:
    for name in NAMES:
        parser.add_argument(flag(name), action="store_true", help=HELP[name])


def given_permissions(arguments: argparse.Namespace) -> Permissions:
    return Permissions(**{name: getattr(arguments, name) for name in NAMES})


def load(
    name: str, permissions: Permissions, queries: "Sequence[Query]" = ("score",), **options: str
) -> "LanguageModel":
    """Load the model that the command line names, and print its warnings."""
    from syntagm.models import names

    model = names.load_permitted(name, permissions, options, queries)
    for warning in model.warnings:
        print(shown_lines(f"warning: {model.name}: {warning}"), file=sys.stderr)
    return model
