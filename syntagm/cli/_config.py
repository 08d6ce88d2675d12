"""`--config FILE`, or the name of a preset: its place on the command line, and errors about what it says."""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.core import (
    InputError,
    ModelError,
    SyntagmError,
    UsageError,
    counted,
    did_you_mean,
    permissions,
    renames,
    shown_lines,
    toml,
    utf8,
)

_OF_A_MODEL = ("model", "name", "group")
_NUMBERS: Mapping[Any, str] = {int: "a whole number", float: "a number"}

# Permissions are given by the person at the keyboard, never by a file.
_PERMISSIONS = tuple(map(permissions.flag, permissions.NAMES))
# What the place of an error may have before a value.
_BEFORE = ("", "word list ")


@dataclass(frozen=True, slots=True)
class Source:
    """What a configuration file says, as far as the command line doesn't replace it."""

    file: str
    # An option, as it is written on the command line, and its key itself -> the key in the file.
    keys: Mapping[str, str]
    values: Mapping[str, str]  # texts in the file, none of them empty -> their keys
    models: Sequence[str]  # the models in the file, in order
    replaced: Sequence[str]  # the keys that the command line replaces

    def __str__(self) -> str:
        used = ", ".join(dict.fromkeys([*self.keys.values(), *(["models"] if self.models else [])])) or "nothing"
        return f"{self.file}: {used}" + (
            f"; replaced by the command line: {', '.join(self.replaced)}" if self.replaced else ""
        )

    def place(self, error: SyntagmError) -> str:
        """Return the place of an error with the file and the key that it is about; unchanged if it is about neither."""
        # Places of errors: `--limit`, `-o DIR`, `--executor ray:ADDRESS`, `measure NAME`, `suite NAME`
        option = re.match(r"[\w-]+(?!\S)", error.place)
        if option and (key := self.keys.get(option[0])):
            return f"{self.file}, {key}{error.place[option.end() :]}"
        # Of a folder and a file in it, the file is meant.
        for value in sorted(self.values, key=len, reverse=True):
            # What is wrong inside a file is not the fault of the one that names it.
            before, found, rest = error.place.partition(value)
            if found and not (rest and (isinstance(error, InputError) or rest[0].isalnum())) and before in _BEFORE:
                return f"{self.file}, {self.values[value]}: {error.place}"
        about_model = error.place.startswith("model ")
        named = [n for n, model in enumerate(self.models, 1) if about_model and error.place == f"model {model}"]
        if named or (len(self.models) == 1 and (about_model or isinstance(error, ModelError))):
            return f"{self.file}, models, {named[0] if named else 1}: {error.place}"
        return f"{self.file}, models" if self.models and error.place == "MODEL" else error.place


def words_of_file(
    parser: argparse.ArgumentParser, file: str, given: Sequence[str], preset: Path | None = None
) -> tuple[list[str], Source]:
    """Return the options of a configuration file, as words of a command line, and what the file says."""
    try:
        table = toml.read(utf8.read(preset or Path(file)), file)
    except OSError as error:
        raise UsageError(f"--config {file}", error.strerror or "can't be read", "a TOML file") from None
    actions = {name: action for action in parser._actions for name in action.option_strings}
    before = _given(parser, given)
    # MODEL of a command with one model, or with several.
    positional = next(action for action in parser._actions if not action.option_strings)
    models, options, replaced = list[str](), list[str](), list[str]()
    keys, values, of_option = dict[str, str](), dict[str, str](), dict[str, str]()
    for key, value in table.items():
        if key == "models":
            if positional.dest in before:
                replaced.append(key)
            else:
                models, names = _models(value, file)
                if positional.nargs is None and len(models) > 1:
                    raise UsageError(f"{file}, models", f"{len(models)} models", f"one, as for `{parser.prog}`")
                if names and "name" in before:
                    replaced.append("name")
                elif names:
                    options += _joined("--name", names)
                    keys["--name"] = "models"
            continue
        action = _action(key, actions, file)
        for other in _excluded(parser, action):
            if (first := of_option.get(other.dest)) and table[first] and value:
                raise UsageError(f"{file}, {key}", f"{first} and {key}", "one of the two")
        if (first := of_option.setdefault(action.dest, key)) != key:
            raise UsageError(f"{file}, {key}", f"{first} and {key}", "one of the two", "They are the same option.")
        if not before.isdisjoint(other.dest for other in [action, *_excluded(parser, action)]):
            replaced.append(key)
        else:
            options += _words(action, key, value, file)
            keys |= dict.fromkeys([key, *action.option_strings], key)
            texts = [text for text in (value if isinstance(value, list) else [value]) if text and isinstance(text, str)]
            values |= dict.fromkeys(texts, key)
    return options, Source(file, keys, values, models, replaced)


def _excluded(parser: argparse.ArgumentParser, action: argparse.Action) -> list[argparse.Action]:
    """Return the options that can't be given beside an option, as --quiet beside --verbose."""
    groups = [group._group_actions for group in parser._mutually_exclusive_groups]
    return [other for group in groups if action in group for other in group if other is not action]


def _given(parser: argparse.ArgumentParser, words: Sequence[str]) -> set[str]:
    """Return the destinations of all that the command line itself gives."""
    before = [(action, action.required, action.nargs, action.default) for action in parser._actions]
    try:
        for action in parser._actions:
            action.required, action.default = False, argparse.SUPPRESS
            if not action.option_strings:
                action.nargs = "*"
        namespace, _ = parser.parse_known_intermixed_args(list(words))
    finally:
        for action, required, nargs, default in before:
            action.required, action.nargs, action.default = required, nargs, default
    return {name for name, value in vars(namespace).items() if value != []}


