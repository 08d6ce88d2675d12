"""A studio and a browser without a screen."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from asking import HOST, Answer, ask, opened

from syntagm.studio.studio import Studio
from syntagm.suite import Suite

HERE = {"origin": f"http://{HOST}", "content_type": "application/x-www-form-urlencoded"}
TWO_BY_TWO = (
    "item\tss:subject\tss:verb\tsp:subject\tsp:verb\tps:subject\tps:verb\tpp:subject\tpp:verb\n"
    "1\tThe dog\tbarks\tThe dog\tbark\tThe dogs\tbarks\tThe dogs\tbark\n"
    "2\tThe cat\tsleeps\tThe cat\tsleep\tThe cats\tsleeps\tThe cats\tsleep\n"
)


class Visitor:
    """A browser that is let in."""

    def __init__(
        self, folder: Path | None = None, models: Sequence[str] = ("toy",), suites: Sequence[Suite] = ()
    ) -> None:
        self.studio = Studio(models, folder, suites)
        self.application, self.header = opened(self.studio.routes())

    def get(self, target: str, **fields: str) -> Answer:
        return ask(self.application, target + (f"?{urlencode(fields)}" if fields else ""), **self.header)

    def post(self, target: str, **fields: str) -> Answer:
        return ask(self.application, target, "POST", urlencode(fields).encode(), **self.header, **HERE)
