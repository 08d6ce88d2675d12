"""The command line: one file a command, whose docstring is its help."""

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence

from syntagm import registry
from syntagm.errors import Interrupted, SyntagmError

# Tables and matrices are small here, so that threads would cost more time than they save. Those of torch are not touched.
for _threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

DONE, FELL_SHORT, FAILED, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code says how it went.

    0: done. 1: done, but something fell short (errors found, a run incomplete). 2: could not do it. 130: interrupted; the same
    command line continues.
    """
    try:
        parser = _parser()
        if "_ARGCOMPLETE" in os.environ:
            _complete(parser)
        arguments = parser.parse_args(argv)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except SyntagmError as error:
        print(f"syntagm: {error}", file=sys.stderr)
        return FAILED
    except (Interrupted, KeyboardInterrupt):
        print("syntagm: interrupted; the same command line continues", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        sys.stderr.close()
        return DONE
    except OSError as error:
        print(f"syntagm: {error.filename or 'output'}: {error.strerror}; expected to read or write it", file=sys.stderr)
        _drop_output()
        return FAILED


def _complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell, which asks how a line could go on, and end."""
    import argcomplete

    from syntagm.cli import _completion

    _completion.attach(parser)
    argcomplete.autocomplete(parser)


def _drop_output() -> None:
    """Let what could not be written go, so that the interpreter does not try, and fail, again at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="syntagm", description="Targeted syntactic evaluation of language models.")
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in registry.names("cli"):
        module = registry.find("cli", name)
        summary, _, rest = (module.__doc__ or "").partition("\n")
        command = commands.add_parser(
            name.replace("_", "-"),
            help=summary,
            description=f"{summary}\n{rest}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.arguments(command)
        command.set_defaults(run=module.run)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: object) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"syntagm {version('syntagm')}")
        parser.exit()
