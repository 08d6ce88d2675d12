"""Panels: small charts, side by side or one below the other, with headings."""

from collections.abc import Sequence

from syntagm.core import shown
from syntagm.views.drawing.chart import Spec
from syntagm.views.drawing.layers import Values


def heading(text: str, subtitle: str | Sequence[str] | None = None, **title: object) -> Spec:
    """Make the title of a panel."""
    spec: Spec = {"text": shown(text)}
    if subtitle is not None:
        spec["subtitle"] = subtitle if isinstance(subtitle, str) else list(subtitle)
    return spec | {"fontSize": 12} | ({} if subtitle is None else {"subtitleFontSize": 11}) | title


def grid(panels: Sequence[Spec], columns: int, spacing: int) -> Spec:
    """Arrange panels in rows of `columns` panels."""
    return {"concat": list(panels), "columns": columns, "spacing": spacing}


def pile(panels: Sequence[Spec], spacing: int, **spec: object) -> Spec:
    """Arrange panels one below the other; `spec` has further properties of the specification."""
    return {"vconcat": list(panels), "spacing": spacing, **spec}


def beside(panels: Sequence[Spec], spacing: int) -> Spec:
    """Arrange panels side by side."""
    return {"hconcat": list(panels), "spacing": spacing}


def by_model(panel: Spec, values: Values, models: int) -> Spec:
    """Arrange a panel for each model, one below the other, in the order of first appearance."""
    # With a single model there is no heading.
    if models < 2:
        return {"data": {"values": list(values)}, **panel}
    ordered = [{**value, "panel": index} for index, value in enumerate(values)]
    # Beside the panel, a long name would reach into the next one.
    header = {"title": None, "labelOrient": "top", "labelAnchor": "start"}
    facet = {"field": "model", "type": "nominal", "sort": {"field": "panel", "op": "min"}, "header": header}
    return {"data": {"values": ordered}, "facet": {"row": facet}, "spec": panel}
