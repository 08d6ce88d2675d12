"""Requests to a server over HTTP: retries, limits of time and size, and a key that is never shown.

The server is not trusted. An answer has a largest size and a latest time, redirects are not followed, and compressed answers
are refused. Proxies are not used.
"""

import contextlib
import email.utils
import http.client
import ipaddress
import json
import random
import re
import selectors
import socket
import ssl
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from syntagm.core import InputError, ModelError, UsageError, json as strict_json

# Bytes of an answer, characters of a message from the server.
MAX_ANSWER, MAX_MESSAGE = 32 * 2**20, 300
# Seconds before the first retry, between retries, and the longest time that a server may ask for.
FIRST_WAIT, LONGEST_WAIT, LONGEST_ASKED = 0.5, 30.0, 600.0
_CHUNK = 1 << 16
_TOO_MANY, _OK = 429, 200
_CONNECTING = 10.0
_KEY = re.compile(r"[\w.~+/=:@-]+", re.ASCII)


@dataclass
class Spent:
    """What was asked of a server."""

    requests: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    generated_tokens: int = 0

    def __str__(self) -> str:
        return (
            f"{self.requests:,} requests, {self.retries:,} of them retries; {self.prompt_tokens:,} tokens read, "
            f"{self.generated_tokens:,} generated"
        )


class _Again(Exception):
    """A failure after which the same request may succeed."""

    def __init__(self, reason: str, wait: float | None = None, answered: bool = True) -> None:
        super().__init__(reason)
        self.wait, self.answered = wait, answered


