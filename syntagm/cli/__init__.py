"""The command line: one file per command, whose docstring is the help text of the command."""

import argparse
import atexit
import contextlib
import gc
import os
import select
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from syntagm.cli import _config, _files, _streams
from syntagm.core import Interrupted, SyntagmError, extras, lacks_memory, registry, renames

# To turn it on, add this line to the start-up file of bash or zsh; docs/guide/completion.md describes other shells.
#
#     eval "$(register-python-argcomplete syntagm)"

# A function from the prefix that the user has typed to the names that can complete it.
_Names = Callable[[str], Iterable[str]]


def attach(parser: argparse.ArgumentParser, command: str = "") -> None:
    """Add completers for bundled names and files to the arguments of a parser and of its subcommands."""
    from argcomplete.completers import FilesCompleter

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                attach(sub, command or name)
        elif names := _names_for(str(action.metavar), command):
            action.completer = _NamesAndFiles(names, FilesCompleter())  # type: ignore[attr-defined]


class _NamesAndFiles:
    """A completer that offers names first, then files."""

    def __init__(self, names: _Names, files: Callable[..., Iterable[str]]) -> None:
        self.names, self.files = names, files

    def __call__(self, prefix: str, **keywords: object) -> list[str]:
        return [name for name in self.names(prefix) if name.startswith(prefix)] + list(self.files(prefix, **keywords))


def _names_for(metavar: str, command: str) -> _Names | None:
    """Return the names for an argument, chosen by its metavar in `--help`; None if it accepts no bundled names."""
    if metavar == "NAME" and command in ("table", "figure"):
        return lambda _: _names_of_views(command)
    return {"MODEL": _models, "SUITE": _suites, "PATH": _suites, "IN": _suites, "WORDS": _word_lists}.get(metavar)


def _models(_: str) -> list[str]:
    from syntagm.models import families

    return [*families.bundled(), *(f"{name}:" for name in families.names())]


def _suites(prefix: str) -> list[str]:
    from syntagm.suites import bundled_suites, collections

    collection, slash, _ = prefix.partition("/")
    return [f"{collection}/{suite}" for suite in bundled_suites(collection)] if slash else collections()


def _word_lists(_: str) -> list[str]:
    from syntagm.suites import word_list

    return word_list.bundled()


def _names_of_views(kind: str) -> list[str]:
    from syntagm.cli._views import ROOMS
    from syntagm.views import by_name

    chosen: by_name.Kind = "table" if kind == "table" else "figure"
    return [name for room in ROOMS for name in by_name.offering(chosen, room)]


# Tables and matrices are small here, so threads would cost more time than they save. The threads of torch are not touched.
for _variable in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Options that are answered without any command.
_HELP = ("-h", "--help", "--version")
DONE, FELL_SHORT, FAILED, INTERRUPTED = 0, 1, 2, 130
# New objects after which garbage in cycles is looked for; Python's own number is some hundreds.
_OBJECTS = 10_000

_DESCRIPTION = """Targeted syntactic evaluation of language models.

    syntagm run demo --suite hu2020 -o runs/demo      evaluate a model on suites
    syntagm report runs/demo                          write an HTML report
    syntagm compare runs/demo runs/gpt2               compare two models item by item
    syntagm COMMAND --help                            how to use a command, with examples
"""


