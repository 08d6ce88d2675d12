"""Access, hosts, forms and limits of the application."""

import socket
import threading
from http.client import HTTPConnection
from pathlib import Path
from queue import Queue
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette")

from asking import HOST, ask, opened

from syntagm.core import InputError, RunError, UsageError
from syntagm.report import (
    Asked,
    Gate,
    Missing,
    Password,
    Route,
    build_application,
    download,
    html_page,
    limits,
    read_password,
    run_server,
)
from syntagm.report.serve.gate import SESSION_SECONDS, SESSIONS, TRIES


def said(asked: Asked) -> object:
    return html_page(f"{dict(asked.names)} {list(asked.query)} {asked.body!r}")


def failing(asked: Asked) -> object:
    raise {"missing": Missing, "usage": UsageError, "run": RunError, "other": ValueError}[asked.names["how"]](
        "<place>", "<found>"
    )


ROUTES = [
    Route("/", said),
    Route("/suite/{suite}", said),
    Route("/suite/{suite}.csv", lambda asked: download(asked.names["suite"].encode(), "text/csv", "x.csv")),
    Route("/suite/{suite}/{item}", said),
    Route("/fails/{how}", failing),
    Route("/people/{study}", said, "open"),
    Route("/people/{study}", said, "open", ("POST",)),
    Route("/save", lambda asked: html_page(str(asked.form())), "login", ("POST",)),
]
HERE = {"origin": f"http://{HOST}"}


def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    gate = Gate(frozenset({HOST}))
    application = build_application(ROUTES, gate)
    assert ask(application, "/").status == 403
    assert ask(application, "/?token=wrong").status == 403
    entered = ask(application, f"/suite/a%2Fb?x=1&token={gate.token}&y=%26")
    assert (entered.status, entered.headers["location"]) == (303, "/suite/a%2Fb?x=1&y=%26")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert gate.token not in cookie
    answer = ask(application, "/suite/a%2Fb?x=1", cookie=cookie.partition(";")[0])
    assert answer.text == "{'suite': 'a/b'} [('x', '1')] b''"
    # Two slashes would lead to another server.
    assert ask(application, f"//evil.example/?token={gate.token}").headers["location"] == "/evil.example/"


def test_only_its_own_host_is_answered() -> None:
    application, visitor = opened(ROUTES)
    for host in ("evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", ""):
        assert ask(application, "/", **{**visitor, "host": host}).status == 403
        assert ask(application, "/people/1", host=host).status == 403
    assert ask(application, "/", **visitor).status == 200


def test_open_pages_need_no_token_and_others_do() -> None:
    application, visitor = opened(ROUTES)
    assert ask(application, "/people/1").status == 200
    assert ask(application, "/style.css").headers["content-type"].startswith("text/css")
    for path in ("/", "/suite/a", "/suite/a.csv", "/suite/a/b"):
        assert ask(application, path).status == 403
        assert ask(application, path, **visitor).status == 200
    assert ask(application, "/", cookie="syntagm=guessed").status == 403


def test_names_may_have_every_character_and_the_more_specific_route_counts() -> None:
    application, visitor = opened(ROUTES)
    assert ask(application, "/suite/a.csv", **visitor).text == "a"
    assert ask(application, "/suite/a%2Ecsv", **visitor).text == "{'suite': 'a.csv'} [] b''"
    assert ask(application, "/suite/%2e%2e%2f/%3Cb%3E", **visitor).text == "{'suite': '../', 'item': '<b>'} [] b''"
    assert ask(application, "/suite/%ff", **visitor).status == 404
    for path in ("/suite", "/suite/", "/suite/a/b/c", "//suite/a", "/style.css/", "/suite/../x/y"):
        assert ask(application, path, **visitor).status == 404


def test_a_post_must_come_from_a_page_of_the_server() -> None:
    application, visitor = opened(ROUTES)
    form = {"content_type": "application/x-www-form-urlencoded; charset=utf-8"}

    def sent(**headers: str) -> int:
        return ask(application, "/save", "POST", b"a=1&a=%C3%A9", **{**visitor, **form, **headers}).status

    assert sent() == sent(origin="null") == sent(origin="http://evil.example") == 403
    assert sent(sec_fetch_site="cross-site", **HERE) == sent(sec_fetch_site="same-site") == 403
    assert sent(**HERE) == sent(sec_fetch_site="same-origin") == 200
    assert ask(application, "/people/1", "POST", b"x").status == 403
    assert ask(application, "/people/1", "POST", b"x", **HERE).text == "{'study': '1'} [] b'x'"
    assert ask(application, "/save", "POST", b"{}", **visitor, **HERE, content_type="application/json").status == 400
    assert ask(application, "/save", **visitor).status == 404
    assert ask(application, "/", "DELETE", **visitor).status == 404


def test_bodies_and_queries_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    application, _ = opened(ROUTES)
    most = limits.BODY
    assert ask(application, "/people/1", "POST", b"x" * most, **HERE).status == 200
    assert ask(application, "/people/1", "POST", b"x" * (most + 1), **HERE).status == 413
    assert ask(application, "/people/1", "POST", b"x", announced=most + 1, **HERE).status == 413
    assert ask(application, "/people/1?" + "&".join(["a=1"] * 1001)).status == 400
    assert ask(application, "/people/1?a=%ff").status == 400
    monkeypatch.setattr(limits, "SECONDS", 0.01)
    wait = threading.Event()
    slow, visitor = opened([Route("/slow", lambda asked: wait.wait(5) and html_page(""))])
    monkeypatch.setattr(limits, "SECONDS", 0.01)
    assert ask(slow, "/slow", **visitor).status == 503
    wait.set()


