"""Answers in files: ours, those of jsPsych, of PCIbex, and tables with named columns. People are numbered anew.

A file is read by what it contains. Ids of people in files of others may be those of a panel, so a run has numbers in
their place, in the order in which people appear.
"""

import contextlib
import csv as standard_csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from syntagm.core import InputError, UsageError, csv, json as strict_json, name_of, utf8
from syntagm.experiment import answers, plan
from syntagm.experiment.answers import Answer, Audit
from syntagm.experiment.database import NAME, begun
from syntagm.experiment.plan import Plan, Trial
from syntagm.experiment.store import Study

MAX_BYTES = 2**30
_OURS = set(answers.COLUMNS)
_NO_LIST = "answers under a list that the plan doesn't have, left out"
_LOST = "receipts that can't be read any more"
_NOBODY = "answers without a person, left out"
_SAID = "answers that are neither yes nor no, left out"
_BODY = ("choice", "rating", "ms", "times", "wrong")


def read(source: Path, made: Plan, columns: Mapping[str, str], audit: Audit) -> list[Answer]:
    if source.is_dir():
        if begun(source):
            with contextlib.closing(Study(source)) as study:
                if study.plan != made:
                    raise InputError(str(source), "another plan", "the plan of these answers")
                given, audit.refused = study.answers(), study.refused()
                for _ in range(study.lost):
                    audit.note(_LOST, str(source))
                return given
        files = sorted(
            path
            for path in source.iterdir()
            if path.suffix in (".csv", ".json", ".jsonl", ".txt") and path.name != plan.NAME
        )
        if not files:
            raise InputError(str(source), f"no {NAME}, and no CSV or JSON files", "answers")
        found = [answer for file in files for answer in _of_file(file, made, columns, audit)]
        return _numbered(found, audit)
    found = list(_of_file(source, made, columns, audit))
    # Our own codes lead to nobody, and a person may name one to be forgotten.
    return found if source.suffix == ".csv" and _is_ours(source) else _numbered(found, audit)


def _is_ours(path: Path) -> bool:
    header = utf8.beginning(path, 1000).split(b"\n")[0].decode(errors="replace").strip()
    return header in (",".join(answers.COLUMNS), ",".join((*answers.COLUMNS, "times")))


def _numbered(found: Iterable[Answer], audit: Audit) -> list[Answer]:
    given = list(found)
    numbers = {person: f"p{number:03}" for number, person in enumerate(dict.fromkeys(a.person for a in given), 1)}
    if audit.refused:
        audit.refused = {numbers[person]: why for person, why in audit.refused.items() if person in numbers}
    return [replace(answer, person=numbers[answer.person]) for answer in given]


def _of_file(path: Path, made: Plan, columns: Mapping[str, str], audit: Audit) -> Iterator[Answer]:
    text = utf8.read(path, MAX_BYTES)
    if path.suffix in (".json", ".jsonl") or text.lstrip()[:1] in ("[", "{"):
        return _of_objects(_objects(text, path), made, path, audit)
    if text.startswith("#"):
        return _of_pcibex(text, made, path, audit)
    rows = list(csv.records(text, path))
    names = set(rows[0][1]) if rows else set()
    if not columns and names >= _OURS:
        return _of_ours(rows, made, path, audit)
    if not columns and names >= {"person", "trial", "trial_type"}:
        return _of_objects(((f"{path}, line {line}", _decoded(row)) for line, row in rows), made, path, audit)
    return _of_table(rows, made, path, columns, audit)


