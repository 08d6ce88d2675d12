"""What surrounds an installation, for reports of problems: versions, machine, caches; no names of users and folders."""

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.core import shown_lines

if TYPE_CHECKING:
    from packaging.requirements import Requirement

# Variables that change what libraries do; of the others that begin with `_OURS`, and of these, values are shown.
_VARIABLES = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS", "TOKENIZERS_PARALLELISM",
    "CUDA_VISIBLE_DEVICES", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "PYTHONUTF8", "PYTHONHASHSEED", "LANG", "LC_ALL",
)  # fmt: skip


def packages() -> tuple[dict[str, str], "list[Requirement]"]:
    """Return the versions of Syntagm and of the packages that it needs or could use, and requirements that don't hold."""
    # Packages of extras need not be installed; if they are, their versions have to fit.
    from importlib import metadata

    from packaging.requirements import Requirement

    found, wrong = {"syntagm": metadata.version("syntagm")}, list[Requirement]()
    for requirement in map(Requirement, metadata.requires("syntagm") or ()):
        needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if not requirement.specifier:  # another extra of this package
            continue
        try:
            found[requirement.name] = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            if needed:
                wrong.append(requirement)
            continue
        if not requirement.specifier.contains(found[requirement.name], prereleases=True):
            wrong.append(requirement)
    return found, wrong


def report(folder: Path, signature: str) -> str:
    """Return what a report of a problem needs, as a list in Markdown."""
    found, wrong = packages()
    versions = ", ".join(f"{name} {version}" for name, version in sorted(found.items()))
    lines = {
        "Python": f"{platform.python_implementation()} {platform.python_version()}, {sys.maxsize.bit_length() + 1} bits",
        "packages": versions + "".join(f"; {requirement} doesn't hold" for requirement in wrong),
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}, {' '.join(platform.libc_ver())}".strip(
            ", "
        ),
        "machine": f"{_cores()} usable cores, {_memory()}; {_devices()}",
        "encodings": f"{sys.stdout.encoding} to the terminal, {sys.getfilesystemencoding()} in names of files",
        "variables": ", ".join(f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ) or "none",
        "answers": _size(_answers()),
        "hub": _size(_hub()),
        "disk": f"{_free(folder)} free",
        "signature": signature or "of no run (--run DIR adds one)",
    }
    return "\n".join(f"* {name}: {homeless(shown_lines(text))}" for name, text in lines.items())


def homeless(text: str) -> str:
    """Return a text with `~` in place of the home folder, which tells the name of the user."""
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB of memory"
    except (ValueError, OSError):
        return "an unknown amount of memory"


def _devices() -> str:
    """Return what torch finds besides processors."""
    try:
        import torch
    except ImportError as error:
        return f"no torch ({error})"
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
        return f"{', '.join(names)} with CUDA {torch.version.cuda}"
    return "Apple GPU" if torch.backends.mps.is_available() else "no GPU that torch can use"


def _answers() -> Path:
    from syntagm.runs import default_path

    return default_path()


def _hub() -> Path:
    """Return the folder of models and data sets of the Hugging Face Hub, as its package finds it."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or Path(home) / "huggingface") / "hub")


def _size(path: Path) -> str:
    """Return how large a cache is; names in it are not shown."""
    where = "in the home folder" if path.is_relative_to(Path.home()) else "outside of the home folder"
    if path.is_file():
        return f"{path.stat().st_size / 2**20:.1f} MiB, {where}"
    if path.is_dir():
        return f"{sum(1 for one in path.iterdir() if one.is_dir())} folders, {where}"
    return f"none, {where}"


def _free(folder: Path) -> str:
    import shutil

    return f"{shutil.disk_usage(folder).free / 2**30:.0f} GiB"