def test_errors_are_pages_and_tell_no_more_than_their_message(capsys: pytest.CaptureFixture[str]) -> None:
    application, visitor = opened(ROUTES)
    found = {how: ask(application, f"/fails/{how}", **visitor) for how in ("missing", "usage", "run", "other")}
    assert [answer.status for answer in found.values()] == [404, 400, 500, 500]
    assert "&lt;place&gt;: &lt;found&gt;" in found["usage"].text
    assert "place" not in found["other"].text
    assert "ValueError" in capsys.readouterr().err
    for answer in found.values():
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert "<script>" not in answer.text


def test_a_route_can_permit_styles_but_no_scripts_in_a_page() -> None:
    policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'"
    application, _ = opened([Route("/x", said, "open", policy=policy)])
    assert ask(application, "/x").headers["content-security-policy"] == policy
    for worse in ("default-src 'none'; script-src 'self' 'unsafe-inline'", "script-src 'self'"):
        with pytest.raises(UsageError, match="inline scripts"):
            Route("/x", said, policy=worse)


@pytest.mark.slow
def test_a_password_lets_in_from_any_host_and_can_not_be_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    gate = Gate(password=Password("a long password"), clock=lambda: now[0])
    application = build_application(ROUTES, gate)
    assert ask(application, "/", host="a.example").headers["location"] == "/login"
    assert ask(application, f"/?token={gate.token}").status == 403
    form = {"host": "a.example", "origin": "https://a.example", "content_type": "application/x-www-form-urlencoded"}

    def log_in(password: str) -> int:
        return ask(application, "/login", "POST", f"password={password}".encode(), **form).status

    entered = ask(application, "/login", "POST", b"password=a+long+password", **form)
    cookie = entered.headers["set-cookie"].partition(";")[0]
    assert ask(application, "/", host="a.example", cookie=cookie).status == 200
    monkeypatch.setattr(gate.password, "fits", lambda text: text == "a long password")
    assert [log_in("wrong") for _ in range(TRIES + 1)] == [403] * TRIES + [429]
    assert log_in("a+long+password") == 429
    now[0] += 61
    assert log_in("a+long+password") == 303
    assert ask(application, "/logout", "POST", **{**form, "cookie": cookie}).status == 303
    assert ask(application, "/", host="a.example", cookie=cookie).status == 303


def test_sessions_end() -> None:
    now = [0.0]
    gate = Gate(clock=lambda: now[0])
    first = gate.begin()
    now[0] += SESSION_SECONDS
    assert gate.knows(first)
    now[0] += SESSION_SECONDS + 1
    assert not gate.knows(first)
    oldest = gate.begin()
    for _ in range(SESSIONS):
        gate.begin()
    assert not gate.knows(oldest)


@pytest.mark.slow
def test_the_file_of_the_password(tmp_path: Path) -> None:
    path = tmp_path / "password"
    for content, fault in (("short", "at least 12"), ("", "0 lines"), ("a long password\nand more", "2 lines")):
        path.write_text(content)
        path.chmod(0o600)
        with pytest.raises(InputError, match=fault):
            read_password(path)
    path.write_text("a long password\n")
    assert read_password(path).fits("a long password")
    path.chmod(0o644)
    with pytest.raises(InputError, match="others on this machine may read"):
        read_password(path)
    path.write_text(Password("another password")._hash)
    assert read_password(path).fits("another password")
    path.write_text("$argon2id$broken")
    with pytest.raises(InputError, match="damaged hash"):
        read_password(path)
    with pytest.raises(InputError, match="No such file"):
        read_password(tmp_path / "none")


@pytest.mark.slow
def test_other_addresses_need_a_password_and_ports_must_be_free() -> None:
    with pytest.raises(UsageError, match="no password"):
        run_server([], host="0.0.0.0")
    with pytest.raises(UsageError, match="an address of this machine"):
        run_server([], host="no such host", password=Password("a long password"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="a free port"):
            run_server([], port=taken.getsockname()[1])


@pytest.mark.slow
def test_visitors_behind_a_named_proxy_are_held_off_one_by_one() -> None:
    for proxy, expected in (("127.0.0.1", 403), ("", 429)):
        addresses: Queue[str] = Queue()
        password = Password("a long password")
        # What is compared takes a while, and is not what is tested.
        password.fits = lambda text: False  # type: ignore[method-assign]
        threading.Thread(
            target=run_server,
            args=[[]],
            kwargs={"password": password, "proxy": proxy, "announce": addresses.put},
            daemon=True,
        ).start()
        port = urlsplit(addresses.get(timeout=20)).port

        def log_in(visitor: str, port: int | None = port) -> int:
            connection = HTTPConnection("127.0.0.1", port or 0, timeout=20)
            headers = {
                "X-Forwarded-For": visitor, "Origin": f"http://127.0.0.1:{port}",
                "Content-Type": "application/x-www-form-urlencoded",
            }  # fmt: skip
            connection.request("POST", "/login", b"password=wrong", headers)
            status = connection.getresponse().status
            connection.close()
            return status

        assert [log_in("192.0.2.1") for _ in range(TRIES + 1)] == [403] * TRIES + [429]
        assert log_in("192.0.2.2") == expected, "another visitor, or the same who made up an address"
        # What a visitor claims stands before what the proxy saw.
        assert log_in("192.0.2.9, 192.0.2.1") == 429
    with pytest.raises(UsageError, match="--proxy"):
        run_server([], proxy="*")
