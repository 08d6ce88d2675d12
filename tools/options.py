"""Generator of parts of pages: options and abilities of models, formats and columns of files, views with options, rules of check.

python -m tools.options

The generated parts are those of `tools.blocks`.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path

from syntagm.cli._views import ROOMS
from syntagm.core import Setting, permissions, registry, settings
from syntagm.evaluation import TABLES, schemas
from syntagm.models import Family, Option, families
from syntagm.runs import executors
from syntagm.stats import cluster_intervals, correlation
from syntagm.suites import check
from syntagm.views import by_name
from tools import blocks

DOCS = Path(__file__).resolve().parents[1] / "docs"
_EFFECTS = {
    "scoring": "changes numbers",
    "source": "changes what is read",
    "trees": "changes trees, but no numbers",
    "speed": "changes speed only",
}
# Figures whose columns are declared where their numbers are computed.
_ELSEWHERE: Mapping[str, Iterable[str]] = {
    "correlation": correlation.SCHEMA,
    "surface": cluster_intervals.BINNED_SCHEMA,
}


def model_options(places: Sequence[str]) -> dict[str, str]:
    """Return a part for each list of options: which families have it, the options, and the permissions that they may need.

    Arguments:
        places: the parts of the page. Of families with the same options, the one that has a place there names the part.
    """
    alike: dict[tuple[object, ...], list[Family]] = {}
    for family in map(families.find, families.names()):
        alike.setdefault((*family.options.values(), *family.permissions), []).append(family)
    parts: dict[str, str] = {}
    for group in alike.values():
        names = [f"options of {family.name}" for family in group]
        parts[next((name for name in names if name in places), names[0])] = _model_options(group)
    return parts


def _model_options(group: Sequence[Family]) -> str:
    family = group[0]
    options = [_model_option(option) for option in family.options.values()]
    listed = "".join(map(_item, [*options, *map(_permission, family.permissions)]))
    if len(group) == 1:
        return listed
    return "".join(
        [*_paragraph(f"The families {_names(family.name for family in group)} have these options:"), "\n", listed]
    )


def _permission(name: str) -> str:
    return f"Permission `{permissions.flag(name)}`, in Python `{name}=True`: {permissions.HELP[name]}."


def _model_option(option: Option) -> str:
    default = f"default `{option.default}`" if option.default else f"default: {option.depends}"
    values = ", ".join(option.values.shown())
    return f"`{option.name}`: {values}; {default}; {_EFFECTS[option.effect]}. {_sentence(option.meaning())}"


def run_files() -> str:
    """Return the columns of the tables that a run directory keeps, a list item each."""
    tables = {f"shards/NAME.{ending}": schema for ending, schema in (*TABLES.items(), *schemas((), 1).items())}
    return "".join(_item(f"`{name}`: {_names(schema)}") for name, schema in sorted(tables.items()))


def exports() -> str:
    """Return the columns of each kind of export that has columns, a list item each."""
    kinds = {name: registry.find("export", name).EXPORT for name in registry.names("export")}
    return "".join(_item(f"`--as {name}`: {_names(kind.columns)}") for name, kind in kinds.items() if kind.columns)


def executors_of_commands() -> str:
    """Return each executor with its options, a list item each."""
    items = []
    for kind in executors.kinds().values():
        given = "; ".join(map(_option, kind.options))
        items.append(_item(f"`{kind.form}`: {kind.summary}. " + (f"Options: {given}." if given else "No options.")))
    return "".join(items)


def _option(option: Setting) -> str:
    return f"`{option.name}`: {option.help}" + (f" ({option.default})" if option.default else "")


def views_of(kind: by_name.Kind) -> str:
    """Return a section for each table, or each figure: what it shows, its columns, its options."""
    return "\n".join(_view(kind, name, room) for room in ROOMS for name in by_name.offering(kind, room))


def _view(kind: by_name.Kind, name: str, room: str) -> str:
    lines = [f"### `{kind} {name}`\n", "\n", *_paragraph(_sentence(by_name.summary(name, room))), "\n"]
    columns = by_name.columns(kind, name, room) or tuple(_ELSEWHERE.get(name, ()))
    lines += _paragraph(f"Columns: {_names(columns)}." if columns else "The columns depend on the runs.")
    declared = settings.of_parameters(by_name.find(kind, name, room))
    lines += ["\n"] if declared else []
    for option in declared:
        values = f" ({' or '.join(f'`{value}`' for value in option.values.texts)})" if option.values.texts else ""
        default = f"; default `{option.default}`" if option.default else ""
        lines.append(_item(f"`{option.name}=`: {option.help}{values}{default}"))
    return "".join(lines)


def index(kind: by_name.Kind) -> str:
    """Return each table, or each figure, with the first line of its docstring, a list item each."""
    places = [(name, room) for room in ROOMS for name in by_name.offering(kind, room)]
    return "".join(_item(f"`{name}`: {_first_line(registry.find(room, name).__doc__)}") for name, room in places)


def _first_line(docstring: str | None) -> str:
    """Return the first paragraph of a docstring, without the ends of lines."""
    return " ".join((docstring or "").partition("\n\n")[0].split())


def rules() -> str:
    """Return each rule of `check` for suites, with its message and cure, a list item each."""
    return "".join(_item(f"**{code}** {' '.join((rule.__doc__ or '').split())}") for code, rule in check.RULES.items())


def formats() -> str:
    """Return a table of the formats: the endings of files, what they are, whether they are written, options."""
    lines = ["| format | files | reads | writes | options |\n", "|---|---|---|---|---|\n"]
    for name in registry.names("formats"):
        module = registry.find("formats", name)
        what = _first_line(module.__doc__).replace("|", r"\|")
        given = [
            f"`{option.name}`" + (f" ({option.default})" if option.default else "")
            for option in signature(module.read).parameters.values()
            if option.kind is Parameter.KEYWORD_ONLY and option.name not in permissions.HELP
        ]
        writes = " ".join(getattr(module, "WRITES", ()))
        lines.append(f"| `{name}` | {' '.join(module.ENDINGS)} | {what} | {writes} | {', '.join(given)} |\n")
    return "".join(lines)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _sentence(text: str) -> str:
    """Return a text that begins with a capital, unless with code, and ends with a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _item(text: str) -> str:
    return "\n".join(blocks.wrapped(f"- {text}", "  ")) + "\n"


