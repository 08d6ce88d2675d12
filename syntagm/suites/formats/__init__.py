"""Dataset formats: readers of published datasets into suites, and writers. There is one file for each format.

A format is a module with these names:

*   `claims(path, head) -> bool` tells whether a file has the format, judging by its name and its first characters.
*   `read(path, *, option="default", ...) -> Iterator[Suite]` reads a file. Its keyword arguments are the options.
*   `ENDINGS` lists the file extensions to look for in a folder.
*   `write(suites, path)` writes a file, and `WRITES` lists their extensions, the most typical first. Both are
    optional.
*   `unscored(path, head, **options) -> list[str]` returns the columns of a table that are not scored; optional.
*   `HOLDS_PREDICTIONS = False` declares that the written files lack the predictions.

The formats are found by the names of their modules; there is no list to extend.
"""
