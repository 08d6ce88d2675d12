"""Train a language model on a corpus.

Each FAMILY has options of its own: syntagm train FAMILY --help. A corpus is a text with one sentence a line (.txt, .txt.gz),
bracketed trees (.trees, .mrg, .ptb), or bllip:FOLDER?set=xs.

    syntagm train ngram --corpus books.txt -o models/5gram
    syntagm train lstm --corpus train.txt --valid valid.txt -o models/lstm
    syntagm train gpt2 --corpus train.txt --valid valid.txt --layers 4 --width 256 --heads 4 -o models/gpt2
    syntagm train masked --corpus train.txt --valid valid.txt --lower -o models/bert
    torchrun --nproc-per-node 2 -m syntagm train gpt2 ...

Stop it with Ctrl-C, or kill it: the same command goes on where it stood, and ends with the same model. What comes out is used at
once: syntagm run models/lstm --suite hu2020 -o runs/lstm
"""

import argparse
import os
from pathlib import Path
from typing import Any

from syntagm.errors import UsageError
from syntagm.training import families
from syntagm.training.options import MODEL, Option, changed
from syntagm.training.trainable import Trainable


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes: the families that can be trained, each with the options of its settings."""
    commands = parser.add_subparsers(dest="family", metavar="FAMILY", required=True)
    for family in families.FAMILIES:
        if not family.variant_of:
            _declare(commands.add_parser(family.name, help=family.summary, description=family.summary), family)


def _declare(parser: argparse.ArgumentParser, family: Trainable[Any]) -> None:
    add = parser.add_argument
    add("--corpus", nargs="+", required=True, metavar="FILE", help="the training text")
    add("--valid", nargs="+", required=family.needs_valid, default=[], metavar="FILE", help=family.valid)
    add("-o", "--output", metavar="DIR", required=True, type=Path, help="the model folder")
    if family.on_device:
        add("--threads", type=int, default=1, help="processor threads (1)")
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for option in family.options:
        if option.group not in groups:
            note = family.note if option.group == MODEL else None
            groups[option.group] = parser.add_argument_group(option.group, note)
        _add(groups[option.group], option)


def _add(group: argparse._ActionsContainer, option: Option) -> None:
    spelled, default = f"--{option.name}", option.default
    if option.kind is bool and not default:
        group.add_argument(spelled, dest=option.field, action="store_true", help=option.help)
        return
    more: dict[str, Any] = {"type": option.kind, "metavar": option.metavar or option.name.upper()}
    if option.kind is bool:
        default, more = "yes", {"choices": ["yes", "no"]}
    elif option.choices:
        more = {"choices": option.choices}
    elif option.several:
        more["nargs"] = "+"
    text = option.help if default in ("", ()) else f"{option.help} ({default})"
    group.add_argument(spelled, dest=option.field, default=default, help=text, **more)


def run(arguments: argparse.Namespace) -> int:
    """Train, and say what came out."""
    from syntagm.cli._lines import Lines

    family = families.find(arguments.family)
    settings = chosen(family, arguments)
    family.train(arguments.corpus, arguments.valid, arguments.output, settings, Lines())
    if os.environ.get("RANK", "0") == "0":
        # The other processes end before the first has written.
        print(f"{arguments.output}: done")
    return 0


def chosen(family: Trainable[Any], arguments: argparse.Namespace) -> Any:
    """The settings that a command line asks for; where they name a device, one of this machine, and its threads are set.

    Raises:
        UsageError: a setting that can't be taken, or no such device.
    """
    values = {option.field: _value(option, getattr(arguments, option.field)) for option in family.options}
    if family.on_device:
        # Whatever is wrong with the others is said before a library is loaded.
        changed(family.settings, values)
        values["device"] = _device(values["device"], arguments.threads)
    return changed(family.settings, values)


def _value(option: Option, given: Any) -> Any:
    if option.kind is bool:
        return given in (True, "yes")
    return tuple(given) if option.several else given


def _device(asked: str, threads: int) -> str:
    import torch

    from syntagm.models.device import device

    if threads < 1:
        raise UsageError("--threads", str(threads), "at least 1")
    torch.set_num_threads(threads)
    if asked == "cuda" and "LOCAL_RANK" in os.environ:
        # torchrun starts a process for each card of a machine, and says which is its.
        asked = f"cuda:{os.environ['LOCAL_RANK']}"
    return str(device(asked))
