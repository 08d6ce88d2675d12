"""The documentation site: it builds without a warning, and every link within it leads somewhere."""

import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tools import collection_pages

DOCS = Path(__file__).resolve().parents[1] / "docs"
pytest.importorskip("sphinx")
pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """The anchors of a page, and the addresses that it links to or loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.addresses: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.addresses.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # A copy, into which the pages about collections are written.
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("_build"))
    for name in collection_pages.NAMES:
        (folder / "docs" / "reference" / "collections" / name).unlink(missing_ok=True)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", str(folder / "trees")]
    command += [str(folder / "docs"), str(folder / "html")]
    done = subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_every_page_is_in_the_site(site: Path) -> None:
    pages = {path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md") if "_build" not in path.parts}
    pages |= {Path("reference", "collections", name).with_suffix("") for name in collection_pages.NAMES}
    assert pages <= {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}


def test_links_and_anchors_exist(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for address in page.addresses:
            link = urlsplit(address)
            if link.scheme or link.netloc:
                continue
            target = (path.parent / unquote(link.path)).resolve() if link.path else path
            if not target.exists() or (
                link.fragment and target in pages and link.fragment not in anchors(pages[target])
            ):
                broken.append(f"{path.relative_to(site)}: {address}")
    assert not broken


def anchors(page: Page) -> set[str]:
    """Return the anchors of a page as they are written in links."""
    return page.anchors | {"", "top"}


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert 'src="http' not in text, path
        assert 'rel="stylesheet" href="http' not in text, path
