"""Reading suites from a file in any format.

Options follow a question mark: `pairs.csv?good=sen&bad=wrong_sen`. The option `format=NAME` names the format; by
default, the file is read in the one format that recognises it. `language=TAG` (BCP 47) names the language of its suites,
which is known of published datasets. `sheet=NAME` names the sheet of a workbook.
"""

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from syntagm.core import InputError, UsageError, json, permissions, registry, utf8
from syntagm.suites.formats import pairs
from syntagm.suites.languages import tags
from syntagm.suites.materials import datasets, hub, packed
from syntagm.suites.suite import DERIVED, LANGUAGES, SCORED, Suite

HEAD = 64 * 1024
# What spreadsheet programs save, and is not read. Workbooks of Excel (.xlsx) are; see `packed`.
WORKBOOKS = (".xlsm", ".xls", ".ods", ".numbers")
_TABLES = (".csv", ".tsv", ".jsonl", ".json", ".txt")
_IBEX = re.compile(r"^# (?:Results on |Columns below this comment|1\. Results reception time)", re.MULTILINE)
_JSPSYCH = ("trial_type", "trial_index", "time_elapsed")
_OPTIONS = re.compile(r"\?([A-Za-z_-]+=[^&]*(?:&[A-Za-z_-]+=[^&]*)*)$", re.DOTALL)


def read_suite_file(path: str | Path, allow_pickle: bool = False) -> list[Suite]:
    name, given = options_of(str(path))
    wanted = tags.find(given["language"]).tag if given.get("language") else ""
    file, module, options = recognised(path)
    granted = permissions.Permissions(allow_pickle=allow_pickle).only(inspect.signature(module.read).parameters)
    with packed.named(Path(name), file):
        suites = list(module.read(file, **options, **granted))
    suites = _described(suites, wanted, Path(name), file, module)
    if source := hub.origin(file):
        return [replace(suite, tags={**suite.tags, "hub": source}) for suite in suites]
    return suites


def _described(suites: Sequence[Suite], wanted: str, named: Path, file: Path, module: ModuleType) -> list[Suite]:
    """Give suites the tag `language`: of the option, of a column of their own, or of the dataset that the file belongs to."""
    # What a file doesn't say is no part of it, and isn't written back: a language of the dataset, and the convention by
    # which its authors score it.
    dataset, language = None, ""
    if not (bundled := Path(__file__).parent in file.resolve().parents):
        columns = pairs.columns(file, _head(file)) if file.suffix in _TABLES else ()
        dataset, language = datasets.dataset_of(named, _name(module), columns)
    scored = "bits" if bundled else dataset.scored if dataset else ""
    found = []
    for suite in suites:
        own = next((suite.tags[name] for name in LANGUAGES if suite.tags.get(name)), "")
        derived = {SCORED: scored} if scored else {}
        if wanted:
            derived["language"] = wanted
        elif language and not own:
            derived |= {"language": language, DERIVED: "true"}
        found.append(replace(suite, tags={**suite.tags, **derived}) if derived else suite)
    return found


def recognised(path: str | Path) -> tuple[Path, ModuleType, dict[str, str]]:
    """Return a file, the module of its format, and the options of the format. The file itself is not read, only unpacked."""
    name, options = options_of(str(path))
    options.pop("language", None)
    file = packed.plain(Path(name), options.pop("sheet", ""))
    with packed.named(Path(name), file):
        module = format_of(file, options)
    options.pop("format", None)
    known = option_names(module)
    for option in options:
        if option not in known:
            cure = "--limit N draws N items of any suite." if option == "n" else ""
            expected = "one of " + ", ".join(["format", *known, "language"])
            raise UsageError(str(path), f"no option {option!r} in {_name(module)}", expected, cure)
    return file, module, options


def unscored_columns(path: str | Path) -> list[str]:
    """Return the columns of a table that are not scored, as far as its first rows show them; empty for other files."""
    file, module, options = recognised(path)
    return module.unscored(file, _head(file), **options) if hasattr(module, "unscored") else []


def read_as(path: str | Path) -> str:
    """Return the format of a file and what its columns or lines are taken for; "" for files that say so themselves."""
    file, module, options = recognised(path)
    what = module.read_as(file, _head(file), **options) if hasattr(module, "read_as") else ""
    return f"{_name(module)}: {what}" if what else ""


def options_of(path: str) -> tuple[str, dict[str, str]]:
    """Split an argument into path and options. A question mark in the name of an existing file is not a separator.

    Raises:
        UsageError: an option is a permission.

    >>> options_of("pairs.csv?good=sen&bad=wrong_sen")
    ('pairs.csv', {'good': 'sen', 'bad': 'wrong_sen'})
    """
    match = _OPTIONS.search(path)
    if not match or exists(Path(path)):
        return path, {}
    options = dict(part.split("=", 1) for part in match[1].split("&"))
    permissions.refuse(path, options)
    return path[: match.start()], options