class Client:
    def __init__(self, address: str, place: str, key: str, seconds: float, tries: int) -> None:
        self._scheme, self._host, self._port, self.base = _split(address)
        if key and self._scheme == "http" and not _is_local(self._host):
            raise UsageError(
                place, f"a key for {self._host} over http, which anyone on the way can read", "an address with https",
                "Use https, or reach the server through a tunnel (ssh -L) as http://localhost.",
            )  # fmt: skip
        if key and not _KEY.fullmatch(key):
            raise UsageError(place, "a key with blanks or other characters that no key has", "the key alone")
        self._place, self._key, self._seconds, self._tries = place, key, seconds, tries
        self._reached, self.spent = False, Spent()
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._live: dict[socket.socket, threading.Event] = {}
        weakref.finalize(self, _close, self._idle)

    def get(self, path: str) -> dict[str, Any]:
        """Return the answer to a GET request; for errors, see `post`."""
        return self._asked("GET", path, None, f"an answer to GET {path}", threading.Event())

    def post(self, path: str, body: Mapping[str, Any], subject: str, stop: threading.Event) -> dict[str, Any]:
        """Return the answer to a POST request."""
        return self._asked("POST", path, json.dumps(body).encode("ascii"), subject, stop)

    def used(self, prompt_tokens: int, generated_tokens: int) -> None:
        with self._lock:
            self.spent.prompt_tokens += prompt_tokens
            self.spent.generated_tokens += generated_tokens

    def stopped(self, stop: threading.Event) -> None:
        """Break off the requests that were made with an event."""
        with self._lock:
            stop.set()
            sockets = [sock for sock, event in self._live.items() if event is stop]
        for sock in sockets:
            _shut(sock)

    def refused(self, found: str, expected: str, cure: str = "") -> ModelError:
        """Return the error for an answer that is refused, without the key."""
        return ModelError(self._place, self._shown(found), expected, cure)

    def _asked(self, method: str, path: str, body: bytes | None, subject: str, stop: threading.Event) -> dict[str, Any]:
        for attempt in range(1, self._tries + 1):
            try:
                answer = self._tried(method, path, body, stop)
                self._reached = True
                return answer
            except _Again as failure:
                reason, wait = str(failure), failure.wait
                # A server that was never reached is probably not there.
                unreachable = not (self._reached or failure.answered)
            if stop.is_set():
                break
            if unreachable or attempt == self._tries:
                times = f", {attempt} times" if attempt > 1 else ""
                cure = "See that the server runs at this address; the same command continues where this one stopped."
                raise self.refused(f"{reason}{times}", subject, cure)
            if wait is not None and wait > LONGEST_ASKED:
                found = f"{reason}; the server asks to wait {wait:,.0f} seconds"
                raise self.refused(found, f"at most {LONGEST_ASKED:,.0f}", "Run the same command again later.")
            if wait is None:
                # Random, so that requests that failed together don't come back together.
                wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)
            if wait >= 1:
                print(self._shown(f"{self._place}: {reason}; trying again in {wait:.0f} s"), file=sys.stderr)
            with self._lock:
                self.spent.retries += 1
            stop.wait(wait)
        raise self.refused("the request was stopped", subject)

    def _tried(self, method: str, path: str, body: bytes | None, stop: threading.Event) -> dict[str, Any]:
        with self._lock:
            self.spent.requests += 1
        try:
            status, headers, content = self._exchanged(method, path, body, stop)
        except TimeoutError:
            raise _Again(f"no complete answer within {self._seconds:g} seconds", answered=False) from None
        except ssl.SSLCertVerificationError as error:
            raise self.refused(f"its certificate is not valid ({error.verify_message})", "a valid one") from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise _Again(f"no connection, or a broken one ({reason})", answered=False) from None
        if 300 <= status < 400:
            found = f"a redirect to {headers.get('Location', 'nowhere')!r:.200}"
            raise self.refused(
                found, "an answer", "Redirects are not followed; if you trust that address, give it instead."
            )
        if status == _TOO_MANY or status >= 500:
            raise _Again(f"HTTP {status}: {_message(content)}", _retry_after(headers.get("Retry-After")))
        if status != _OK:
            raise self.refused(f"HTTP {status}: {_message(content)}", "an answer", _CURES.get(status, ""))
        return self._parsed(content)

    def _parsed(self, content: bytes) -> dict[str, Any]:
        shown = repr(content[:60].decode("utf-8", "replace"))
        cure = "See that the address is that of the interface of models; most end in /v1."
        # Vocabularies have a token for the character NUL, which the reader of JSON refuses. No text contains it.
        content = content.replace(rb"\u0000", rb"\ufffd")
        try:
            answer = strict_json.parsed(content.decode("utf-8"), Path("answer"))
        except UnicodeDecodeError:
            raise self.refused(f"an answer that is not UTF-8: {shown}", "a JSON object", cure) from None
        except InputError as error:
            raise self.refused(f"{error.place}, {shown}: {error.found}", error.expected, cure) from None
        if not isinstance(answer, dict):
            raise self.refused(f"the answer {shown}", "a JSON object", cure)
        return answer

    def _exchanged(
        self, method: str, path: str, body: bytes | None, stop: threading.Event
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Send a request and read the whole answer within the time limit."""
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "syntagm"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        deadline = time.monotonic() + self._seconds
        with self._connection(stop) as (connection, sock):
            # A server that sends a byte now and then would never run into a limit of the time without any.
            timer = threading.Timer(self._seconds, _shut, [sock])
            timer.daemon = True
            timer.start()
            try:
                connection.request(method, path, body, headers)
                response = connection.getresponse()
                content = self._read(response)
            except (OSError, http.client.HTTPException, ValueError) as error:
                if time.monotonic() >= deadline:
                    raise TimeoutError from None
                if isinstance(error, ValueError):  # such as a length that is not a number
                    raise http.client.HTTPException(str(error)) from None
                raise
            finally:
                timer.cancel()
            if time.monotonic() >= deadline:
                raise TimeoutError
            # Before anything is cut from it, so that no part of the key remains.
            content = content.replace(self._key.encode(), b"(the key)") if self._key else content
            return response.status, response.headers, content

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        if (encoding := response.headers.get("Content-Encoding", "identity")) != "identity":
            raise self.refused(f"an answer with the encoding {encoding!r:.40}", "one without")
        content = bytearray()
        while chunk := response.read(_CHUNK):
            content += chunk
            if len(content) > MAX_ANSWER:
                raise self.refused(f"an answer of more than {MAX_ANSWER:,} bytes", "a shorter one")
        if response.length:  # http.client does not complain if an answer is read in parts
            raise http.client.IncompleteRead(bytes(content), response.length)
        return bytes(content)

    @contextlib.contextmanager
    def _connection(self, stop: threading.Event) -> Iterator[tuple[http.client.HTTPConnection, socket.socket]]:
        """Lend a connection and its socket, and keep them open unless an exception is raised."""
        connection = self._reused() or self._opened()
        if connection.sock is None:
            connection.connect()
        sock: socket.socket = connection.sock
        sock.settimeout(self._seconds)
        with self._lock:
            self._live[sock] = stop
        try:
            if stop.is_set():
                raise OSError("the request was stopped")
            yield connection, sock
        except BaseException:
            connection.close()
            raise
        else:
            with self._lock:
                self._idle.append(connection)
        finally:
            with self._lock:
                del self._live[sock]

    def _reused(self) -> http.client.HTTPConnection | None:
        """Return an idle connection that the server has not closed, as many servers do after some seconds."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            # Nothing was asked on it, so what can be read is its end.
            if connection.sock is not None and not _readable(connection.sock):
                return connection
            connection.close()

    def _opened(self) -> http.client.HTTPConnection:
        if self._scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(self._host, self._port, timeout=_CONNECTING, context=context)
        return http.client.HTTPConnection(self._host, self._port, timeout=_CONNECTING)

    def _shown(self, text: str) -> str:
        return text.replace(self._key, "(the key)") if self._key else text


_CURES = {
    401: "Name the environment variable that contains the key: ?key=VARIABLE.",
    403: "Name the environment variable that contains the key: ?key=VARIABLE.",
    404: "See that the address is that of the interface of models; most end in /v1.",
}


def _split(address: str) -> tuple[str, str, int | None, str]:
    """Split a URL into scheme, host, port and path."""
    place, expected = "model openai", "openai:http://HOST:PORT/v1 or openai:https://HOST/v1"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(place, f"no URL ({error})", expected) from None
    if parts.username is not None or parts.password is not None:
        raise UsageError(place, "a name or password in the URL", expected, "Give a key by ?key=VARIABLE.")
    if parts.scheme not in ("http", "https") or not host or not address.isascii() or not address.isprintable():
        raise UsageError(place, f"{address!r:.100}", expected)
    if parts.query or parts.fragment or " " in address:
        raise UsageError(place, f"{address!r:.100}", expected)
    return parts.scheme, host, port, parts.path.rstrip("/")


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _message(content: bytes) -> str:
    """Return what the server says of an error: the message in its JSON object, or the beginning of the text."""
    text = content[:10_000].decode("utf-8", "replace")
    with contextlib.suppress(ValueError, RecursionError):
        answer = json.loads(text)
        inner = answer.get("error", answer) if isinstance(answer, dict) else answer
        if isinstance(inner, dict):
            inner = inner.get("message", inner.get("detail", inner))
        text = str(inner)
    line = " ".join(text.split())
    return "".join(character if character.isprintable() else "\ufffd" for character in line)[:MAX_MESSAGE]


def _retry_after(value: str | None) -> float | None:
    """Return the seconds of a Retry-After header, which is a number or a date; None for anything else.

    >>> _retry_after("2"), _retry_after("soon")
    (2.0, None)
    """
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _readable(sock: socket.socket) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _shut(sock: socket.socket) -> None:
    """End a connection that another thread may be reading from."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _close(connections: list[http.client.HTTPConnection]) -> None:
    for connection in connections:
        connection.close()
