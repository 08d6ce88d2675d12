"""Show the results of runs in the browser, write and score suites there, or show an experiment to people who take part.

    syntagm serve runs/demo
    syntagm serve runs/demo runs/gpt2 --name Demo --name GPT-2
    syntagm serve runs/demo --suites hu2020 --suites suites/*.json
    syntagm serve gains.csv effects.csv
    syntagm serve runs/demo --host 0.0.0.0 --port 8000 --password-file password
    syntagm serve --model demo --model gpt2 --write my_suites
    syntagm serve --experiment study --host 0.0.0.0 --port 8000 --password-file password

The first line printed is the address to open; it has a token that only you know. Stop the
server with Ctrl-C. The pages show each suite, item and run; every view is an address that
can be kept, and every table is there as CSV, JSON and Parquet. A run that is not finished
shows what is there. Run directories are only read, and no model is needed. With --suites,
suites that no run has are shown, too: their sentences can be looked at and searched. Files that
`syntagm reading fit` and `reading effects` wrote have a page of their own, /reading beside runs.

With --model, there is a page on which sentences are tried; with --write DIR, suites are written
and scored with these models: docs/guide/studio.md. The folder has the suites as plain files,
every version of each, and the run directories of what was scored; nothing else is written.

Only this machine can reach the server. With --password-file, whose first line is a password
of at least 12 characters (or its argon2 hash), it can have another address: visitors log in
with the password. The server speaks HTTP; for the open internet, put a server that speaks
HTTPS in front of it, and name its address by --proxy: after wrong passwords, visitors are then
held off by the address that it puts into X-Forwarded-For, not all at once.

With --experiment, people take part at /take, without token or password (from a panel: add
?PROLIFIC_PID=... or ?id=...), and /experiment shows you how far the study is. Each answer is on
the disk before it is acknowledged; stop and start the server as you like.

`syntagm report RUN -o DIR/` writes the same pages as a folder that needs no server.
"""

import argparse
import contextlib
from pathlib import Path

from syntagm.cli import DONE, _options, _views
from syntagm.core import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folders",
        metavar="DIR|FILE",
        nargs="*",
        help="a run directory, a folder of run directories, or a file of `syntagm reading`",
    )
    _views.add_names(parser)
    parser.add_argument(
        "--suites",
        metavar="PATH",
        nargs="+",
        action="extend",
        default=[],
        help="also show these suites, without results: files, folders, patterns or bundled collections",
    )
    parser.add_argument(
        "--experiment", metavar="DIR", type=Path, help="the folder of a human experiment (`syntagm experiment`)"
    )
    parser.add_argument(
        "--model", metavar="MODEL", action="append", default=[], help="a model of the studio; may be repeated"
    )
    parser.add_argument(
        "--write", metavar="DIR", type=Path, help="the folder in which the studio writes suites and scores them"
    )
    parser.add_argument(
        "--job-hours", metavar="N", type=_positive, help="the most hours that a job of the studio may take (6)"
    )
    parser.add_argument(
        "--job-gigabytes",
        metavar="N",
        type=_positive,
        help="the most memory of a job (three quarters of the machine's)",
    )
    parser.add_argument("--job-waiting", metavar="N", type=_count, help="the most jobs that wait (20)")
    _options.add_permissions(parser)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=_port, default=0, help="the port (a free one)")
    parser.add_argument(
        "--proxy", metavar="ADDRESS", default="", help="the address of a server in front, which names the visitors"
    )
    parser.add_argument("--password-file", metavar="FILE", type=Path, help="the file with the password of the server")


def run(options: argparse.Namespace) -> int:
    """Answer requests until Ctrl-C; print the address first."""
    from syntagm.report import PageCache, Route, limits, moved, read_password, routes, run_server
    from syntagm.suites import read_suites

    password = read_password(options.password_file) if options.password_file else None
    if not (options.folders or options.suites or options.experiment or options.model or options.write):
        expected = "a run directory or a file of `syntagm reading`, --suites, --experiment, or --model and --write for the studio"
        raise UsageError("serve", "nothing to show", expected)
    suites = read_suites(*options.suites, allow_pickle=options.allow_pickle)
    with contextlib.ExitStack() as stack:
        found: list[Route] = []
        more: tuple[tuple[str, str], ...] = ()
        trial = ""
        folders, reading = _views.divide(options.folders)
        runs = _views.open_runs(folders, options.labels)
        if options.model or options.write:
            from syntagm.studio import Limits, Studio

            given = {name: getattr(options, f"job_{name}") for name in ("hours", "gigabytes", "waiting")}
            jobs = Limits(**{name: value for name, value in given.items() if value is not None})
            studio = Studio(options.model, options.write, suites, _options.given_permissions(options), runs, jobs)
            found += stack.enter_context(studio).routes()
            more, trial = studio.ways.listed, studio.trial
        if options.folders or options.suites:
            cache = PageCache()
            found += routes(runs, more, warmed=True, suites=suites, trial=trial, cache=cache, reading=reading)
        else:
            found.append(Route("/", lambda asked: moved(more[0][1] if more else "/experiment")))
        if options.experiment:
            from syntagm.experiment import hosted

            found += hosted.of_folder(options.experiment).routes()
        stack.enter_context(contextlib.suppress(KeyboardInterrupt))  # the normal end
        run_server(
            found,
            host=options.host,
            port=options.port,
            password=password,
            proxy=options.proxy,
            connections=limits.OPEN_CONNECTIONS if options.experiment else limits.CONNECTIONS,
            announce=lambda address: print(address, flush=True),
        )
    return DONE


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 1000")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number up to 65535")
    return int(text)
