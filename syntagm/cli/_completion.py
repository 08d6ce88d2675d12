"""Shell completion of commands, options and bundled names.

To turn it on, add this line to the start-up file of bash or zsh; docs/guide/completion.md describes other shells.

    eval "$(register-python-argcomplete syntagm)"
"""

import argparse
from collections.abc import Callable, Iterable

# A function from the prefix that the user has typed to the names that can complete it.
_Names = Callable[[str], Iterable[str]]


def attach(parser: argparse.ArgumentParser, command: str = "") -> None:
    """Add completers for bundled names and files to the arguments of a parser and of its subcommands."""
    from argcomplete.completers import FilesCompleter

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                attach(sub, command or name)
        elif names := _names_for(str(action.metavar), command):
            action.completer = _NamesAndFiles(names, FilesCompleter())  # type: ignore[attr-defined]


class _NamesAndFiles:
    """A completer that offers names first, then files."""

    def __init__(self, names: _Names, files: Callable[..., Iterable[str]]) -> None:
        self.names, self.files = names, files

    def __call__(self, prefix: str, **keywords: object) -> list[str]:
        return [name for name in self.names(prefix) if name.startswith(prefix)] + list(self.files(prefix, **keywords))


def _names_for(metavar: str, command: str) -> _Names | None:
    """Return the names for an argument, chosen by its metavar in `--help`; None if it accepts no bundled names."""
    if metavar == "NAME" and command in ("table", "figure"):
        return lambda _: _views(command)
    return {"MODEL": _models, "SUITE": _suites, "PATH": _suites, "IN": _suites, "WORDS": _word_lists}.get(metavar)


def _models(_: str) -> list[str]:
    from syntagm.models import families

    return [*families.bundled(), *(f"{name}:" for name in families.names())]


def _suites(prefix: str) -> list[str]:
    from syntagm.suites import bundled_suites, collections

    collection, slash, _ = prefix.partition("/")
    return [f"{collection}/{suite}" for suite in bundled_suites(collection)] if slash else collections()


def _word_lists(_: str) -> list[str]:
    from syntagm.suites import word_list

    return word_list.bundled()


def _views(kind: str) -> list[str]:
    from syntagm.cli._views import ROOMS
    from syntagm.views import by_name

    chosen: by_name.Kind = "table" if kind == "table" else "figure"
    return [name for room in ROOMS for name in by_name.offering(chosen, room)]
