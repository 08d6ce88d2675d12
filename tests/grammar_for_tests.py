"""Templates for tests, made without files."""

from syntagm.suite import Suite
from syntagm.templates import make, template
from syntagm.templates.lexicon import Lexicon

TABLE = '''
regions = "subject | verb | rest"
[conditions]
good = "The {head} | {verb.sg} | {rest}."
bad = "The {head} | {verb.pl} | {rest}."
[predictions]
main = "(verb;%good%) < (verb;%bad%)"
[items]
fill = "table"
rows = """
head | verb.sg | verb.pl | rest
cat  | sleeps  | sleep   | all day
dog  | barks   | bark    | ""
"""
'''
CROSS = '''
[classes]
noun = """
sg  | pl   | kind
ox  | oxen | animal
jug | jugs | thing
elm | elms | plant/thing
"""
verb = """
sg    | pl
falls | fall
is    | are
"""
[slots]
other = "noun[!= noun]"
[vary]
number = ["sg", "pl"]
[conditions]
good = "The {noun.$number} by the {other.sg} {verb.$number}."
bad = "The {noun.$number} by the {other.sg} {verb.!number}."
[predictions]
full_sentence = "(*;%good%) < (*;%bad%)"
[items]
fill = "cross"
'''
SAMPLE = CROSS.replace('fill = "cross"', 'fill = "sample"\nn = 10')


def nothing(name: str) -> Lexicon:
    return Lexicon()


def read(text: str) -> list[template.Template]:
    return template.read(text, "here.toml", "here", nothing)


def made(text: str, n: int | None = None, seed: int = 1) -> list[Suite]:
    return list(make.suites(read(text), "", n, seed))


def one(text: str, n: int | None = None, seed: int = 1) -> Suite:
    [suite] = made(text, n, seed)
    return suite


def texts(suite: Suite) -> list[str]:
    return [sentence.text for item in suite.items for sentence in item.sentences.values()]
