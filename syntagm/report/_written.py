"""The files that this package writes. No page is read again."""

from syntagm.io.integrity import File, Folder
from syntagm.report.site import folder

ENDINGS = ("html", "csv", "json", "parquet", "svg", "png")
FILES = (File("a report", "*.html", checked=False),)
PAGES = Folder(
    "report",
    (folder.MANIFEST,),
    (
        File("the list of the files of a report", folder.MANIFEST),
        File("the style sheet of a report", "style.css"),
        File("the script of a report", "script.js"),
        *(File("the overview of a report, a table or a figure", f"index*.{ending}") for ending in ENDINGS),
        *(File("the page of a suite, a table or a figure", f"suite/*.{ending}") for ending in ENDINGS),
        *(File("the page of a run, or a table", f"run/*.{ending}") for ending in ("html", "csv", "json", "parquet")),
        File("the page of an item", "suite/*/*.html"),
    ),
    folder.faults,
)
FOLDERS = (PAGES,)
