"""The server: the ASGI application, how requests come in, and the address at which it answers."""

import asyncio
import contextlib
import ipaddress
import socket
import sys
import traceback
from asyncio import TimerHandle, Transport
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, cast
from urllib.parse import quote

import anyio
import h11
import uvicorn
from anyio import CapacityLimiter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from syntagm.core import InputError, SyntagmError, UsageError
from syntagm.report import shell
from syntagm.report.serve import limits
from syntagm.report.serve.gate import Gate, Password, bracketed, hosts_of
from syntagm.report.serve.routes import POLICY, Asked, Missing, Route, content, fields, html_page, moved


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


_HEADERS: Final[Mapping[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: forms would then be sent without their origin, by which the gate knows them.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
COOKIE = "syntagm"


@dataclass(slots=True)
class Application:
    """The application; `build_application` makes it."""

    routes: Sequence[Route]  # the routes, of which the more specific ones come first
    gate: Gate  # who is let in
    cookie: str = COOKIE  # the name of the cookie. Cookies don't know ports: two servers on a machine need two names.
    _workers: CapacityLimiter | None = field(default=None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        response = await self._answer(request)
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            return await self._respond(request)
        except TooLarge:
            return message(413, "Too much", f"A request may have at most {limits.BODY:,} bytes.", close=True)
        except TooSlow:
            return message(408, "Too slow", "The request did not come in completely.", close=True)
        except TimeoutError:
            return message(
                503, "Too slow", f"This page takes more than {limits.SECONDS:g} seconds. Try it again later."
            )
        except SyntagmError as error:
            return message(_status(error), "Not found" if isinstance(error, Missing) else "Not possible", str(error))
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return message(500, "An error", "The server has printed what happened.")

    async def _respond(self, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        if reason := self.gate.refusal(method, request.headers):
            return message(403, "Refused", reason)
        path = request.scope["raw_path"].decode("ascii", "replace")
        query = fields(request.scope["query_string"].decode("ascii", "replace"), "the address")
        session = request.cookies.get(self.cookie, "")
        known = bool(session) and self.gate.knows(session)
        if method == "GET" and (token := dict(query).get("token")) is not None:
            return self._enter(path, query, token, known)
        route, names = self._find(method, path)
        if route.access != "open" and not known:
            return moved("/login") if self.gate.password else message(403, "Not open", _NOT_OPEN)
        body = await body_of(request) if method == "POST" else b""
        asked = Asked(
            *(path, names, query, body),
            kind=request.headers.get("content-type", "").partition(";")[0].strip().lower(),
            session=session if known else "",
            client=request.client.host if request.client else "",
        )
        response = await self._run(partial(route.respond, asked))
        response.headers.setdefault("Content-Security-Policy", route.policy)
        return response

    async def _run(self, respond: Callable[[], Response]) -> Response:
        if self._workers is None:
            self._workers = CapacityLimiter(limits.WORKERS)
        with anyio.fail_after(limits.SECONDS):
            return await anyio.to_thread.run_sync(respond, limiter=self._workers, abandon_on_cancel=True)

    def _find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        parts = path.split("/")[1:]
        for route in self.routes:
            if method in route.methods and (names := route.match(parts)) is not None:
                return route, names
        raise Missing(path[:200], "no such page", "an address that a page of this server leads to", "Begin at /.")

    def _enter(self, path: str, query: Sequence[tuple[str, str]], token: str, known: bool) -> Response:
        """Make a token a cookie, and lead to the same page without it."""
        opens = self.gate.opens(token)
        if not opens and not known:
            return message(403, "Not open", _NOT_OPEN)
        rest = "&".join(f"{quote(name)}={quote(value)}" for name, value in query if name != "token")
        # One slash: a path with two would be the address of another server.
        response = moved("/" + path.lstrip("/") + (f"?{rest}" if rest else ""))
        if opens:
            self.set_cookie(response, self.gate.begin())
        return response

    def set_cookie(self, response: Response, session: str) -> None:
        response.set_cookie(self.cookie, session, httponly=True, samesite="strict", path="/")


_NOT_OPEN = "Open the address that `syntagm serve` printed when it started: it has the token that this page needs."


def build_application(routes: Sequence[Route], gate: Gate, cookie: str = COOKIE) -> Application:
    application = Application((), gate, cookie)
    own = [
        Route("/style.css", lambda asked: content(shell.STYLE.encode(), "text/css"), "open"),
        Route("/script.js", lambda asked: content(shell.SCRIPT.encode(), "text/javascript"), "open"),
        # Browsers ask for it by themselves.
        Route("/favicon.ico", lambda asked: Response(status_code=204), "open"),
        *(_login(application) if gate.password else ()),
    ]
    application.routes = sorted([*own, *routes], key=lambda route: route.rank)
    return application


def _login(application: Application) -> list[Route]:
    gate = application.gate

    def show(asked: Asked) -> Response:
        return html_page(shell.render("login.html", {"wrong": ""}, shell.LINKED))

    def enter(asked: Asked) -> Response:
        session = gate.log_in(asked.form().get("password", ""), asked.client)
        if session:
            response = moved("/")
            application.set_cookie(response, session)
            return response
        wrong = "The password is not right." if session == "" else "Too many tries. Wait a minute."
        return html_page(shell.render("login.html", {"wrong": wrong}, shell.LINKED), 429 if session is None else 403)

    def leave(asked: Asked) -> Response:
        gate.end(asked.session)
        return moved("/login")

    return [
        Route("/login", show, "open"),
        Route("/login", enter, "open", ("POST",)),
        Route("/logout", leave, "login", ("POST",)),
    ]


def message(status: int, title: str, text: str, close: bool = False) -> Response:
    # With `close`, the connection ends, because the rest of the request is not read.
    #
    # Whoever comes to a page that does not exist, or asks what can't be, goes on from the first page.
    variables = {"heading": title, "text": text, "home": status in (400, 404)}
    response = html_page(shell.render("message.html", variables, shell.LINKED), status)
    if close:
        response.headers["Connection"] = "close"
    return response


def _status(error: SyntagmError) -> int:
    if isinstance(error, Missing):
        return 404
    return 400 if isinstance(error, UsageError | InputError) else 500


def run_server(
    routes: Sequence[Route],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    password: Password | None = None,
    proxy: str = "",
    connections: int = limits.CONNECTIONS,
    announce: Callable[[str], None] = print,
) -> None:
    """Answer requests until the process gets SIGINT or SIGTERM."""
    if proxy and not is_address(proxy):
        raise UsageError("--proxy", repr(proxy), "the address of the server in front, such as 127.0.0.1")
    if not password and not is_loopback(host):
        cure = "Give --password-file FILE, or leave --host out to serve this machine only."
        raise UsageError(f"--host {host}", "no password", "--password-file for an address that others can reach", cure)
    with contextlib.closing(_bind(host, port)) as bound:
        port = bound.getsockname()[1]
        gate = Gate(frozenset() if password else hosts_of(host, port), password)
        config = uvicorn.Config(
            build_application(routes, gate, f"{COOKIE}_{port}"),
            http=PatientProtocol,
            ws="none",
            lifespan="off",
            log_level="critical",
            access_log=False,
            proxy_headers=bool(proxy),
            forwarded_allow_ips=proxy,
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=2,
            limit_concurrency=connections,
            h11_max_incomplete_event_size=limits.HEAD,
        )
        address = f"http://{bracketed(host)}:{port}/"
        announce(address if password else f"{address}?token={gate.token}")
        uvicorn.Server(config).run(sockets=[bound])


def is_address(text: str) -> bool:
    """Return whether a text is an IP address.

    >>> is_address("127.0.0.1"), is_address("::1"), is_address("*"), is_address("example.org")
    (True, True, False, False)
    """
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--host {host}", str(error), "an address of this machine") from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(128)
    except OSError as error:
        bound.close()
        cure = "Leave --port out for a free one."
        raise UsageError(
            f"--host {host} --port {port}", error.strerror or "", "a free port of this machine", cure
        ) from error
    return bound
