"""The studio in the browser: try a sentence, write a suite, score it.

Every page is a form that works without scripts: its whole state is in the address (trying) or in the text of the suite
(writing), and the scripts only make that text a table to type in. Suites are files of a folder that the user names;
the engine scores them in a process of its own, and leaves an ordinary run directory.
"""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