def _models(value: Any, file: str) -> tuple[list[str], list[str]]:
    place, expected = (
        f"{file}, models",
        'a list: models = ["demo", ...], or [[models]] with model =, name = and group =',
    )
    if not isinstance(value, list) or not value:
        raise UsageError(place, toml.shown(value), expected)
    models, names = list[str](), list[str]()
    for number, entry in enumerate(value, 1):
        one = {"model": entry} if isinstance(entry, str) else entry
        if not isinstance(one, Mapping):
            raise UsageError(f"{place}, {number}", toml.shown(one), expected)
        for key in one:
            if key not in _OF_A_MODEL:
                cure = "Options of the command stand above the first [[models]]."
                raise UsageError(f"{place}, {number}, {key}", "no key of a model", " or ".join(_OF_A_MODEL), cure)
        models.append(_model(toml.text(one, "model", f"{place}, {number}"), f"{place}, {number}"))
        name = [toml.text(one, "name", f"{place}, {number}")] if "name" in one else []
        if group := toml.text(one, "group", f"{place}, {number}") if "group" in one else "":
            if not name:
                raise UsageError(
                    f"{place}, {number}", "a group without a name", "a name, before which the group stands"
                )
            if ": " in group:
                raise UsageError(f"{place}, {number}, group", repr(group), "a group without a colon and a space")
            name = [f"{group}: {name[0]}"]
        names += name
    if names and len(names) < len(models):
        raise UsageError(
            place, f"{counted(len(names), 'name')} for {counted(len(models), 'model')}", "a name for each, or for none"
        )
    return models, names


def _model(name: str, place: str) -> str:
    """Return the name of a model; refuse one that the command line would take for an option, such as a permission."""
    if not name or name.startswith("-"):
        raise UsageError(place, toml.shown(name), "the name of a model", "Options have keys of their own.")
    return name


def _action(key: str, actions: Mapping[str, argparse.Action], file: str) -> argparse.Action:
    name = renames.current(renames.FLAG, f"--{key.replace('_', '-')}", actions).removeprefix("--")
    if f"--{name}" in _PERMISSIONS:
        cure = f"Give --{name} on the command line."
        raise UsageError(f"{file}, {key}", "a permission", "options without permissions", cure)
    option = f"-{name}" if len(name) == 1 else f"--{name}"
    if option in actions and option not in ("--config", "--help", "-h"):
        return actions[option]
    left = ("--help", "--config", *_PERMISSIONS)
    known = ["models", "output", *(name.lstrip("-") for name in actions if name.startswith("--") and name not in left)]
    known += [name[1:] for name, action in actions.items() if len(name) == 2 and action.option_strings == [name]]
    known = [*dict.fromkeys(known)]
    raise UsageError(f"{file}, {key}", "no option", "one of " + ", ".join(known), did_you_mean(name, known))


def _words(action: argparse.Action, key: str, value: Any, file: str) -> list[str]:
    option, place = action.option_strings[-1], f"{file}, {key}"
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise UsageError(place, toml.shown(value), "true or false")
        return [option] if value else []
    values = [_text(one, place, action) for one in (value if isinstance(value, list) else [value])]
    several = action.nargs in ("+", "*") or isinstance(action.default, list) or "Append" in type(action).__name__
    if len(values) != 1 and not (values and several):
        raise UsageError(place, f"{len(values)} values", "at least one" if several else "one")
    return list(_joined(option, values))


def _joined(option: str, values: Sequence[str]) -> Iterator[str]:
    # Apart, a value that begins with a hyphen would be taken for an option, and a model after `--suite a` for a suite.
    for value in values:
        yield f"{option}={value}" if option.startswith("--") else f"{option}{value}"


def _text(value: Any, place: str, action: argparse.Action) -> str:
    """Return a value as text; refuse one that the option doesn't accept."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(place, toml.shown(value), "text or a number")
    if action.choices and value not in action.choices:
        raise UsageError(place, toml.shown(value), " or ".join(map(str, action.choices)))
    if callable(action.type):
        try:
            action.type(str(value))
        except ValueError:
            raise UsageError(place, toml.shown(value), _NUMBERS[action.type]) from None
        except SyntagmError as error:
            error.place = f"{place}: {error.place}"
            raise
    return str(value)


OPTION = "--config"


def blame(source: Source | None, error: Exception, model: str = "", label: str = "") -> str:
    """Return an error as text; if it is about a value that came from a configuration file, with the file and the key."""
    before = f"{label}: " if label else ""
    if source and isinstance(error, SyntagmError):
        if (place := source.place(error)) != error.place:
            error.place = place
        elif model in source.models:
            before = f"{label} ({source.file}, models, {source.models.index(model) + 1}): "
    return before + shown_lines(str(error))


def argument(parser: argparse.ArgumentParser) -> None:
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


def expanded(parser: argparse.ArgumentParser, words: Sequence[str]) -> tuple[list[str], Source | None]:
    """Return the words of a command line with the options of its configuration file, and that file, if it names one."""
    actions = {name: action for action in parser._actions for name in action.option_strings}
    if OPTION not in actions:
        return list(words), None
    before, files, after = _around_config(words, actions)
    if not files:
        return list(words), None
    if len(files) > 1:
        raise UsageError(OPTION, f"{len(files)} files", "one")
    # A file of the user's comes before a preset of the same name; a folder, as of a corpus, is no such file.
    preset = presets().get(files[0]) if Path(files[0]).is_dir() or not Path(files[0]).exists() else None
    if not preset and re.fullmatch(r"[\w-]+", files[0]) and not Path(files[0]).exists():
        expected = f"a TOML file, or the name of a preset: {', '.join(presets())}"
        raise UsageError(f"{OPTION} {files[0]}", "no such file or preset", expected, did_you_mean(files[0], presets()))
    options, source = words_of_file(parser, files[0], words, preset)
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
