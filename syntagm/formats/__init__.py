"""Read a published dataset into suites and write it back: one file a format.

A format is a module with `claims(path, head) -> bool`, `read(path, *, option="default", ...) -> Iterator[Suite]`, whose keyword
arguments are its options, and `ENDINGS`: how files are called that a folder is searched for. One that also writes has
`write(suites, path)` and `WRITES`: the endings of its files, the one that is most its own first; `HOLDS_PREDICTIONS = False`
says that what it writes lacks the predictions. Nothing is registered.
"""
