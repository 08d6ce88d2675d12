"""Check an installation, in less than a minute.

    syntagm selftest
    syntagm selftest /scratch/me
    syntagm selftest --report > report.md
    syntagm selftest --report --run runs/mine

Versions of libraries, numbers of the bundled model against stored ones, batches against single
texts, weights, a run that is repeated, a report, figures and their font, write permissions,
locks. Files are written to a temporary folder in DIR and removed again: name the folder in
which your runs will be, since its disk may have other rights, or no locks. A line is printed
for each check; without torch and transformers, those that need them are left out and say so.
Nothing is downloaded.

--report adds what a report of a problem needs: versions, machine, caches, variables that change
what libraries do, and the signature of a run. It contains no names of models, suites, users or
folders, nor items: read it before you send it.

Exit code 1: a check failed; its line says what was found, what was expected, and what to do.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import DONE, FELL_SHORT, _files
from syntagm.core import RunError, SyntagmError, UsageError, extras, regular, shown, shown_lines, utf8

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
    from syntagm.runs import default_path

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
        "answers": _size(default_path()),
        "hub": _size(_hub()),
        "disk": f"{shutil.disk_usage(folder).free / 2**30:.0f} GiB free",
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


# Checks that are left out without these packages.
NEEDS_MODELS, MODELS = frozenset({"numbers", "batches", "weights"}), ("torch", "transformers")
# Bits of two texts in the model `demo`, in float32 on a CPU.
BITS = {"The keys to the cabinet are here.": 83.22946, "The keys to the cabinet is here.": 91.04444}
# Items of the suite, and those in which the prediction holds, by model: the second needs no further packages.
SUITE, ITEMS = "hu2020/mvrr", 28
HOLDS = {"demo?device=cpu": 10, "random?seed=2": 6}
# Differences of sums of float32 numbers between machines.
TOLERANCE = 1e-3


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", type=Path, nargs="?", default=Path(), help="where to write (the current folder)"
    )
    parser.add_argument("--report", action="store_true", help="print what a report of a problem needs, as Markdown")
    parser.add_argument(
        "--run",
        dest="of",
        metavar="DIR",
        type=Path,
        help="with --report: the run whose signature is shown, without names",
    )


def run(options: argparse.Namespace) -> int:
    if options.of and not options.report:
        raise UsageError("--run", "given without --report", "both, or neither")
    # An invalid run is refused before the checks.
    of = _signature_of(options.of) if options.of else ""
    began, states = time.monotonic(), list[str]()
    if options.report:
        print(f"## `syntagm selftest`\n\n{report(options.folder, of)}\n\n```")
    try:
        place = tempfile.TemporaryDirectory(prefix="syntagm-selftest-", dir=options.folder)
    except OSError as error:
        raise RunError(
            str(options.folder), f"can't be written ({error.strerror})", "a writable folder", "Name another folder."
        ) from error
    with place as folder:
        for name, check in CHECKS.items():
            state, words = _outcome(name, check, Path(folder))
            states.append(state)
            print(f"{state:<7} {name:<13} {shown(homeless(words) if options.report else words)}", flush=True)
    failed, absent = states.count("failed"), states.count("absent")
    counts = f"{failed} of {len(states)} checks failed" if failed else f"{states.count('ok')} checks passed"
    print(f"{counts}{f', {absent} left out' * bool(absent)} ({time.monotonic() - began:.0f} s)")
    if options.report:
        print("```")
    return FELL_SHORT if failed else DONE


def _outcome(name: str, check: Callable[[Path], str], folder: Path) -> tuple[str, str]:
    """Return the state of a check (`ok`, `failed`, `absent`) and what is said of it."""
    if name in NEEDS_MODELS and (lacking := [one for one in MODELS if not extras.installed(one)]):
        return "absent", str(extras.missing(lacking[0]))
    try:
        return "ok", check(folder)
    except Exception as error:  # in a broken installation, anything may be raised
        return "failed", str(error) if isinstance(error, SyntagmError) else f"{type(error).__name__}: {error}"


def _signature_of(folder: Path) -> str:
    """Return the signature of a number of a run, with MODEL, SUITE and MEASURE in place of names."""
    from syntagm.runs import open_run

    run = open_run(folder)
    signature = run.signature(run.suites[0].name, "MEASURE")
    suite = f"SUITE@{signature.suite.rpartition('@')[2]}"
    asked = tuple(re.sub(r"^exclude:.*@", "exclude:FILE@", part) for part in signature.asked)
    return str(replace(signature, model=("MODEL", *signature.model[1:]), asked=asked, suite=suite))


def _versions(_: Path) -> str:
    found, wrong = packages()
    for requirement in wrong:
        raise _error(requirement.name, found.get(requirement.name, "not installed"), str(requirement))
    own = [f"{name} {found[name]}" for name in ("torch", "transformers", "numpy", "polars") if name in found]
    python = ".".join(map(str, sys.version_info[:3]))
    return f"syntagm {found['syntagm']}, Python {python}, {', '.join(own)}; {len(found) - 1} libraries"


def _error(place: str, found: str, expected: str) -> RunError:
    return RunError(place, found, expected, "Install Syntagm again, in an empty environment.")


def _model() -> str:
    """Return the name of the model that is run: `demo`, if what it needs is installed."""
    with_demo, without = HOLDS
    return with_demo if all(map(extras.installed, MODELS)) else without


def _numbers(_: Path) -> str:
    from syntagm.models import load

    sums = [float(answer.bits.sum()) for answer in load("demo?device=cpu").score(list(BITS))]
    for text, found, expected in zip(BITS, sums, BITS.values(), strict=True):
        if not abs(found - expected) <= TOLERANCE:
            raise _error(f"demo, {text!r}", f"{found:.5f} bits", f"{expected:.5f} bits")
    return f"the bits of {len(BITS)} texts in the model demo are the stored ones (to {TOLERANCE})"


def _batches(_: Path) -> str:
    from syntagm.models import load
    from syntagm.suites import read_suites

    [suite] = read_suites(SUITE)
    texts = [sentence.text for item in suite.items for sentence in item.sentences.values()]
    # On the device that runs will use.
    model = load("demo")
    together = [float(answer.bits.sum()) for answer in model.score(texts)]
    singly = [float(next(model.score([text])).bits.sum()) for text in texts]
    furthest = max(abs(one - other) for one, other in zip(together, singly, strict=True))
    if not furthest <= max(TOLERANCE, model.numerical_error):
        raise _error("demo", f"bits that differ by {furthest:.2g} between a batch and single texts", "the same")
    return f"{len(texts)} texts in batches and singly differ by {furthest:.1g} bits at most ({model.record['device']})"


def _weights(folder: Path) -> str:
    import torch
    from safetensors.torch import load_file, save_file

    generator = torch.Generator().manual_seed(1)
    types = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
    tensors = {str(kind): torch.randn(64, 65, generator=generator).to(kind) for kind in types}
    save_file(tensors, folder / "weights.safetensors")
    stored = load_file(regular.checked(folder / "weights.safetensors"))
    for name, tensor in tensors.items():
        if not torch.equal(stored[name], tensor):
            raise _error("safetensors", f"other numbers in {name} after writing and reading", "the same")
    return f"safetensors are read as they were written ({len(tensors)} types)"


def _run(folder: Path) -> str:
    from syntagm.models import load
    from syntagm.runs import run_suites
    from syntagm.suites import read_suites

    name = _model()

    def results() -> bytes:
        run = run_suites(load(name), read_suites(SUITE), folder / "run")
        values = run.results(SUITE.rpartition("/")[2])["value"]
        if (len(values), values.sum()) != (ITEMS, HOLDS[name]):
            raise _error(f"{name} on {SUITE}", f"{values.sum():g} of {len(values)} items", f"{HOLDS[name]} of {ITEMS}")
        return regular.content(folder / "run" / "results.csv")

    if results() != results():
        raise _error("results.csv", "other bytes when the same run is repeated", "the same")
    holds = f"the prediction holds in {HOLDS[name]} of {ITEMS} items, as stored"
    return f"{name} on {SUITE}: {holds}; a second run changes nothing"


def _report(folder: Path) -> str:
    from syntagm.report import report
    from syntagm.runs import open_run

    page = utf8.read(report([open_run(folder / "run")], folder / "report.html"))
    share = f"{HOLDS[_model()] / ITEMS:.3f}"
    if share not in page:
        raise _error("report.html", f"no {share} on the page", "the score of the run")
    return f"a page of {len(page) // 1024} KB with the score {share}"


def _figures(folder: Path) -> str:
    from syntagm.runs import open_run
    from syntagm.views import figure

    drawing = figure("scores", open_run(folder / "run"))
    for form, head in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        if not drawing.content(form).startswith(head):
            raise _error(f"vl-convert, {form}", "another kind of file", form)
    fonts = {name.decode() for name in re.findall(rb"/BaseFont /[A-Z]+\+([\w-]+)", drawing.content("pdf"))}
    if not fonts:
        cure = "Install a sans-serif font, such as Liberation Sans, or install vl-convert-python again."
        raise RunError("vl-convert", "a PDF without a font: labels of figures are missing", "a font", cure)
    return f"SVG, PNG and PDF; font {', '.join(sorted(fonts))}"


def _writing(_: Path) -> str:
    from syntagm.runs import default_path

    cache = default_path()
    _files.folder(str(cache.parent))
    _files.folder(tempfile.gettempdir())
    return f"the folder of the cache ({cache.parent}) and that of temporary files ({tempfile.gettempdir()})"


def _locks(folder: Path) -> str:
    from syntagm.core import lock

    program = "import sys, pathlib; from syntagm.core.io import lock; lock.held(pathlib.Path(sys.argv[1])).__enter__()"
    command = [sys.executable, "-c", program, str(folder / "locked")]
    with lock.held(folder / "locked"):
        meanwhile = subprocess.run(command, capture_output=True, text=True, check=False)
    if "in use by process" not in meanwhile.stderr:
        cure = "Two runs could write into one folder at once: name a folder on a disk with file locks (flock)."
        raise RunError(str(folder.parent), "a second process got the same lock", "a refusal", cure)
    return "a second process is refused while the first holds a folder"


CHECKS: dict[str, Callable[[Path], str]] = {
    "versions": _versions,
    "numbers": _numbers,
    "batches": _batches,
    "weights": _weights,
    "run": _run,
    "report": _report,
    "figures": _figures,
    "write access": _writing,
    "locks": _locks,
}
