"""`--config FILE`: its place on the command line."""

import argparse
from collections.abc import Mapping, Sequence

from syntagm.errors import UsageError

OPTION = "--config"


def argument(parser: argparse.ArgumentParser) -> None:
    """Add --config."""
    parser.add_argument(
        OPTION, metavar="FILE", help="read options from a TOML file; those of the command line replace them"
    )


def expanded(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """Return the words of a command line with the options of its configuration file, if it names one.

    What the file contributes, and what the command line replaces, is printed.

    Raises:
        UsageError: there are two files, one can't be read, or a key or a value is not that of an option.
        InputError: the file is not TOML.
    """
    actions = {name: action for action in parser._actions for name in action.option_strings}
    if OPTION not in actions:
        return list(words)
    before, files, after = _around_config(words, actions)
    if not files:
        return list(words)
    if len(files) > 1:
        raise UsageError(OPTION, f"{len(files)} files", "one")
    # Loaded on use, because every command comes here.
    from syntagm.cli import _config_file

    models, options = _config_file.words(parser, files[0], words)
    return [*models, *before, *options, *after]


def _around_config(
    words: Sequence[str], actions: Mapping[str, argparse.Action]
) -> tuple[list[str], list[str], list[str]]:
    """Return the words before the option, its files, and the words after it. Like argparse, accept `--conf`."""
    before, files, after, waiting = list[str](), list[str](), list[str](), iter(words)
    for word in waiting:
        name, joined, value = word.partition("=")
        if len(name) > 2 and [action for action in actions if action.startswith(name)] == [OPTION]:
            files += [value] if joined else [following for following in [next(waiting, "")] if following]
        else:
            (after if files else before).append(word)
    return before, files, after
