"""The model on a command line: its name, and the two permissions that are options of their own."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syntagm.models.contract import LanguageModel


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare MODEL, --allow-pickle and --trust-remote-code."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a model: demo, toy, a folder, a hub name, family:path?options (syntagm models lists them)",
    )
    parser.add_argument(
        "--allow-pickle", action="store_true", help="unpickle weights, which can run any code; and read pickled suites"
    )
    parser.add_argument("--trust-remote-code", action="store_true", help="run code that comes with the model")


def load(arguments: argparse.Namespace, **asked: str) -> "LanguageModel":
    """The model that the command line names, with further options of its family.

    Raises:
        UsageError: no such family or option, or a permission given twice.
        ModelError: the model can't be loaded.
    """
    from syntagm.models import families, names

    family = families.find(names.parse(arguments.model).family)
    # A family without weights can't be refused the permission: it may be meant for a suite.
    pickle = arguments.allow_pickle and "allow_pickle" in family.permissions
    options = {"allow_pickle": pickle, "remote_code": arguments.trust_remote_code}
    return names.load(arguments.model, **{name: "yes" for name, given in options.items() if given}, **asked)
