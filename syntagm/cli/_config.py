"""`--config FILE`, or the name of a preset: its place on the command line, and errors about what it says."""

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.core import SyntagmError, UsageError, did_you_mean, shown_lines

if TYPE_CHECKING:
    from syntagm.cli._config_file import Source

OPTION = "--config"


def blame(source: "Source | None", error: Exception, model: str = "", label: str = "") -> str:
    """Return an error as text; if it is about a value that came from a configuration file, with the file and the key."""
    before = f"{label}: " if label else ""
    if source and isinstance(error, SyntagmError):
        if (place := source.place(error)) != error.place:
            error.place = place
        elif model in source.models:
            before = f"{label} ({source.file}, models, {source.models.index(model) + 1}): "
    return before + shown_lines(str(error))


def argument(parser: argparse.ArgumentParser) -> None:
    """Add --config."""
    parser.add_argument(
        OPTION,
        metavar="FILE",
        help="read options from a TOML file, or from a preset by its name "
        f"({', '.join(presets())}); those of the command line replace them",
    )


def presets() -> dict[str, Path]:
    """Return the bundled presets by their names.

    >>> list(presets())
    ['babylm', 'babylm-2026']
    """
    return {
        path.stem: path
        for path in sorted((Path(__file__).parent / "_presets").glob("*.toml"), key=lambda path: path.stem)
    }


def expanded(parser: argparse.ArgumentParser, words: Sequence[str]) -> "tuple[list[str], Source | None]":
    """Return the words of a command line with the options of its configuration file, and that file, if it names one."""
    actions = {name: action for action in parser._actions for name in action.option_strings}
    if OPTION not in actions:
        return list(words), None
    before, files, after = _around_config(words, actions)
    if not files:
        return list(words), None
    if len(files) > 1:
        raise UsageError(OPTION, f"{len(files)} files", "one")
    # Loaded on use, because every command comes here.
    from syntagm.cli import _config_file

    # A file of the user's comes before a preset of the same name; a folder, as of a corpus, is no such file.
    preset = presets().get(files[0]) if Path(files[0]).is_dir() or not Path(files[0]).exists() else None
    if not preset and re.fullmatch(r"[\w-]+", files[0]) and not Path(files[0]).exists():
        expected = f"a TOML file, or the name of a preset: {', '.join(presets())}"
        raise UsageError(f"{OPTION} {files[0]}", "no such file or preset", expected, did_you_mean(files[0], presets()))
    options, source = _config_file.words(parser, files[0], words, preset)
    return [*source.models, *before, *options, *after], source


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
