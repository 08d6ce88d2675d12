"""Packages that only some commands need, and what a user installs when one is missing."""

import contextlib
import importlib.metadata
import importlib.util
from collections.abc import Iterator
from functools import cache

from syntagm.core.errors import SyntagmError, UsageError

# Extra of this package -> the modules that it installs. An extra may install what another does (pyproject.toml).
EXTRAS = {
    "models": ("torch", "transformers", "tokenizers", "huggingface_hub"),
    "serve": ("starlette", "uvicorn", "h11", "argon2"),
    "languages": ("wordfreq", "jieba", "janome", "pythainlp"),
    "ray": ("ray",),
    "excel": ("fastexcel",),
    "peft": ("peft",),
    "gguf": ("gguf",),
    "compressed-tensors": ("compressed_tensors",),
    "bitsandbytes": ("bitsandbytes",),
    "kenlm": ("kenlm",),
}
_EXTRA_OF = {module: extra for extra, modules in EXTRAS.items() for module in modules}


def command(*packages: str) -> str:
    """Return the command that installs some packages.

    >>> command("torch", "transformers"), command("compressed-tensors"), command("pandas")
    ("pip install 'syntagm[models]'", "pip install 'syntagm[compressed-tensors]'", 'pip install pandas')
    """
    known = {package: _EXTRA_OF.get(package.replace("-", "_"), "") for package in packages}
    extras = [*dict.fromkeys(filter(None, known.values()))]
    others = [package for package, extra in known.items() if not extra]
    return "pip install " + " ".join([f"'syntagm[{','.join(extras)}]'"] * bool(extras) + others)


def installed(module: str) -> bool:
    """Return whether a module is installed; it is not imported.

    >>> installed("numpy"), installed("no_such_module.part")
    (True, False)
    """
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a part of a package that is not installed
        return False
    except ValueError:  # a module that has no file
        return True


@cache
def version(package: str) -> str:
    """Return the version of an installed package. It is looked up once: what is said of a package can be a megabyte of text.

    >>> from syntagm import __version__
    >>> version("syntagm") == __version__
    True
    """
    return importlib.metadata.version(package)


def missing(
    module: str, place: str = "", kind: type[SyntagmError] = UsageError, alternative: str = "", what: str = ""
) -> SyntagmError:
    """Return the error that a module is not installed, in one line with the command that installs it.

    >>> print(missing("starlette", "serve"))
    serve: the package starlette is not installed. Install it: pip install 'syntagm[serve]'
    """
    # `alternative` ends a sentence that begins with the command; `what` was found that needs it, such as `a workbook`.
    found = f"{what}, and the package {module} is not installed" if what else f"the package {module} is not installed"
    cure = f"Install it: {command(module)}" + (f", or {alternative}." if alternative else "")
    return kind(place, found, "", cure)


@contextlib.contextmanager
def needed(
    place: str = "", kind: type[SyntagmError] = UsageError, alternative: str = "", what: str = ""
) -> Iterator[None]:
    """Turn the failed import of a package in an extra into an error with the command that installs it."""
    # Other failures, such as those of a package that is installed and broken, remain what they are.
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in _EXTRA_OF or installed(module):
            raise
        raise missing(module, place, kind, alternative, what) from None