def main(argv: Sequence[str] | None = None) -> int:
    # 0: done. 1: done, but the result is incomplete or has errors (`check` found errors, a run is not finished). 2: not
    # done, because of a wrong option, bad input or a full disk. 130: interrupted; run the same command again to resume.
    if argv is None:
        _spare_collections()
    with _streams.for_people(), renames.told(lambda message: print(f"note: {message}", file=sys.stderr)):
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    arguments = argparse.Namespace()
    try:
        if "_ARGCOMPLETE" in os.environ:
            _complete(_parser())
        words = sys.argv[1:] if argv is None else argv
        command = _needed(words[0] if words else _HELP[0])
        if words and command != (new := renames.current("cli", command, registry.names("cli"))):
            command, argv = new, [new.replace("_", "-"), *words[1:]]
        parser = _parser(command)
        arguments = parser.parse_args(argv)
        with _files.place(getattr(arguments, "output", None)), extras.needed(arguments.command):
            code: int = arguments.run(arguments)
            sys.stdout.flush()
        return code
    except SyntagmError as error:
        source = getattr(arguments, "config_source", None)
        print(f"syntagm: {_config.blame(source, error)}", file=sys.stderr)
        return FAILED
    except (Interrupted, KeyboardInterrupt):
        print("syntagm: interrupted; run the same command again to continue", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        if not _reader_has_left():
            print(
                "syntagm: the program at the other end of a pipe has ended; expected it to read and answer",
                file=sys.stderr,
            )
            return FAILED
        # The reader of our output has closed the pipe, as `head` does.
        sys.stderr.close()
        return DONE
    except (MemoryError, RuntimeError, ImportError) as error:
        if not lacks_memory(error):
            raise
        print("syntagm: out of memory; expected less to do at once, or a larger machine", file=sys.stderr)
        return FAILED
    except OSError as error:
        print(f"syntagm: {error.filename or 'output'}: {error.strerror}; expected to read or write it", file=sys.stderr)
        _drop_output()
        return FAILED


def _spare_collections() -> None:
    """Let Python look for garbage in cycles less often in this process, which belongs to the command."""
    # Importing torch and transformers makes millions of objects that stay. To look through all of them again and again,
    # and once more when the process ends, takes a third of the time of a short command.
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)


def _complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell's request for completions, and exit."""
    import argcomplete

    attach(parser)
    argcomplete.autocomplete(parser)


def _reader_has_left() -> bool:
    poll = select.poll()
    with contextlib.suppress(OSError, ValueError):  # an output without a file
        poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _drop_output() -> None:
    """Discard output that could not be written, so that the interpreter does not fail on it again at exit."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _needed(word: str) -> str:
    """Return what the parser needs to know for the first word of a command line; see `_parser`."""
    return "" if word.startswith("-") and word not in _HELP else word.replace("-", "_")


def _parser(command: str = "") -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="syntagm",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Command)
    names = registry.names("cli")
    for name in [command] if command in names else names:
        if command and name != command:
            commands.add_parser(name.replace("_", "-"), help=_summary(name))
            continue
        module = registry.find("cli", name)
        summary, _, rest = (module.__doc__ or "").partition("\n")
        added = commands.add_parser(
            name.replace("_", "-"),
            help=summary,
            description=f"{summary}\n{rest}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.arguments(added)
        added.set_defaults(run=module.run, command=name.replace("_", "-"))
    return parser


def _summary(name: str) -> str:
    """Return the first line of a command's docstring, from its file: importing all commands would take long."""
    path = Path(__file__).parent / name
    # A command with subcommands is a folder.
    with (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).open(encoding="utf-8") as file:
        return file.readline().strip().removeprefix('"""').removesuffix('"""')


class _Command(argparse.ArgumentParser):
    """The parser of a command. Options may come before, between and after the other arguments."""

    _parsing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the options, then the remaining arguments; commands with subcommands are parsed in order."""
        # `parse_known_intermixed_args` calls this method.
        if self._parsing or self._subparsers:
            return super().parse_known_args(args, namespace)
        self._parsing = True
        try:
            known = self._option_string_actions
            words, source = _config.expanded(self, renames.flags(sys.argv[1:] if args is None else args, known))
            found, rest = self.parse_known_intermixed_args(words, namespace)
            found.line, found.config_source = [*self.prog.split(), *words], source
            if source and not found.quiet:
                print(source, file=sys.stderr)
            return found, rest
        finally:
            self._parsing = False


class _Version(argparse.Action):
    """The --version option. It looks up the version only when it is given."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: object) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version, then stop")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"syntagm {version('syntagm')}")
        parser.exit()