def _objects(text: str, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of JSON: a list, a list of lists, or a line for each."""
    place = str(path)
    if text.lstrip().startswith("["):
        values = strict_json.parsed(text, path)
    else:
        values = [strict_json.parsed(line, path, number) for number, line in utf8.lines(text) if line.strip()]
    flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
    for number, value in enumerate(flat, 1):
        if not isinstance(value, dict):
            raise InputError(f"{place}, {number}", str(value)[:50], "an object in braces")
        yield f"{place}, {number}", value


def _decoded(row: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of jsPsych's CSV with its numbers, lists and truth values."""
    decoded: dict[str, Any] = {}
    for name in ("person", "list", "trial", "said", *_BODY):
        text = row.get(name, "")
        if text in ("", "null"):
            if name == "person":
                decoded[name] = None
            continue
        if name in ("person", "trial", "choice"):
            decoded[name] = text
            continue
        try:
            decoded[name] = json.loads(text)
        except ValueError:
            decoded[name] = text
    return decoded


def _of_objects(
    objects: Iterable[tuple[str, Mapping[str, Any]]], made: Plan, path: Path, audit: Audit
) -> Iterator[Answer]:
    """Read what our jsPsych pages send: an object for each trial, among others that jsPsych adds."""
    count = 0
    for place, value in objects:
        if value.get("trial") == "_end" and isinstance(value.get("said"), list):
            said = {name_of(value.get("person")): [str(text or "") for text in value["said"]]}
            audit.refused = {**(audit.refused or {}), **answers.refused(made, said)}
        if "trial" not in value or value["trial"] == "_end":
            continue
        count += "person" in value
        if person := _person(value.get("person"), place, audit):
            body = {name: value[name] for name in ("trial", *_BODY) if value.get(name) is not None}
            yield from _tried(made, person, value.get("list"), body, place, audit)
    if not count:
        raise InputError(str(path), "no object with person and trial", "what the pages of an experiment send")


def _person(cell: object, place: str, audit: Audit) -> str:
    """Return the name of a person; note an answer without one, for which it is empty."""
    if not (person := name_of(cell)):
        audit.note(_NOBODY, place)
    return person


def _tried(
    made: Plan, person: str, list_number: Any, body: Mapping[str, Any], place: str, audit: Audit
) -> Iterator[Answer]:
    """Yield a checked answer; note one that can't be an answer of the plan."""
    trial = made.by_id.get(str(body.get("trial")))
    number = _list(list_number, made)
    if trial is None:
        audit.note("answers to unknown trials, left out", place)
        return
    if number is None and list_number not in (None, ""):
        audit.note(_NO_LIST, place)
        return
    try:
        yield answers.checked(made, trial, person, number, body, place)
    except InputError as error:
        audit.note("impossible answers, left out", str(error))


def _list(value: Any, made: Plan) -> int | None:
    """Return the number of a list, from 0; files count from 1."""
    try:
        number = int(value) - 1
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < len(made.lists) else None


def _of_ours(rows: Iterable[tuple[int, Mapping[str, str]]], made: Plan, path: Path, audit: Audit) -> Iterator[Answer]:
    """Read answers.csv; its column `excluded` is computed anew."""
    trials = made.by_id
    parts: dict[tuple[str, str], list[tuple[str, Mapping[str, str]]]] = {}
    refused: dict[str, str] = {}
    for line, row in rows:
        if person := _person(row["person"], f"{path}, line {line}", audit):
            parts.setdefault((person, row["trial"]), []).append((f"{path}, line {line}", row))
            if row["excluded"] in (answers.ADMISSION, answers.HIDDEN):
                refused[person] = row["excluded"]
    audit.refused = {**(audit.refused or {}), **refused}
    for (person, name), lines in parts.items():
        place, first = lines[0]
        trial = trials.get(name)
        if trial is None or (trial.suite, trial.item, trial.condition) != (
            first["suite"],
            first["item"],
            first["condition"],
        ):
            audit.note("answers to unknown trials, left out", place)
            continue
        number = _list(first["list"], made)
        if number is None and first["list"]:
            audit.note(_NO_LIST, place)
            continue
        if not made.design.timed:
            for at, row in lines:
                yield from _tried(made, person, first["list"], _plain(name, row), at, audit)
            continue
        try:
            regions, said = _read_regions(trial, lines, audit)
        except InputError as error:
            audit.note("impossible answers, left out", str(error))
            continue
        yield Answer(person, number, name, said, regions=regions)


def _read_regions(
    trial: Trial, lines: Sequence[tuple[str, Mapping[str, str]]], audit: Audit
) -> tuple[tuple[tuple[str, float, bool], ...], str]:
    """Return the times of the regions, and the answer to the question, which stands in a row without a region; "" for none."""
    # An answer other than yes and no is noted.
    regions = tuple(
        (row["region"], _number(row["ms"], place), row["choice"] == "wrong") for place, row in lines if row["region"]
    )
    names = [region for region, _, _ in regions]
    if names != list(trial.regions[: len(names)]) or not names:
        raise InputError(lines[0][0], f"the regions {', '.join(names)}", ", ".join(trial.regions))
    place, given = next(((place, row["choice"]) for place, row in lines if not row["region"]), ("", ""))
    said = given.strip().casefold()
    if not trial.question or said in ("yes", "no", ""):
        return regions, said if trial.question else ""
    audit.note(_SAID, place)
    return regions, ""


def _plain(name: str, row: Mapping[str, str]) -> dict[str, Any]:
    body: dict[str, Any] = {"trial": name}
    if row.get("choice"):
        body["choice"] = row["choice"]
    for key in ("rating", "ms"):
        if row.get(key):
            number = _number(row[key], "")
            body[key] = int(number) if key == "rating" and number.is_integer() else number
    return body


def _number(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise InputError(place, f"the number {text!r}", "a number of at least 0")
    return value


def _of_table(
    rows: Iterable[tuple[int, Mapping[str, str]]], made: Plan, path: Path, columns: Mapping[str, str], audit: Audit
) -> Iterator[Answer]:
    """Read a table of others with a row for each answer, or for times a row for each region."""
    rows = list(rows)
    name = {key: columns.get(key, key) for key in answers.COLUMNS}
    present = set(rows[0][1]) if rows else set()
    needed = ["person", *(["trial"] if name["trial"] in present else ["item", "condition"])]
    needed += ["region", "ms"] if made.design.timed else ["rating" if made.design.answer == "rating" else "choice"]
    if missing := [key for key in needed if name[key] not in present]:
        raise InputError(
            str(path), f"no column {name[missing[0]]!r} (the columns are {', '.join(sorted(present))[:200]})",
            "the columns " + ", ".join(name[key] for key in needed),
            f"If another column is the {missing[0]}, name it: --column {missing[0]}=NAME.",
        )  # fmt: skip
    # Fillers and practice count for rules about people; a critical trial goes before another one of the same names.
    ordered = sorted(made.trials, key=lambda trial: trial.role == "critical")
    by_place = {(trial.suite, trial.item, trial.condition): trial for trial in ordered}
    only = made.suites[0].name if len(made.suites) == 1 else ""
    grouped: dict[tuple[str, str], list[tuple[str, Mapping[str, str]]]] = {}
    for line, row in rows:
        place = f"{path}, line {line}"
        if name["trial"] in present:
            trial = made.by_id.get(row[name["trial"]])
        else:
            trial = by_place.get((row.get(name["suite"], only), row[name["item"]], row[name["condition"]]))
        if trial is None:
            audit.note("answers to unknown trials, left out", place)
            continue
        own = {key: row.get(other, "") for key, other in name.items()}
        own["person"] = _person(own["person"], place, audit)
        if not own["person"]:
            continue
        if not made.design.timed:
            try:
                body = _plain(trial.id, own)
            except InputError as error:
                audit.note("impossible answers, left out", f"{place}{error}")
                continue
            yield from _tried(made, own["person"], own["list"], body, place, audit)
        else:
            grouped.setdefault((own["person"], trial.id), []).append((place, own))
    for (person, trial_name), lines in grouped.items():
        try:
            regions, said = _read_regions(made.by_id[trial_name], lines, audit)
        except InputError as error:
            audit.note("impossible answers, left out", str(error))
            continue
        number = _list(lines[0][1]["list"], made)
        if number is None and lines[0][1]["list"]:
            audit.note(_NO_LIST, lines[0][0])
            continue
        yield Answer(person, number, trial_name, said, regions=regions)


_NUMBERED = re.compile(r"# (\d+)\. (.*?)\.?\s*$")


def _of_pcibex(text: str, made: Plan, path: Path, audit: Audit) -> Iterator[Answer]:
    """Read the results of PCIbex: rows of events, whose columns comments name."""
    # The project that Syntagm writes logs the columns person, list and trial. The choice is the selection of the
    # selector `choice`, the rating that of the scale `rating` (or the final text of the input `rating`), times are
    # those of DashedSentence or of the Maze controller.
    header: dict[int, str] = {}
    events: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for number, line in utf8.lines(text):
        if line.startswith("#"):
            if found := _NUMBERED.match(line):
                header[int(found[1])] = found[2].strip().lower()
            continue
        if not line.strip():
            continue
        [cells] = standard_csv.reader(io.StringIO(line))
        row = {header.get(place, str(place)): unquote(cell) for place, cell in enumerate(cells, 1)}
        row["place"] = f"{path}, line {number}"
        if row.get("trial") and "person" in row:
            # Trials of several people without a name are told apart by when their results came.
            person = name_of(row["person"])
            arrived = "" if person else row.get("results reception time", "")
            events.setdefault((person, arrived, row["trial"]), []).append(row)
    if not events:
        raise InputError(str(path), "no row with person and trial", "the results of a project that Syntagm wrote")
    for (_, _, name), rows in events.items():
        if person := _person(rows[0]["person"], rows[0]["place"], audit):
            yield from _tried(made, person, rows[0].get("list"), _of_events(name, rows), rows[0]["place"], audit)


def _of_events(name: str, rows: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """Return what a page of ours would send, from the events of a trial."""
    body: dict[str, Any] = {"trial": name}
    began, times, wrong = math.nan, dict[int, float](), dict[int, bool]()
    for row in rows:
        kind, element = row.get("pennelementtype", ""), row.get("pennelementname", "")
        parameter, value = row.get("parameter", ""), row.get("value", "")
        try:
            at = float(row.get("eventtime", "nan"))
        except ValueError:
            at = math.nan
        if parameter == "_Trial_" and value == "Start":
            began = at
        elif element in ("choice", "question") and parameter in ("Selection", "Choice"):
            body["choice"] = value
            if element == "choice" and at >= began:
                body["ms"] = at - began
        elif element == "rating" and parameter in ("Choice", "Final"):
            try:
                number = float(value)
            except ValueError:
                continue
            body["rating"] = int(number) if number.is_integer() else number
            if at >= began:
                body.setdefault("ms", at - began)
        elif kind.startswith("Controller") and parameter.isdecimal() and (shown := row.get("reading time")):
            try:
                times[int(parameter)] = float(shown)
            except ValueError:
                continue
        elif kind == "Controller-Maze" and (shown := row.get("reading time to first answer")):
            try:
                place = int(row.get("word number", ""))
                times[place], wrong[place] = float(shown), row.get("correct") == "no"
            except ValueError:
                continue
    if times:
        body["times"] = [times[place] for place in sorted(times)]
    if wrong:
        body["wrong"] = [wrong[place] for place in sorted(wrong)]
    return body


def columns_of(given: Iterable[str]) -> dict[str, str]:
    """Read the options --column OURS=THEIRS."""
    found = {}
    for text in given:
        ours, sign, theirs = text.partition("=")
        if not sign or ours not in _OURS or not theirs:
            raise UsageError("--column", repr(text), "OURS=THEIRS, OURS one of " + ", ".join(answers.COLUMNS))
        found[ours] = theirs
    return found


def plan_of(source: Path, given: Path | None) -> tuple[Plan, Path]:
    folder = given or (source if source.is_dir() else source.parent)
    if not (folder / plan.NAME).exists():
        raise UsageError(
            str(source), f"no {plan.NAME} in {folder}", "the folder of the experiment", "Name it: --plan DIR."
        )
    return plan.read(folder), folder


def simulated(source: Path) -> bool:
    if not begun(source):
        return False
    with contextlib.closing(Study(source, warn=lambda line: None)) as study:
        return study.simulated
