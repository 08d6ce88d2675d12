"""Series of a chart: what colours and shapes tell apart, and the legend that says which is which."""

from collections.abc import Sequence
from dataclasses import dataclass

from syntagm.drawing.chart import Spec

# Okabe and Ito's colours, which colour-blind readers tell apart, less black and yellow, which a dark or a light page swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#808080")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "stroke")


@dataclass(frozen=True, slots=True)
class Series:
    """The names in a column that a chart tells apart, as channels.

    Arguments:
        field: the column.
        names: in order, as shown.
        width: of the plot in pixels, into which the legend must fit.
        key: is there a legend?
    """

    field: str
    names: Sequence[str]
    width: float = 0.0
    key: bool = False

    @property
    def colour(self) -> Spec:
        """A colour for each name."""
        return self._channel() | {"scale": self._scale(COLOURS), "legend": self._legend}

    @property
    def shape(self) -> Spec:
        """A shape for each name, so that nothing hangs on colour alone."""
        return self._channel() | {"scale": self._scale(SHAPES), "legend": self._legend}

    @property
    def place(self) -> Spec:
        """A place for each name beside the others."""
        return self._channel() | {"scale": {"domain": list(self.names)}}

    def sizes(self, sizes: Sequence[float]) -> Spec:
        """A size for each name, without a legend."""
        return self._channel() | {"scale": {"domain": list(self.names), "range": list(sizes)}, "legend": None}

    def _channel(self) -> Spec:
        return {"field": self.field, "type": "nominal"}

    def _scale(self, kinds: Sequence[str]) -> Spec:
        return {"domain": list(self.names), "range": [kinds[at % len(kinds)] for at in range(len(self.names))]}

    @property
    def _legend(self) -> Spec | None:
        """Above the plot, in as many columns as its width holds."""
        if not self.key:
            return None
        longest = min(max((len(name) for name in self.names), default=1), 60)
        columns = min(max(1, int(self.width // (longest * 6.5 + 30))), len(self.names) or 1)
        return {"orient": "top", "direction": "horizontal", "columns": columns, "title": None}
