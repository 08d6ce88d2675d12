"""The files that this package writes. No page is read again."""

from syntagm.io.integrity import File, Folder
from syntagm.report.site import folder

FILES = (File("a report", "*.html", checked=False),)
PAGES = Folder(
    "report",
    (folder.MANIFEST,),
    (
        File("the list of the files of a report", folder.MANIFEST),
        *(
            File("a page or a table of a report", f"{place}*.{ending}")
            for place in ("", "suite/", "run/", "suite/*/")
            for ending in ("html", "csv", "json", "parquet", "svg", "png", "css", "js")
        ),
    ),
    folder.faults,
)
FOLDERS = (PAGES,)
