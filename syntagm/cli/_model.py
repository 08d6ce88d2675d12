"""The options that name a model: MODEL and the permissions."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syntagm.models.contract import LanguageModel


def arguments(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add MODEL and the permissions.

    Arguments:
        several: whether there may be several models; they are then in `models`.
    """
    parser.add_argument(
        "models" if several else "model",
        metavar="MODEL",
        nargs="+" if several else None,
        help="a model: demo, toy, a folder, a name on the Hugging Face Hub, or family:path?options (see `syntagm models`)",
    )
    permissions(parser)


def permissions(parser: argparse.ArgumentParser) -> None:
    """Add --allow-pickle, --allow-exec and --trust-remote-code."""
    parser.add_argument(
        "--allow-pickle",
        action="store_true",
        help="load pickled weights, which can run arbitrary code; read pickled suites",
    )
    parser.add_argument("--allow-exec", action="store_true", help="start the program of a model (exec:, python:)")
    parser.add_argument("--trust-remote-code", action="store_true", help="run Python code that comes with the model")


def check(arguments: argparse.Namespace) -> None:
    """Check all of the model that the command line names that can be checked without reading its weights.

    Raises:
        UsageError, ModelError: as for `load`.
    """
    from syntagm.models import names

    names.check(arguments.model, **names.permitted(arguments.model, granted_permissions(arguments)))


def load(arguments: argparse.Namespace, **further: str) -> "LanguageModel":
    """Load the model that the command line names.

    Arguments:
        further: more options of its family, by name.

    Raises:
        UsageError: the family or an option does not exist, or a permission is given twice.
        ModelError: the model can't be loaded.
    """
    from syntagm.models import names

    granted = names.permitted(arguments.model, granted_permissions(arguments))
    return names.load(arguments.model, **granted, **further)


def granted_permissions(arguments: argparse.Namespace) -> list[str]:
    """Return the options of models that the command line permits."""
    granted = {
        "allow_pickle": arguments.allow_pickle,
        "allow_exec": arguments.allow_exec,
        "remote_code": arguments.trust_remote_code,
    }
    return [name for name, allowed in granted.items() if allowed]