def format_of(file: Path, options: dict[str, str]) -> ModuleType:
    """Return the module of the format that reads a file: the one named in the options, or the only one that claims it."""
    # If no format claims the file, the only format that has all the options is used, so `good=` and `bad=` are enough.
    if file.suffix.lower() in WORKBOOKS:
        cure = "Save the sheet as CSV (UTF-8) in your spreadsheet program."
        raise InputError(str(file), "a workbook", "text, such as a table in CSV or TSV", cure)
    if program := answers_of(_head(file)):
        cure = "Name the table from which the experiment was made. `syntagm reading` reads reading times, and "
        cure += "`syntagm experiment import` the answers to an experiment of Syntagm's."
        raise InputError(str(file), f"raw results of {program}", "suites, in which each sentence stands once", cure)
    if "format" in options:
        module: ModuleType = registry.find("formats", options["format"])
        return module
    candidates = claimed(file)
    if not candidates and options:
        candidates = [module for module in formats() if set(options) <= set(option_names(module))]
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(_name(module) for module in candidates)
    cure = f"Name one, as in {file.name}?format=NAME; there are {', '.join(registry.names('formats'))}."
    if candidates:
        raise InputError(str(file), f"more than one format claims it: {names}", "", cure)
    _refuse_damaged(file)
    found, also = unclaimed(file)
    of_regions = "The header of a table of regions begins with item,condition; a column of numbers needs rows "
    cure = " ".join(filter(None, (cure, also, of_regions + "#prediction.")))
    raise InputError(str(file), found, "", cure)


def answers_of(head: str) -> str:
    """Return the name of the program whose raw results a text begins like; "" if it is none."""
    # Ibex and PCIbex write comments that name the columns; jsPsych gives each trial its type, its index and its time.
    if _IBEX.search(head):
        return "Ibex or PCIbex"
    columns = head if head.lstrip()[:1] in ("[", "{") else head.partition("\n")[0]
    return "jsPsych" if all(re.search(rf"\b{name}\b", columns) for name in _JSPSYCH) else ""


def unclaimed(file: Path) -> tuple[str, str]:
    """Return a message about a file that no format recognises, with its columns if it is a table, and what to do."""
    file = packed.plain(file)
    head = _head(file)
    if (first := head.partition("\n")[0].strip().strip('"')).casefold() in ("sep=;", "sep=,", "sep="):
        return f"its first line is {first}, which is for Excel alone", "Delete this line."
    if file.suffix == ".text" and file.with_suffix(".gold").is_file():
        return "the sentences of a set whose forms are in its file .gold", f"Name {file.stem}.gold."
    if program := answers_of(head):
        return f"raw results of {program}", ""
    columns, cure = pairs.unclaimed(file, head)
    return "no format claims it" + (f": {columns}" if columns else ""), cure


def _refuse_damaged(file: Path) -> None:
    """Refuse a file that no format recognises because it is not text or not JSON; the error gives the reason."""
    content = utf8.read(file)
    lines = file.suffix == ".json" and json.is_lines(content)
    if file.suffix == ".json" and not lines:
        json.parsed(content, file)
    elif file.suffix == ".jsonl" or lines:
        for _ in json.objects(content, file):
            pass


def claimed(file: Path) -> list[ModuleType]:
    """Return the formats that claim a file by its name and its first 64 KiB, once it is unpacked."""
    file = packed.plain(file)
    head = _head(file)
    return [module for module in formats() if module.claims(file, head)]


def formats() -> list[ModuleType]:
    """Return the modules of all formats, in the order of their names."""
    return [registry.find("formats", name) for name in registry.names("formats")]


def with_options(argument: str, options: Mapping[str, str]) -> str:
    """Add options to an argument. Options that the argument already has are not changed.

    >>> with_options("hu2020?n=3", {"n": "5", "seed": "2"})
    'hu2020?n=3&seed=2'
    """
    name, present = options_of(argument)
    ending = "&".join(f"{key}={value}" for key, value in (present | (dict(options) | present)).items())
    return f"{name}?{ending}" if ending else name


def exists(path: Path) -> bool:
    """Return whether a file or folder exists. Text that can't be a path counts as not existing."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def option_names(module: ModuleType) -> list[str]:
    """Return the options of a format, which are the keyword arguments of its `read` that are not permissions."""
    return [name for name in inspect.signature(module.read).parameters if name not in ("path", *permissions.NAMES)]


def _head(file: Path) -> str:
    return utf8.beginning(file, HEAD).decode("utf-8", errors="replace").removeprefix("\ufeff")


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]
