"""The pages about runs, as routes."""

from collections.abc import Iterator, Sequence

from starlette.responses import Response

from syntagm.report import shell
from syntagm.report.page import compose
from syntagm.runs.store import Run
from syntagm.serve.routes import Asked, Route, page


def routes(runs: Sequence[Run]) -> Iterator[Route]:
    """Yield the routes of the pages about runs."""

    def overview(asked: Asked) -> Response:
        return page(compose(runs, shell.LINKED))

    yield Route("/", overview)
