"""Requests to an application of `syntagm.report.serve`, without a server."""

import asyncio
import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from syntagm.report import Application, Gate, Route, build_application

HOST = "127.0.0.1:8000"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


def ask(
    application: Application,
    target: str,
    method: str = "GET",
    body: bytes = b"",
    announced: int | None = None,
    **headers: str,
) -> Answer:
    """Send a request; names of headers have `_` for `-`."""
    path, _, query = target.partition("?")
    sent = {"host": HOST, **{name.replace("_", "-").lower(): value for name, value in headers.items()}}
    if announced is not None:
        sent["content-length"] = str(announced)
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()], "client": ("127.0.0.1", 9),
    }  # fmt: skip
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    asyncio.run(application(scope, receive, send))
    start = messages[0]
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], found, b"".join(message.get("body", b"") for message in messages[1:]))


class Visitor:
    """A browser without a screen, which is let in."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.application, self.header = opened(routes)

    def get(self, target: str) -> Answer:
        return ask(self.application, target, **self.header)

    def rows(self, target: str) -> list[dict[str, str]]:
        """The rows of a table as CSV."""
        answer = self.get(target)
        assert answer.status == 200, answer.text
        return list(csv.DictReader(io.StringIO(answer.text)))


def opened(routes: Sequence[Route]) -> tuple[Application, dict[str, str]]:
    """An application and the header of a visitor who is let in."""
    gate = Gate(frozenset({HOST}))
    return build_application(routes, gate), {"cookie": f"syntagm={gate.begin()}"}
