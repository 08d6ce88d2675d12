"""How a file of a step is kept: without times, versions and places, in lines that can be compared one by one."""

import hashlib
import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

Kept = dict[str, str]
# Not kept: pixels, the state of a training that goes on, locks, answers of the cache, a study's random key and receipts with it.
_LEFT_OUT = re.compile(
    r"(\.(png|pdf|sqlite|sqlite-wal|sqlite-shm|tmp)|(^|/)(lock|key|receipts\.jsonl)|(^|/)state(/.*)?)$"
)
_HASHED = re.compile(
    r"(\.safetensors|\.bin|(^|/)(tokenizer|vocab|special_tokens_map)\.json|vocabulary\.txt|corpora/.*)$"
)
# Told beside numbers, and rewritten more often than they change: their numbers are kept once more by themselves.
_WORDS = re.compile(r"\.(md|tex|txt|said|bib)$")
# Keys of JSON whose values differ from one time to the next, or from one version to the next.
_VOLATILE = {"started", "finished", "versions", "version", "seconds", "date", "time", "seal"}
_NUMBER = re.compile(r"[-−]?(?:\d[\d,.]*\d|\d)(?:e[-+]?\d+)?")
_REPLACED = (
    (re.compile(r'(?i)\b(syntagm"?[ :/@-]+"?)(v?)\d+\.\d+\.\d+\b'), r"\1\2VERSION"),
    (re.compile(r"(?<!\d)20\d\d-\d\d-\d\d[T ]\d\d[:-]\d\d([:-]\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "DATE"),
    # How far it is and how fast it goes: said whenever a while has passed.
    (
        re.compile(
            r"^([\d,]+ of [\d,]+ [a-z]+, .*((a|per) (second|minute)|none yet|left)|.* tokens/s,|Loading weights:).*\n",
            re.M,
        ),
        "",
    ),
)


def normalised(text: str, places: dict[str, str]) -> str:
    """The text without times and versions, and with the folders of this machine called by their roles."""
    for place, role in places.items():
        text = text.replace(place, role)
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    return text


def numbers(text: str) -> str:
    """The numbers of a text, one a line.

    >>> numbers("0.50 [0.25, 0.75] n=1,000, p < 2e-05.")
    '0.50\\n0.25\\n0.75\\n1,000\\n2e-05\\n'
    """
    return "".join(f"{found}\n" for found in _NUMBER.findall(text))


def kept(files: list[Path], root: Path, places: dict[str, str]) -> Kept:
    """What is kept of the files of a step: name below `root` -> content; for `places` see `normalised`."""
    found: Kept = {}
    shards: dict[str, list[Path]] = {}
    for path in sorted(files):
        name = normalised(path.relative_to(root).as_posix(), {})
        if _LEFT_OUT.search(name):
            continue
        if path.parent.name == "shards":
            folder = path.parent.relative_to(root).as_posix()
            shards.setdefault(f"{folder}/{path.name.partition('.')[2]}", []).append(path)
        elif _HASHED.search(name):
            found[f"{name}.sha256"] = hashlib.sha256(path.read_bytes()).hexdigest() + "\n"
        else:
            found |= _as_text(path, name)
    # In the order of their content, so that the names of shards don't matter here; the ledger has these.
    for kind, paths in shards.items():
        tables = [pl.read_parquet(path) for path in paths]
        head, *others = sorted(map(_csv, tables))
        rows = "".join(one.partition("\n")[2] for one in [head, *others])
        found[f"{kind}.csv"] = head.partition("\n")[0] + "\n" + rows
        found[f"{kind}.schema"] = "".join(sorted(set(map(_schema, tables))))
    found = {name: normalised(text, places) for name, text in found.items()}
    for name in [name for name in found if _WORDS.search(name)]:
        found[f"{name}.numbers"] = numbers(found[name])
    return found


def _as_text(path: Path, name: str) -> Kept:
    if name.endswith(".parquet"):
        table = pl.read_parquet(path)
        return {f"{name}.csv": _csv(table), f"{name}.schema": _schema(table)}
    text = path.read_bytes().decode(errors="replace")
    if name.endswith(".html"):
        return _page(text, name)
    if name.endswith("/pages.json"):
        # Its hashes are those of files with times and versions in them, which are kept themselves.
        return {name: "".join(f"{file}\n" for file in json.loads(text)["files"])}
    if name.endswith(".json") and not name.endswith(".vl.json"):
        return {name: "".join(_flat(json.loads(text)))} if text.strip() else {name: text}
    if name.endswith("ledger.jsonl"):
        entries = [json.loads(line) for line in text.splitlines()]
        return {name: "".join(_flat(entries))}
    return {name: text}


def _csv(table: pl.DataFrame) -> str:
    """The values of a table, all digits of floats; lists as JSON."""
    lists = [name for name, kind in table.schema.items() if isinstance(kind, pl.List | pl.Struct)]
    as_json: Callable[[Any], str] = lambda one: json.dumps(list(one), ensure_ascii=False)  # noqa: E731
    return table.with_columns(pl.col(name).map_elements(as_json, pl.String) for name in lists).write_csv()


def _schema(table: pl.DataFrame) -> str:
    """The columns of a table and their types, which CSV doesn't tell."""
    return "".join(f"{name}\t{kind}\n" for name, kind in table.schema.items())


def _flat(value: Any, place: str = "") -> Iterator[str]:
    """A line a value of JSON, behind its place, so that a difference is named by where it is."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not pairs:
        yield f"{place}\t{json.dumps(value, ensure_ascii=False)}\n"
    for key, inner in pairs:
        if key not in _VOLATILE:
            yield from _flat(inner, f"{place}.{key}" if isinstance(value, dict) else f"{place}[{key}]")


def _page(text: str, name: str) -> Kept:
    """The text of a page, and the data in it: its JSON and the CSV of its links."""
    data = []
    for kind, content in re.findall(r'<script type="application/json" id="([^"]*)">(.*?)</script>', text, re.DOTALL):
        data += [f"# {kind}\n", *_flat(json.loads(content))]
    for title, content in re.findall(r'download="([^"]*)" href="data:[^,]*,([^"]*)"', text):
        data += [f"# {html.unescape(title)}\n", unquote(html.unescape(content)).rstrip("\n"), "\n"]
    bare = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    lines = (" ".join(line.split()) for line in html.unescape(re.sub(r"<[^>]*>", "\n", bare)).splitlines())
    return {f"{name}.data": "".join(data), f"{name}.txt": "".join(f"{line}\n" for line in lines if line)}
