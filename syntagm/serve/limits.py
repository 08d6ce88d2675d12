"""Limits of size and time: of a body, of the headers of a request, and of the work on it."""

import asyncio
from asyncio import TimerHandle, Transport
from typing import cast

import h11
from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

# The most bytes of a body, and of a request without its body.
BODY, HEAD = 1_000_000, 16_384
# The most seconds until a request has come in, without and with its body, and until it is answered.
HEAD_SECONDS, BODY_SECONDS, SECONDS = 10.0, 20.0, 60.0
# The most connections at a time, and functions of routes that run at a time.
CONNECTIONS, WORKERS = 200, 4
# The most connections of a server on which people take part in an experiment: a browser keeps some open.
OPEN_CONNECTIONS = 2000


class TooLarge(Exception):
    """A body is larger than `BODY`."""


class TooSlow(Exception):
    """A body takes longer than `BODY_SECONDS`."""


async def body_of(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        TooLarge: it has too many bytes, or says so.
        TooSlow: it takes too long.
    """
    if _announced(request) > BODY:
        raise TooLarge
    content = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                content += part
                if len(content) > BODY:
                    raise TooLarge
    except (TimeoutError, ClientDisconnect) as error:
        raise TooSlow from error
    return bytes(content)


def _announced(request: Request) -> int:
    text = request.headers.get("content-length", "0")
    return int(text) if text.isdecimal() else 0


class PatientProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection whose request does not come in within `HEAD_SECONDS`.

    Uvicorn has such a limit only for connections between two requests.
    """

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
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._waiting.cancel()
            self._waiting = None
