"""The ASGI application: it finds the route of a request, asks the gate, and runs the function of the route in a thread."""

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from urllib.parse import quote

import anyio
from anyio import CapacityLimiter
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from syntagm.core import InputError, SyntagmError, UsageError
from syntagm.report import shell
from syntagm.report.serve import incoming, limits
from syntagm.report.serve.gate import Gate
from syntagm.report.serve.routes import POLICY, Asked, Missing, Route, content, fields, moved, page

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
    """The application; `build` makes it."""

    routes: Sequence[Route]  # the routes, of which the more specific ones come first
    gate: Gate  # who is let in
    cookie: str = COOKIE  # the name of the cookie. Cookies don't know ports: two servers on a machine need two names.
    _workers: CapacityLimiter | None = field(default=None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
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
        except incoming.TooLarge:
            return message(413, "Too much", f"A request may have at most {limits.BODY:,} bytes.", close=True)
        except incoming.TooSlow:
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
        body = await incoming.body_of(request) if method == "POST" else b""
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
        """Give a session to a browser."""
        response.set_cookie(self.cookie, session, httponly=True, samesite="strict", path="/")


_NOT_OPEN = "Open the address that `syntagm serve` printed when it started: it has the token that this page needs."


def build(routes: Sequence[Route], gate: Gate, cookie: str = COOKIE) -> Application:
    """Make the application of all routes, with those for logging in, the style sheet and the script."""
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
        return page(shell.render("login.html", {"wrong": ""}, shell.LINKED))

    def enter(asked: Asked) -> Response:
        session = gate.log_in(asked.form().get("password", ""), asked.client)
        if session:
            response = moved("/")
            application.set_cookie(response, session)
            return response
        wrong = "The password is not right." if session == "" else "Too many tries. Wait a minute."
        return page(shell.render("login.html", {"wrong": wrong}, shell.LINKED), 429 if session is None else 403)

    def leave(asked: Asked) -> Response:
        gate.end(asked.session)
        return moved("/login")

    return [
        Route("/login", show, "open"),
        Route("/login", enter, "open", ("POST",)),
        Route("/logout", leave, "login", ("POST",)),
    ]


def message(status: int, title: str, text: str, close: bool = False) -> Response:
    """Return a page that says why there is nothing else."""
    # close: whether the connection ends, because the rest of the request is not read.
    # Whoever comes to a page that does not exist, or asks what can't be, goes on from the first page.
    variables = {"heading": title, "text": text, "home": status in (400, 404)}
    response = page(shell.render("message.html", variables, shell.LINKED), status)
    if close:
        response.headers["Connection"] = "close"
    return response


def _status(error: SyntagmError) -> int:
    if isinstance(error, Missing):
        return 404
    return 400 if isinstance(error, UsageError | InputError) else 500
