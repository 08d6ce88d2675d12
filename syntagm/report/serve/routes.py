"""Routes: what a room adds to the application, and what its functions are given and return."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl, unquote_to_bytes

from starlette.responses import RedirectResponse, Response

from syntagm.core import InputError, UsageError

# Who may ask: those who have the token or the password, or everybody.
Access: TypeAlias = Literal["login", "open"]
Method: TypeAlias = Literal["GET", "POST"]
# The pages load scripts, styles and pictures from this server only, and nothing in a page is run.
POLICY = "; ".join([
    *("default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"),
    *("form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"),
])  # fmt: skip
# The most fields of a query or a form.
FIELDS = 1000
_NAME = re.compile(r"\{(\w+)\}")


class Missing(UsageError):
    """A page that does not exist."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a browser asks of a route."""

    path: str  # the path of the URL, as it was sent
    names: Mapping[str, str]  # the names in the path, decoded
    query: Sequence[tuple[str, str]] = ()  # the fields of the query, in order; a field may occur several times
    body: bytes = b""  # the body of a POST; b"" for a GET
    kind: str = ""  # the media type of the body, without parameters
    session: str = ""  # the random name of the visitor's session; "" without a login
    client: str = ""  # the address of the visitor

    def field(self, name: str, default: str = "") -> str:
        """Return a field of the query; the last one counts, as in most frameworks."""
        return dict(self.query).get(name, default)

    def form(self) -> dict[str, str]:
        if self.kind != "application/x-www-form-urlencoded":
            raise InputError(self.path, f"a body of the type {self.kind or 'unknown'}", "a form")
        return dict(fields(self.body.decode("latin-1"), self.path))


@dataclass(frozen=True, slots=True)
class Route:
    """A page, or another answer, of the application."""

    # The path, with `{name}` in the place of a part that is given to `respond`, such as "/suite/{suite}". A name may
    # contain any character: it is percent-encoded in the URL, `/` as `%2F`.
    path: str
    respond: Callable[[Asked], Response]  # the function that answers. It runs in a thread.
    access: Access = "login"  # who may ask
    methods: tuple[Method, ...] = ("GET",)  # the methods that it answers; GET includes HEAD
    policy: str = POLICY  # the Content-Security-Policy of the answer
    parts: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.path.split("/")[1:]))
        scripts = next((part for part in self.policy.split(";") if part.strip().startswith("script-src")), "")
        if "'unsafe" in scripts or "default-src 'none'" not in self.policy:
            raise UsageError(f"route {self.path}", self.policy, "default-src 'none' and no inline scripts")

    def match(self, parts: Sequence[str]) -> dict[str, str] | None:
        """Return the names in a path; None if the path is not of this route.

        Arguments:
            parts: what stands between the slashes of the path, as it was sent.

        >>> Route("/suite/{suite}.csv", lambda asked: Response()).match(["suite", "a%2Fb.csv"])
        {'suite': 'a/b'}
        """
        if len(parts) != len(self.parts):
            return None
        names = {}
        for own, part in zip(self.parts, parts, strict=True):
            if not (hole := _NAME.search(own)):
                if own != part:
                    return None
                continue
            before, after = own[: hole.start()], own[hole.end() :]
            inside = part[len(before) : len(part) - len(after)]
            if not inside or not (part.startswith(before) and part.endswith(after)):
                return None
            names[hole[1]] = _decoded(inside)
        return names

    @property
    def rank(self) -> tuple[bool, ...]:
        """What sorts routes: of two that match, the one with more fixed text counts."""
        return tuple(bool(_NAME.fullmatch(part)) for part in self.parts)


def fields(text: str, place: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
    except ValueError as error:
        raise InputError(place, str(error), f"at most {FIELDS:,} fields in UTF-8") from error


def html_page(html: str, status: int = 200) -> Response:
    return Response(html, status, media_type="text/html")


def download(content: bytes, kind: str, name: str) -> Response:
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def content(content: bytes, kind: str) -> Response:
    return Response(content, media_type=kind)


def moved(path: str) -> Response:
    return RedirectResponse(path, 303)


def _decoded(part: str) -> str:
    try:
        return unquote_to_bytes(part).decode()
    except UnicodeDecodeError as error:
        raise Missing("the address", f"{part!r}, which is not UTF-8", "a name in UTF-8") from error
