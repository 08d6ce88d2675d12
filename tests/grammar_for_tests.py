"""Templates for tests, made without files."""

from syntagm.suites import Lexicon, Suite
from syntagm.suites.templates import make, template

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


LANGUAGE = '''
regions = "prefix | critical | rest"
require = ["person = 1 => number = sg"]
[classes]
noun = """
sg     | pl      | kind         | count | gender
singer | singers | person/adult | count | f
clown  | clowns  | person/adult | count | m
poodle | poodles | animal       | count | -
butter | -       | food         | mass  | -
"""
name = """
form  | gender
Diana | f
Peter | m
"""
pronoun = """
form    | gender | person
herself | f      | 3
himself | m      | 3
myself  | -      | 1
"""
verb = """
past    | base   | subject       | object
thanked | thank  | person        | person/animal
saw     | see    | person/animal | person/animal/food
ate     | eat    | person/animal | food
"""
determiner = """
sg   | pl    | mass | strength
a(n) | -     | -    | weak
the  | the   | the  | strong
-    | three | -    | weak
"""
adjective = """
form
old
tame
"""
human = "noun[kind = person] | name"
[slots]
subject = "human[gender = $gender]"
verb = "verb[subject = person]"
object = "noun[kind = verb.object, != subject]"
reflexive = "pronoun[person = $person, not (gender != - and gender != subject.gender)]"
[vary]
number = ["sg", "pl"]
person = ["1", "3"]
gender = ["f", "m"]
[rules]
ending = { plain = "", adverb = { text = "yesterday", when = "number = sg, person = 3", weight = 2 } }
[phrases."np(head, $number)"]
name = { text = "{head}", when = "head.class = name, number = sg" }
noun = { text = "{det.$number} {adjective} {head.$number}", when = "head.class = noun, head.count = count" }
mass = { text = "{det.mass} {head.sg}", when = "head.class = noun, head.count = mass, number = sg" }
[phrases."np(head, $number)".slots]
det = "determiner"
adjective = "adjective"
[conditions]
good = "{np(subject, sg)} | {verb.past} | {np(object, $number)} beside {reflexive} {ending}."
bad = "{np(subject, sg)} | {verb.base} | {np(object, $number)} beside {reflexive} {ending}."
[predictions]
full_sentence = "(*;%good%) < (*;%bad%)"
one_prefix = "(critical;%good%) < (critical;%bad%)"
[edit]
type = "substitution"
words = "1 -> 1"
region = "critical"
[item_tags]
lemma = "{verb.base}"
[items]
fill = "sample"
n = 60
cells = ["ending"]
spread = "verb"
'''
