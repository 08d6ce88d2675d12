"""Panels: small charts beside or under each other, with their headings."""

from collections.abc import Sequence

from syntagm.drawing.chart import Spec
from syntagm.drawing.layers import Values
from syntagm.drawing.text import shown


def heading(text: str, subtitle: str | Sequence[str] | None = None, **title: object) -> Spec:
    """What stands over a panel."""
    made: Spec = {"text": shown(text)}
    if subtitle is not None:
        made["subtitle"] = subtitle if isinstance(subtitle, str) else list(subtitle)
    return made | {"fontSize": 12} | ({} if subtitle is None else {"subtitleFontSize": 11}) | title


def grid(panels: Sequence[Spec], columns: int, spacing: int) -> Spec:
    """Panels in lines of so many."""
    return {"concat": list(panels), "columns": columns, "spacing": spacing}


def pile(panels: Sequence[Spec], spacing: int, **spec: object) -> Spec:
    """Panels under each other."""
    return {"vconcat": list(panels), "spacing": spacing, **spec}


def by_model(panel: Spec, values: Values, models: int) -> Spec:
    """A panel for each model under each other, in the order of first appearance; a single one has no heading."""
    if models < 2:
        return {"data": {"values": list(values)}, **panel}
    placed = [{**value, "panel": index} for index, value in enumerate(values)]
    facet = {"field": "model", "type": "nominal", "sort": {"field": "panel", "op": "min"}, "header": {"title": None}}
    return {"data": {"values": placed}, "facet": {"row": facet}, "spec": panel}
