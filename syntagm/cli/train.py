"""Train a language model on a corpus.

Each FAMILY has its own options: see `syntagm train FAMILY --help`. A corpus is a text
with one sentence per line (.txt, .txt.gz), bracketed trees (.trees, .mrg, .ptb), or
bllip:FOLDER?set=xs.

    syntagm train ngram --corpus books.txt -o models/5gram
    syntagm train lstm --corpus train.txt --valid valid.txt -o models/lstm
    syntagm train onlstm --corpus train.txt --valid valid.txt -o models/onlstm
    syntagm train multitask --corpus train.trees --valid valid.trees -o models/multitask
    syntagm train gpt2 --corpus train.txt --valid valid.txt --layers 4 --width 256 --heads 4 -o models/gpt2
    syntagm train masked --corpus train.txt --valid valid.txt --lower -o models/bert
    syntagm train rnng --corpus train.trees --valid valid.trees -o models/rnng
    syntagm train rnng --corpus train.txt --valid valid.txt --parser exec:parser.toml --allow-exec -o models/rnng
    torchrun --nproc-per-node 2 -m syntagm train gpt2 ...

If you stop the command with Ctrl-C, or kill it, run it again to resume; the model will be
the same. The model can be used at once:

    syntagm run models/lstm --suite hu2020 -o runs/lstm
"""

import argparse
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _options
from syntagm.core import Several, Truth, UsageError
from syntagm.training import MODEL, Flag, Trainable, changed, families

if TYPE_CHECKING:
    from syntagm.core import Permissions, Progress


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each family that can be trained, with options for its settings."""
    commands = parser.add_subparsers(dest="family", metavar="FAMILY", required=True)
    for family in families.FAMILIES:
        if not family.variant_of:
            _declare(commands.add_parser(family.name, help=family.summary, description=family.summary), family)


def _declare(parser: argparse.ArgumentParser, family: Trainable[Any]) -> None:
    add = parser.add_argument
    add("--corpus", nargs="+", required=True, metavar="FILE", help="the training text; several files count as one")
    add("--valid", nargs="+", required=family.needs_valid, default=[], metavar="FILE", help=family.valid)
    if family.trees:
        add(
            "--parser",
            metavar="NAME",
            help="parse FILEs without trees: exec:FILE.toml, a program; or a model that parses",
        )
        _options.add_permissions(parser)
    _files.add_output(parser, "DIR", "the folder for the model", required=True)
    if family.on_device:
        add("--threads", type=int, default=1, help="processor threads (1)")
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for option in family.options:
        if option.group not in groups:
            note = family.note if option.group == MODEL else None
            groups[option.group] = parser.add_argument_group(option.group, note)
        _add(groups[option.group], option)


def _add(group: argparse._ActionsContainer, option: Flag) -> None:
    flag, values, value = f"--{option.flag}", option.values, option.value
    if isinstance(values, Truth) and not value:
        group.add_argument(flag, dest=option.name, action="store_true", help=option.help)
        return
    keywords: dict[str, Any] = {"metavar": option.metavar or option.flag.upper()}
    if isinstance(values, Several):
        values, keywords["nargs"] = values.of, "+"
    elif values.texts:
        # A group of argparse would compare the choices with what was read.
        keywords["metavar"] = f"{{{','.join(values.texts)}}}"
    text = f"{option.help} ({option.default})" if option.default else option.help
    read = functools.partial(values.read, flag)
    group.add_argument(flag, dest=option.name, default=value, type=read, help=text, **keywords)


def run(arguments: argparse.Namespace) -> int:
    from syntagm.cli._lines import Lines

    family = families.find(arguments.family)
    settings = given_settings(family, arguments)
    progress = Lines()
    corpus, valid = arguments.corpus, arguments.valid
    if getattr(arguments, "parser", None):
        permissions, folder = _options.given_permissions(arguments), arguments.output
        corpus, valid = _parsed(corpus, valid, arguments.parser, permissions, folder, settings.words.tokens, progress)
    family.train(corpus, valid, arguments.output, settings, progress)
    if os.environ.get("RANK", "0") == "0":
        # The other processes of torchrun end before the first has written the model.
        print(f"{arguments.output}: done")
    return 0


def _parsed(
    train: list[str],
    valid: list[str],
    parser: str,
    permissions: "Permissions",
    folder: Path,
    tokens: str,
    progress: "Progress",
) -> list[list[str]]:
    """Return the paths of the training and the held-out trees; texts are parsed into the folder of the model."""
    from syntagm.training import corpus, parsing

    texts = {"corpus": train, "valid": valid}
    if all(map(corpus.are_trees, texts.values())):
        raise UsageError("--parser", "given, and all files are trees", "a text without trees", "Leave it out.")
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise UsageError("--parser", "given to several processes", "one", "Parse the text with one process first.")
    return [
        paths if corpus.are_trees(paths)
        else [parsing.parse(paths, parser, folder / name, tokens, permissions, progress)]
        for name, paths in texts.items()
    ]  # fmt: skip


def given_settings(family: Trainable[Any], arguments: argparse.Namespace) -> Any:
    """Return the training settings of a command line; check that the device exists, and set the number of threads."""
    given = {option.name: getattr(arguments, option.name) for option in family.options}
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    if family.on_device:
        # Errors in the other settings are reported before torch is loaded.
        changed(family.settings, values)
        values["device"] = _device(values["device"], arguments.threads)
    return changed(family.settings, values)


def _device(name: str, threads: int) -> str:
    import torch

    from syntagm.models import device

    if threads < 1:
        raise UsageError("--threads", str(threads), "at least 1")
    torch.set_num_threads(threads)
    if name == "cuda" and "LOCAL_RANK" in os.environ:
        # torchrun starts a process for each GPU of a machine, and numbers them in this variable.
        name = f"cuda:{os.environ['LOCAL_RANK']}"
    return str(device(name))
