"""Completion in the shell: commands, options, and the bundled names that stand in their places.

    eval "$(register-python-argcomplete syntagm)"

in the start-up file of bash or zsh turns it on; see docs/guide/completion.md for other shells.
"""

import argparse
from collections.abc import Callable, Iterable

# What stands in the place of an argument, by its metavar in `--help` -> the names that can stand there.
_Names = Callable[[str], Iterable[str]]


def attach(parser: argparse.ArgumentParser, command: str = "") -> None:
    """Tell argcomplete which names can stand in the places of the arguments of a parser and of its commands.

    Files can stand wherever they make sense in addition.
    """
    from argcomplete.completers import FilesCompleter

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                attach(sub, command or name)
        elif names := _of(str(action.metavar), command):
            action.completer = _NamesAndFiles(names, FilesCompleter())  # type: ignore[attr-defined]


class _NamesAndFiles:
    """Names, and files after them."""

    def __init__(self, names: _Names, files: Callable[..., Iterable[str]]) -> None:
        self.names, self.files = names, files

    def __call__(self, prefix: str, **more: object) -> list[str]:
        return [name for name in self.names(prefix) if name.startswith(prefix)] + list(self.files(prefix, **more))


def _of(metavar: str, command: str) -> _Names | None:
    if metavar == "NAME" and command in ("table", "figure"):
        return lambda _: _views(command)
    return {"MODEL": _models, "SUITE": _suites, "PATH": _suites, "IN": _suites, "WORDS": _word_lists}.get(metavar)


def _models(_: str) -> list[str]:
    from syntagm.models import families

    return [*families.bundled(), *(f"{name}:" for name in families.names())]


def _suites(prefix: str) -> list[str]:
    from syntagm.materials import finding

    collection, slash, _ = prefix.partition("/")
    return [f"{collection}/{suite}" for suite in finding.bundled_suites(collection)] if slash else finding.collections()


def _word_lists(_: str) -> list[str]:
    from syntagm import word_list

    return word_list.bundled()


def _views(kind: str) -> list[str]:
    from syntagm import views

    return views.offering("table" if kind == "table" else "figure")
