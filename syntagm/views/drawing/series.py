"""Series of a chart: their colours, shapes and legend."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from syntagm.views.drawing.chart import Spec
from syntagm.views.drawing.text import short_names

# The palette of Okabe and Ito, which colour-blind readers can tell apart, without black and yellow, which can't be seen
# on a dark or a light page; wine of Paul Tol's palette and grey are added.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#808080")
# One fewer than the colours, so that 56 series differ in colour or shape.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")


@dataclass(frozen=True, slots=True)
class Series:
    """The series of a chart, with their channels."""

    field: str  # the column with the names of the series
    names: Sequence[str]  # the displayed names, in order
    width: float = 0.0  # the width of the plot in pixels; the legend must fit into it
    key: bool = False  # whether there is a legend
    colours: Sequence[str] = COLOURS  # the colours, in the order of the names

    @property
    def colour(self) -> Spec:
        """The channel with a colour for each name."""
        return self._channel() | {"scale": self._scale(self.colours), "legend": self._legend}

    @property
    def shape(self) -> Spec:
        """The channel with a shape for each name, so that series can be told apart without colour."""
        return self._channel() | {"scale": self._scale(SHAPES), "legend": self._legend}

    @property
    def place(self) -> Spec:
        """The channel with an offset for each name, which places marks of several series side by side."""
        return self._channel() | {"scale": {"domain": list(self.names)}}

    def sizes(self, sizes: Sequence[float]) -> Spec:
        """Make a channel with a size for each name, without a legend."""
        return self._channel() | {"scale": {"domain": list(self.names), "range": list(sizes)}, "legend": None}

    def _channel(self) -> Spec:
        return {"field": self.field, "type": "nominal"}

    def _scale(self, kinds: Sequence[str]) -> Spec:
        return {"domain": list(self.names), "range": [kinds[at % len(kinds)] for at in range(len(self.names))]}

    @property
    def _legend(self) -> Spec | None:
        """The legend above the plot, with short names of models, in as many columns as fit its width."""
        if not self.key:
            return None
        short = short_names(self.names)
        longest = min(max((len(name) for name in short.values()), default=1), 60)
        columns = min(max(1, int(self.width // (longest * 7.5 + 40))), len(self.names) or 1)
        legend: Spec = {"orient": "top", "direction": "horizontal", "columns": columns, "title": None}
        labels = {name: text for name, text in short.items() if text != name}
        return legend | ({"labelExpr": f"{json.dumps(labels)}[datum.label] || datum.label"} if labels else {})
