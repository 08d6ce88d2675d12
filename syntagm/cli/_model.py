"""The options that name a model: MODEL and the two permissions."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syntagm.models.contract import LanguageModel


def arguments(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add MODEL, --allow-pickle and --trust-remote-code.

    Arguments:
        several: whether there may be several models; they are then in `models`.
    """
    parser.add_argument(
        "models" if several else "model",
        metavar="MODEL",
        nargs="+" if several else None,
        help="a model: demo, toy, a folder, a name on the Hugging Face Hub, or family:path?options (see `syntagm models`)",
    )
    parser.add_argument(
        "--allow-pickle",
        action="store_true",
        help="load pickled weights, which can run arbitrary code; read pickled suites",
    )
    parser.add_argument("--trust-remote-code", action="store_true", help="run Python code that comes with the model")


def load(arguments: argparse.Namespace, **further: str) -> "LanguageModel":
    """Load the model that the command line names.

    Arguments:
        further: more options of its family, by name.

    Raises:
        UsageError: the family or an option does not exist, or a permission is given twice.
        ModelError: the model can't be loaded.
    """
    from syntagm.models import families, names

    family = families.find(names.parse(arguments.model).family)
    # For a family without pickled weights the permission is not an error: it may be meant for a suite.
    pickle = arguments.allow_pickle and "allow_pickle" in family.permissions
    permissions = {"allow_pickle": pickle, "remote_code": arguments.trust_remote_code}
    granted = {name: "yes" for name, allowed in permissions.items() if allowed}
    return names.load(arguments.model, **granted, **further)
