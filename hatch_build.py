"""What the build adds: a README.md whose links work on an index, and browser code of others, packed into the wheel."""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

# The licences of the packages in a folder of browser code.
LICENCES = "LICENSES.txt"
# [text](target) and ![text](target), whose target is a path in the repository.
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Sets `readme`. The address of the repository is `base` in pyproject.toml; without one, links become plain text."""

    def update(self, metadata: dict[str, object]) -> None:
        """Add the description to the metadata of the package."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        base = str(self.config.get("base", ""))
        metadata["readme"] = {"content-type": "text/markdown", "text": linked(text, base)}


def linked(text: str, base: str) -> str:
    """Return a Markdown text with absolute links.

    Arguments:
        text: the text, whose relative links are paths in the repository.
        base: the address of the repository's files in a browser, such as `https://forge/owner/name/blob/v1.0.0`; if it is
            empty, a link becomes its text, and an image disappears.

    >>> linked("[a](docs/a.md) and ![b](b.png)", "https://forge/blob/v1")
    '[a](https://forge/blob/v1/docs/a.md) and ![b](https://forge/blob/v1/b.png?raw=true)'
    >>> linked("[a](docs/a.md)", "")
    'a'
    """

    def absolute(found: re.Match[str]) -> str:
        image, words, target = found.groups()
        if not base:
            return "" if image else words
        return f"{image}[{words}]({base}/{target}{'?raw=true' * bool(image)})"

    return _LINK.sub(absolute, text)


def licences(folder: Path) -> str:
    """Return the licences of the packages that npm has installed in a folder, without those for development.

    Of a package without a file of its licence, what its `package.json` says.
    """
    parts = []
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    for name, entry in sorted(lock["packages"].items()):
        if not name or entry.get("dev") or not (folder / name / "package.json").exists():
            continue
        about = json.loads((folder / name / "package.json").read_text(encoding="utf-8"))
        files = sorted(path for path in (folder / name).iterdir() if re.match(r"licen[cs]e", path.name, re.IGNORECASE))
        author = about.get("author", "")
        said = f"Licence: {about['license']}. Author: {author['name'] if isinstance(author, dict) else author}."
        texts = [path.read_text(encoding="utf-8").strip() for path in files if path.is_file()] or [said]
        parts.append("\n\n".join([f"# {about['name']} {about['version']}", *texts]))
    return "\n\n\n".join(parts) + "\n"


class BrowserHook(BuildHookInterface[Any]):
    """Packs the browser code of others into the wheel, where npm is present; nothing of it is in the repository.

    A folder of the package asks for it by a `package.json`, with a lock file, whose entry `packed` names files: path in the
    folder after `npm ci` (and `npm run build`, if there is such a script) -> name in the folder `lib`, beside `package.json`.
    Their licences are in `lib/LICENSES.txt`.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to the wheel, but not to an installation that can be edited."""
        if version == "editable":
            return
        folder = Path(tempfile.mkdtemp(prefix="syntagm-browser-"))
        build_data.setdefault("syntagm", folder)
        for number, path in enumerate(sorted((Path(self.root) / "syntagm").rglob("package.json"))):
            if not (packed := json.loads(path.read_text(encoding="utf-8")).get("packed")):
                continue
            where = path.parent.relative_to(self.root)
            if npm := shutil.which("npm"):
                place = folder / str(number)
                shutil.copytree(path.parent, place, ignore=shutil.ignore_patterns("lib", "node_modules"))
                for command in (
                    ["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                    ["run", "build", "--if-present"],
                ):
                    subprocess.run([npm, *command], cwd=place, check=True, stdout=subprocess.DEVNULL)
                (place / LICENCES).write_text(licences(place), encoding="utf-8")
                build_data["force_include"].update(
                    {str(place / one): f"{where}/lib/{name}" for one, name in {**packed, LICENCES: LICENCES}.items()}
                )
            else:
                self.app.display_warning(f"{where}: no npm here, so the wheel lacks {', '.join(packed.values())}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        shutil.rmtree(build_data.get("syntagm", ""), ignore_errors=True)
