"""The server: it binds an address, prints the URL, and answers until it is interrupted."""

import contextlib
import ipaddress
import socket
from collections.abc import Callable, Sequence

import uvicorn

from syntagm.core import UsageError
from syntagm.report.serve import incoming, limits
from syntagm.report.serve.application import COOKIE, build
from syntagm.report.serve.gate import Gate, Password, bracketed, hosts_of
from syntagm.report.serve.routes import Route


def serve(
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
            build(routes, gate, f"{COOKIE}_{port}"),
            http=incoming.PatientProtocol,
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
