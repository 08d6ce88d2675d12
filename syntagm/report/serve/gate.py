"""Who is let in: by the token in the start-up URL, or by a password; and from which hosts and pages.

On a loopback address, the URL that is printed has a random token. Whoever opens it gets a session, whose random name is a
cookie, and the token leaves the URL. Requests must name the loopback address as their host: a page of another site whose
name was made to point to this machine (DNS rebinding) is refused. With a password, there is no token, and any host may be
named: a session belongs to the name under which its visitor logged in.

A POST must come from a page of this server: browsers say which site a request comes from (`Sec-Fetch-Site`, `Origin`), and
send the cookie only with requests of the same site (`SameSite=Strict`).
"""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from syntagm.core import InputError, regular

# The most sessions at a time, and the seconds after which one ends that is not used.
SESSIONS, SESSION_SECONDS = 1000, 12 * 3600.0
# The most wrong passwords within a minute from an address, and from all.
TRIES, TRIES_OF_ALL, MINUTE = 5, 30, 60.0
# The least number of characters of a password.
SHORTEST = 12
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_CURE = "Put one line into the file, and let only yourself read it: chmod 600 FILE."


class Password:
    """The password of a server, of which only the hash is held."""

    def __init__(self, text: str, place: str = "the password") -> None:
        from argon2 import PasswordHasher, extract_parameters
        from argon2.exceptions import InvalidHashError

        self._hasher, self._lock = PasswordHasher(), threading.Lock()
        if text.startswith("$argon2"):
            try:
                extract_parameters(text)
            except InvalidHashError as error:
                raise InputError(place, "a damaged hash", "a hash that argon2 wrote", _CURE) from error
            self._hash = text
        elif len(text) < SHORTEST:
            raise InputError(place, f"a password of {len(text)} characters", f"at least {SHORTEST}", _CURE)
        else:
            self._hash = self._hasher.hash(text)

    def fits(self, text: str) -> bool:
        """Return whether a password is the right one. It takes a while, and is done one at a time."""
        from argon2.exceptions import VerificationError

        with self._lock:
            try:
                return self._hasher.verify(self._hash, text)
            except VerificationError:
                return False


def read_password(path: Path) -> Password:
    """Read the password, or its hash, from the first line of a file."""
    try:
        text = regular.content(path, 10_000).decode()
    except (OSError, UnicodeDecodeError) as error:
        found = getattr(error, "strerror", None) or "text that is not UTF-8"
        raise InputError(str(path), found, "a file with a password", _CURE) from error
    lines = text.splitlines()
    if len(lines) != 1 or not lines[0].strip():
        raise InputError(str(path), f"{len(lines)} lines", "one line", _CURE)
    if not lines[0].startswith("$argon2") and path.stat().st_mode & 0o077:
        raise InputError(str(path), "a password that others on this machine may read", "a file of your own", _CURE)
    return Password(lines[0], str(path))


@dataclass(slots=True)
class Gate:
    """Sessions, the token or the password that begins one, and the hosts that may be named."""

    hosts: frozenset[str] = frozenset()  # the values of the header `Host` that are accepted; empty for all
    password: Password | None = None  # the password; None if the token lets in
    clock: Callable[[], float] = time.monotonic  # a clock in seconds, which tests replace
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _sessions: "OrderedDict[str, float]" = field(default_factory=OrderedDict)
    _failures: "dict[str, list[float]]" = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def refusal(self, method: str, headers: Mapping[str, str]) -> str:
        """Return why a request is refused, whoever sends it; "" if it is not."""
        host = headers.get("host", "")
        if self.hosts and host not in self.hosts:
            return "This server answers only under the address that it printed when it started."
        if method == "POST" and not _from_here(host, headers):
            return "A form can only be sent from a page of this server."
        return ""

    def opens(self, token: str) -> bool:
        """Return whether a token is the one of the start-up URL. With a password there is none."""
        return not self.password and secrets.compare_digest(token.encode(), self.token.encode())

    def begin(self) -> str:
        """Begin a session, and return its random name."""
        name = secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[name] = self.clock()
            while len(self._sessions) > SESSIONS:
                self._sessions.popitem(last=False)
        return name

    def knows(self, session: str) -> bool:
        """Return whether there is a session, and note that it was used."""
        now = self.clock()
        with self._lock:
            used = self._sessions.get(session)
            if used is None:
                return False
            if now - used > SESSION_SECONDS:
                del self._sessions[session]
                return False
            self._sessions[session] = now
            self._sessions.move_to_end(session)
            return True

    def end(self, session: str) -> None:
        with self._lock:
            self._sessions.pop(session, None)

    def log_in(self, password: str, client: str) -> str | None:
        """Begin a session for a password; return its name, "" if the password is wrong, None after too many tries."""
        now = self.clock()
        with self._lock:
            recent = {key: [then for then in times if now - then <= MINUTE] for key, times in self._failures.items()}
            self._failures = {key: times for key, times in recent.items() if times}
            if len(self._failures.get(client, ())) >= TRIES or sum(map(len, self._failures.values())) >= TRIES_OF_ALL:
                return None
            # It counts before it is compared, so that many at once are not compared.
            self._failures.setdefault(client, []).append(now)
        if not self.password or not self.password.fits(password[:1000]):
            return ""
        with self._lock:
            self._failures.get(client, [now]).remove(now)
        return self.begin()


def hosts_of(host: str, port: int) -> frozenset[str]:
    """Return the values of `Host` that name a loopback address and a port.

    >>> sorted(hosts_of("127.0.0.1", 8000))
    ['127.0.0.1:8000', '[::1]:8000', 'localhost:8000']
    """
    return frozenset(f"{bracketed(name)}:{port}" for name in (*LOOPBACK, host))


def bracketed(host: str) -> str:
    """Return a host as URLs write it.

    >>> bracketed("::1"), bracketed("localhost")
    ('[::1]', 'localhost')
    """
    return f"[{host}]" if ":" in host else host


def _from_here(host: str, headers: Mapping[str, str]) -> bool:
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return site == "same-origin"
    # Only the host is compared: a proxy in front may speak HTTPS.
    return origin is not None and origin.partition("://")[2] == host
