"""How a request comes in, within the limits of size and time."""

import asyncio
from asyncio import TimerHandle, Transport
from typing import cast

import h11
from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from syntagm.report.serve import limits


class TooLarge(Exception):
    """A body is larger than `limits.BODY`."""


class TooSlow(Exception):
    """A body takes longer than `limits.BODY_SECONDS`."""


async def body_of(request: Request) -> bytes:
    if _announced(request) > limits.BODY:
        raise TooLarge
    content = bytearray()
    try:
        async with asyncio.timeout(limits.BODY_SECONDS):
            async for part in request.stream():
                content += part
                if len(content) > limits.BODY:
                    raise TooLarge
    except (TimeoutError, ClientDisconnect) as error:
        raise TooSlow from error
    return bytes(content)


def _announced(request: Request) -> int:
    text = request.headers.get("content-length", "0")
    return int(text) if text.isdecimal() else 0


class PatientProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection whose request does not come in within `limits.HEAD_SECONDS`."""

    # Uvicorn has such a limit only for connections between two requests.

    _waiting: TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(cast(Transport, transport))
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take in data; wait on while the request is not complete."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(limits.HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._waiting.cancel()
            self._waiting = None
