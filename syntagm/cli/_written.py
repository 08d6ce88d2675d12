"""The files that the command line itself writes. None is read again."""

from syntagm.io.integrity import File

FILES = (
    *(
        File("surprisals of tokens or words", f"*.{ending}", checked=False)
        for ending in ("csv", "tsv", "parquet", "jsonl")
    ),
    File("the discordant items of two models", "*.csv", checked=False),
    File("the exposure of items in a training text", "*.csv", checked=False),
    File("a page about suites, or a methods paragraph", "*.md", checked=False),
    File("a methods paragraph in LaTeX", "*.tex", checked=False),
    File("a bibliography", "*.bib", checked=False),
)
