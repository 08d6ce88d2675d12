"""The options that name a model: MODEL and the permissions."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from syntagm.core import HELP, NAMES, Permissions, flag, shown_lines

if TYPE_CHECKING:
    from syntagm.models import LanguageModel, Query


def arguments(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add MODEL and the permissions."""
    parser.add_argument(
        "models" if several else "model",
        metavar="MODEL",
        nargs="+" if several else None,
        help="a model: demo, toy, a folder, a name on the Hugging Face Hub, or family:path?options (see `syntagm models`)",
    )
    permissions(parser)


def permissions(parser: argparse.ArgumentParser) -> None:
    """Add --allow-pickle, --allow-exec and --trust-remote-code."""
    for name in NAMES:
        parser.add_argument(flag(name), action="store_true", help=HELP[name])


def given(arguments: argparse.Namespace) -> Permissions:
    """Return the permissions that the command line gives."""
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
