"""An experiment as a folder of static pages with jsPsych, which run on any web server.

The packages of jsPsych are pinned in `pages/package-lock.json`. They are taken from the folder `lib` beside it, if the
installation has one, and otherwise installed by npm, with their hashes checked and no script of theirs run. `build.mjs`
leaves out of them what pages don't need.
"""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from syntagm.core import RunError, UsageError, atomic, regular, utf8
from syntagm.experiment import deployed, texts
from syntagm.report import shell

_PAGES = Path(__file__).resolve().parent / "pages"
LIBRARY = _PAGES / "lib"
# File of a package -> its name in the folder, in the order in which a page loads them; the wheel is packed by the same list.
_FILES: dict[str, str] = json.loads(utf8.read(_PAGES / "package.json"))["packed"]
# Seconds that npm may take.
_PATIENCE = 300


def libraries() -> dict[str, bytes]:
    """Return the files of jsPsych: name -> content."""
    if all((LIBRARY / name).exists() for name in _FILES.values()):
        return {name: regular.content(LIBRARY / name) for name in _FILES.values()}
    npm = shutil.which("npm")
    if npm is None:
        raise UsageError(
            "deploy --as jspsych", "no packages of jsPsych here, and no npm", "Node.js with npm",
            "Everything else works without: `syntagm serve --experiment DIR`, or --as pcibex.",
        )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("package.json", "package-lock.json", "build.mjs"):
            shutil.copyfile(_PAGES / name, place / name)
        _npm(npm, place, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        _npm(npm, place, "run", "build")
        return {name: regular.content(place / file) for file, name in _FILES.items()}


def _npm(npm: str, place: Path, *arguments: str) -> None:
    called = f"npm {arguments[0]}"
    try:
        done = subprocess.run(
            [npm, *arguments], cwd=place, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise RunError(called, f"no end after {_PATIENCE} seconds", "the packages of jsPsych") from error
    if done.returncode:
        found = done.stderr.strip()[-300:] or "an error"
        raise RunError(called, found, "the packages of jsPsych", "Is there a network?")


def write(folder: Path, target: Path) -> Iterator[str]:
    """Write the pages of an experiment; yield what to do with them, as sentences."""
    data, settings = deployed.data(folder), texts.settings(folder)
    files = {f"lib/{name}": content for name, content in libraries().items()}
    scripts = [name for name in _FILES.values() if name.endswith(".js")]
    variables = {"language": settings.language, "title": settings.title, "scripts": scripts}
    files["index.html"] = shell.render_part("jspsych.html", variables, _PAGES).encode()
    # A line separator of Unicode, or the end of a script, would end the text in some readers.
    files["study.js"] = f"const STUDY = {json.dumps(data)};\n".replace("</", "<\\/").encode()
    files["pages.js"] = utf8.read(_PAGES / "jspsych.js").encode()
    files["pages.css"] = utf8.read(_PAGES / "jspsych.css").encode()
    with atomic.used_folder(target):
        atomic.make_folder(atomic.inside(target, "lib"))
        for name, content in files.items():
            atomic.write(target / name, content)
    yield f"{target}/index.html: put the folder on a web server, and give people its address."
    if data["datapipe"]:
        yield f"answers go to DataPipe, experiment {data['datapipe']}"
    elif data["address"]:
        yield f"answers go to {data['address']}, one POST for each"
    else:
        yield "study.toml names no address for the answers: people will be asked to save a file."
    yield "address of one place: index.html?slot=N, N from 1 to " + str(len(data["people"]))