def _paragraph(text: str) -> Iterator[str]:
    yield from (f"{line}\n" for line in blocks.wrapped(text))


def parts(page: str, places: Sequence[str]) -> dict[str, str]:
    """Return the generated parts of a page, by the names in its comments, which are `places`."""
    if page == "models.md":
        return model_options(places)
    if page == "gaps.md":
        return {"families that fill gaps": "".join(_paragraph(f"{_names(families.able('fill'))}."))}
    if page == "figures.md":
        return {"list of tables": index("table"), "list of figures": index("figure")}
    if page == "formats.md":
        return {"list of formats": formats(), "rules of check": rules()}
    if page == "scale.md":
        return {"executors": executors_of_commands()}
    return {
        "columns of run directories": run_files(),
        "columns of exports": exports(),
        "tables": views_of("table"),
        "figures": views_of("figure"),
    }


PAGES = [
    DOCS / "reference" / "models.md",
    DOCS / "reference" / "columns.md",
    DOCS / "reference" / "figures.md",
    DOCS / "reference" / "formats.md",
    DOCS / "guide" / "gaps.md",
    DOCS / "guide" / "scale.md",
]


def renewed(page: Path, text: str) -> str:
    """Return the text of a page with its generated parts renewed from the declarations.

    Raises:
        ValueError: the page does not have exactly one place for a part.
    """
    places = [block.name for block in blocks.find(text) if block.tool == "options"]
    current = parts(page.name, places)
    if wrong := [name for name in {**current, **dict.fromkeys(places)} if places.count(name) != (name in current)]:
        raise ValueError(
            f"{page.name}: {places.count(wrong[0])} places for {wrong[0]}; expected {int(wrong[0] in current)}"
        )
    return blocks.renewed(text, "options", lambda block: current[block.name])


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    for path in PAGES:
        path.write_text(renewed(path, path.read_text(encoding="utf-8")), encoding="utf-8")
