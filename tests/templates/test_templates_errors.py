"""What is wrong in a template is said with its place, what is there, what should be, and the cure."""

import pytest
from grammar_for_tests import CROSS, SAMPLE, TABLE, made

from syntagm.core import FormulaError, InputError

# Where, what is replaced, by what, and what the message says, in this order.
CASES = [
    # The file.
    (TABLE, "regions =", "regions", ["here.toml: invalid TOML: ", "expected a TOML file", "quotation marks"]),
    (
        TABLE,
        "regions =",
        "region =",
        ["here.toml: the unknown key 'region'", "one of name, regions, lexicon"],
    ),
    (TABLE, "regions =", "x = '\\u0007'\nregions =", ["here.toml: the unknown key 'x'"]),
    (
        TABLE,
        "The {head}",
        "The \\u001b[31m{head}",
        [r"here.toml, conditions, good: the control character '\x1b'", "Remove it"],
    ),
    (TABLE, "regions =", "n = 0xffffffffffffffffffff\nregions =", ["here.toml, n: an integer of more than 18 digits"]),
    (TABLE, "regions =", f"n = {'9' * 5000}\nregions =", ["here.toml: a number or date that can't be read"]),
    (TABLE, "regions =", f"n = {'[' * 9000}\nregions =", ["here.toml: brackets or braces nested too deep"]),
    (TABLE, "regions =", f"{'a.' * 99}a = 1\nregions =", ["here.toml: a key of more than 16 parts"]),
    (TABLE, "regions =", f"x = {{{'a.' * 99}a = 1}}\nregions =", ["here.toml: a key of more than 16 parts"]),
    (TABLE, "regions =", f"# {'x' * 4_000_000}\nregions =", ["here.toml: 4,000,", "at most 4,000,000. Split it"]),
    (TABLE, "regions =", "suite = []\nregions =", ["here.toml, [suite]: []; expected 1 to 200 sections", "[[suite]]"]),
    (TABLE, "regions =", "suite = 1\nregions =", ["here.toml, [suite]: 1"]),
    (TABLE, "regions =", "suite = [1]\nregions =", ["here.toml, suite 1: 1; expected a table"]),
    (
        TABLE,
        "[items]",
        "[[suite]]\n[[suite]]\n[items]",
        ["here.toml, suite 2: the name 'here' for a second suite", "name ="],
    ),
    (TABLE, "[items]", "[[suite]]\nname='a'\nfoo=1\n[items]", ["here.toml, suite a: the unknown key 'foo'"]),
    (TABLE, "regions =", "name = '../up'\nregions =", ["here.toml: the name '../up' for a suite; expected letters"]),
    (TABLE, "regions =", "name = 7\nregions =", ["here.toml, name: 7; expected a string. Put it in quotation marks"]),
    (
        TABLE,
        "regions =",
        "aggregate = 'total'\nregions =",
        ["here.toml, aggregate: 'total'; expected one of sum, mean"],
    ),
    (
        TABLE,
        "[predictions]",
        "[tags]\nseed = '1'\n[predictions]",
        ["here.toml, [tags] seed: a tag called 'seed'", "are reserved"],
    ),
    (TABLE, "[predictions]", "[tags]\n'json:item' = '1'\n[predictions]", ["a tag called 'json:item'"]),
    (TABLE, "[predictions]", "[tags]\nyear = 2020\n[predictions]", ["[tags] year: 2020; expected a string. Put it"]),
    # Conditions and regions.
    (TABLE, "[conditions]", "[conditions]\n'a b' = 'x'", ["here.toml, [conditions]: the name 'a b'; expected letters"]),
    (TABLE, "[predictions]", "good = 'x'\n[predictions]", ["here.toml: invalid TOML: ", "If a name occurs twice"]),
    (TABLE, "[predictions]", "[vary]\n[predictions.x]", ["here.toml, [predictions] x: ['main']; expected a string"]),
    (
        TABLE,
        '"The {head} |',
        '"The {head |',
        ["here.toml, [conditions] good: a brace that isn't closed in 'The {head'"],
    ),
    (
        TABLE,
        '"The {head} |',
        '"The head} |',
        ["[conditions] good: a brace that isn't opened in 'The head}'", "Close it"],
    ),
    (TABLE, "{head}", "{}", ["[conditions] good: {}; expected {slot}, {slot.form}"]),
    (TABLE, "{head}", "{head.__class__[0]}", ["[conditions] good: {head.__class__[0]}; expected {slot}"]),
    (
        TABLE,
        "{head}",
        "{head.__class__}",
        ["no form '__class__' of head; expected {head}. head has only one form."],
    ),
    (TABLE, "{head}", "{hed}", ["here.toml, [conditions] good: no slot 'hed'; expected one of: head, verb, rest"]),
    (TABLE, "{verb.sg}", "{verb.du}", ["[conditions] good: no form 'du' of verb; expected one of: sg, pl"]),
    (
        TABLE,
        "{verb.sg}",
        "{verb.$n}",
        ["[conditions] good: no variable 'n'; expected one of the variables: none. List it"],
    ),
    (
        TABLE,
        "| {verb.sg} ",
        "",
        ["[conditions] good: 2 regions: 'The {head} | {rest}.'; expected 3: 'subject | verb | rest'"],
    ),
    (TABLE, "| verb |", "| a b |", ["here.toml, regions: the name 'a b'; expected letters"]),
    (TABLE, "| verb |", "| subject |", ["here.toml, regions: the name 'subject' twice"]),
    (TABLE, "The {head}", "x" * 10_001, ["here.toml, [conditions] good: a pattern of 10,0"]),
    # Predictions.
    (
        TABLE,
        "(verb;%good%) <",
        "(vreb;%good%) <",
        ["[predictions] main: no region 'vreb'; expected one of: *, subject, verb"],
    ),
    (
        TABLE,
        "(verb;%good%) <",
        "(verb;%god%) <",
        ["[predictions] main: no condition 'god'; expected one of: good, bad"],
    ),
    (CROSS, "(*;%good%) <", "(1;%good%) <", ["[predictions] full_sentence: no region '1'; expected one of: *"]),
    (TABLE, "main =", "'' =", ["here.toml, [predictions]: a prediction without a name"]),
    # The table of items.
    (TABLE, '"table"', '"tabel"', ["here.toml, [items]: fill = 'tabel'; expected table, cross or sample. Write fill"]),
    (TABLE, 'fill = "table"', "", ["here.toml, [items]: no fill; expected"]),
    (
        TABLE,
        'fill = "table"',
        'fill = "table"\nn = 2',
        ["here.toml, [items]: the unknown key 'n'; expected one of fill"],
    ),
    (TABLE, "rows =", "row =", ["here.toml, [items]: the unknown key 'row'; expected one of fill, rows"]),
    (
        TABLE,
        "| barks ",
        "",
        ["here.toml, [items] rows, row 2: 3 cells: ", "expected 4: head | verb.sg", "Put | between"],
    ),
    (TABLE, "barks", "", ['here.toml, [items] rows, row 2, verb.sg: an empty cell; expected text. Write "" for']),
    (
        TABLE,
        "barks",
        "-",
        [
            "here.toml, [items] rows, row 2, verb.sg: no such form (-); expected a form, for here.toml, [conditions] good"
        ],
    ),
    (TABLE, "barks", "x" * 1001, ["row 2, verb.sg: 1,001 characters; expected at most 1,000"]),
    (TABLE, "head | verb.sg |", "head | head |", ["[items] rows: two columns called 'head'; expected each name once"]),
    (
        TABLE,
        "head | verb.sg |",
        "head | a b |",
        ["[items] rows, column 2: 'a b'; expected a name such as noun or noun.pl. Use"],
    ),
    (TABLE, '| {rest}."\nbad', '| ."\nbad', []),
    (
        TABLE,
        "{rest}",
        "",
        ["here.toml, [items] rows, column rest: a column that no pattern uses", "Correct its spelling"],
    ),
    (TABLE, 'rows = """', 'rows = "a"\nx = """', ["[items]: the unknown key 'x'"]),
    (
        TABLE,
        'cat  | sleeps  | sleep   | all day\ndog  | barks   | bark    | ""\n',
        "",
        ["[items] rows: 1 line; expected"],
    ),
    (
        TABLE,
        "cat  |",
        "|\n" * 100_000 + "cat |",
        ["[items] rows: 100,00", "lines; expected at most 100,000. Use a table"],
    ),
    # Classes, slots, variables.
    (CROSS, "sg  | pl   | kind", "sg  | x.pl   | kind", ["here.toml, [classes] noun, column x.pl: a dot", "Write pl"]),
    (
        CROSS,
        "[vary]",
        "[vary]\ntense = ['past', 'now']",
        ["here.toml, [vary] tense: a variable that no pattern and no slot uses", "tense"],
    ),
    (
        CROSS,
        "[vary]",
        "again = 'verb'\n[vary]",
        ["here.toml, [slots] again: a slot that no pattern and no other slot uses"],
    ),
    (
        SAMPLE,
        "[vary]",
        "again = 'verb'\n[vary]",
        ["here.toml, [slots] again: a slot that no pattern and no other slot uses"],
    ),
    (CROSS, "[classes]", '[classes]\nspare = "a\\nb"', ["here.toml, [classes] spare: a class that no slot uses"]),
    (CROSS, "[vary]", "[rules]\nrc = ['', 'x']\n[vary]", ["here.toml, [rules] rc: a rule that no pattern uses"]),
    (
        CROSS,
        "number = [",
        "number = [1, ",
        ["here.toml, [vary] number: 1; expected a string. Put it in quotation marks"],
    ),
    (
        CROSS,
        '"sg", "pl"]',
        '"sg", " sg "]',
        ["here.toml, [vary] number: ['sg', 'sg']; expected a list of different values"],
    ),
    (CROSS, '"sg", "pl"]', '"sg"]', ["{verb.!number}, but number has 1 value; expected two values"]),
    (CROSS, '"sg", "pl"]', '"sg", ""]', ['the value "" of number as a form of verb; expected the name of a form']),
    (CROSS, '"sg", "pl"]', '"sg", "du"]', ["[conditions] bad: no form 'du' of verb; expected one of: sg, pl"]),
    (CROSS, "[vary]", "[vary]\n'a b' = ['x']", ["here.toml, [vary]: the name 'a b'; expected letters, digits"]),
    (
        CROSS,
        "[vary]",
        "[vary]\n" + "\n".join(f"v{i} = ['a', 'b']" for i in range(5000)),
        ["[vary]: 1,048,576 configurations or more"],
    ),
    (
        CROSS,
        "noun[!= noun]",
        "nuon",
        ["here.toml, [slots] other: no class 'nuon'; expected one of the classes: noun, verb"],
    ),
    (CROSS, "noun[!= noun]", "noun[", ["[slots] other: 'noun['; expected a class, with conditions in brackets"]),
    (CROSS, "noun[!= noun]", "noun[= noun]", ["[slots] other: the condition '= noun'; expected column = value"]),
    (
        CROSS,
        "noun[!= noun]",
        "noun[kind = -]",
        ["here.toml, [slots] other: no word in class noun with kind = -", "where number = sg"],
    ),
    (
        CROSS,
        "noun[!= noun]",
        "noun[sort = x]",
        ["[slots] other, sort = x: no column in class noun 'sort'; expected one of: sg"],
    ),
    (
        CROSS,
        "noun[!= noun]",
        "noun[kind = $x]",
        ["other, kind = $x: no variable 'x'; expected one of the variables: number"],
    ),
    (
        CROSS,
        "noun[!= noun]",
        "noun[!= nou]",
        ["other, != nou: no slot or class 'nou'; expected one of: other, noun, verb. Did you mean noun?"],
    ),
    (
        CROSS,
        "noun[!= noun]",
        "noun[!= other]",
        ["[slots] other, != other: a condition that compares other with itself"],
    ),
    (CROSS, "noun[!= noun]", "noun[kind = noun.x]", ["no column in class noun 'x'; expected one of: sg, pl, kind"]),
    (
        CROSS,
        "noun[!= noun]",
        "noun[kind = gas]",
        ["here.toml, [slots] other, kind = gas: no value of kind 'gas'; expected one of: animal, plant, thing"],
    ),
    (
        CROSS,
        "noun[!= noun]",
        "noun[" + "!= noun," * 51 + "!= noun]",
        ["[slots] other: 52 conditions; expected at most 50"],
    ),
    (
        CROSS,
        "noun[!= noun]",
        "noun[kind = noun.kind, != noun, kind = noun.pl]",
        ["here.toml: no items, because no words meet the conditions"],
    ),
    (
        CROSS,
        "{other.sg}",
        "{othr.sg}",
        ["here.toml, [conditions] good: no slot or class 'othr'; expected one of: other, noun, verb"],
    ),
    (CROSS, "[items]", "[item_tags]\nnumber = 'x'\n[items]", ["[item_tags] number: a variable of the same name"]),
    (CROSS, "[items]", "[item_tags]\nx = 'x | y'\n[items]", ["[item_tags] x: a region border in 'x | y'"]),
    (SAMPLE, "n = 10", "", ["here.toml, [items]: n = 0; expected the number of items to draw"]),
    (SAMPLE, "n = 10", "n = true", ["[items]: n = true; expected the number of items"]),
    (SAMPLE, "n = 10", "n = 9999999", ["here.toml: 9,999,999 items; expected at most 1,000,000"]),
    # 2 numbers × 3 nouns × 2 others × 2 verbs = 24 sentences.
    (
        SAMPLE,
        "n = 10",
        "n = 25",
        [
            "here.toml: 24 different items and then none in 1,000 draws where number = sg "
            "(a sentence of an earlier item: 1,000); expected 25 different items. Ask for fewer"
        ],
    ),
    (
        SAMPLE,
        "!= noun]",
        "!= noun, kind = noun.pl]",
        ["here.toml: 0 different items", "(no words of noun and other meet their conditions where number = sg: 1,000)"],
    ),
    # Conditions on two slots, one for each part of a choice.
    (
        CROSS,
        '"noun[!= noun]"',
        '"noun[!= noun, kind = noun.kind] | noun[!= noun, pl = noun.sg]"',
        [
            "here.toml, [slots] other: two parts of class noun with different conditions on other slots",
            "; expected one part of class noun. Join them with or: ",
        ],
    ),
    (CROSS, '"noun[!= noun]"', '"noun[!= noun, kind = animal] | noun[!= noun, kind = thing]"', []),
    # Rules.
    (
        CROSS,
        "[vary]",
        "[rules]\nnoun = ['x']\n[vary]",
        ["here.toml, [rules] noun: a class of the same name; expected another name"],
    ),
    (CROSS, "[vary]", "[rules]\nnumber = ['x']\n[vary]", ["here.toml, [rules] number: a variable of the same name"]),
    (CROSS, "[vary]", "[rules]\nother = ['x']\n[vary]", ["here.toml, [rules] other: a slot of the same name"]),
    (CROSS, "[vary]", "[rules]\nrc = []\n[vary]", ["here.toml, [rules] rc: []; expected a list of patterns"]),
    (CROSS, "[vary]", "[rules]\nrc = ['a | b']\n[vary]", ["here.toml, [rules] rc, 1: a region border"]),
]


@pytest.mark.parametrize(("text", "old", "new", "said"), CASES)
def test_messages(text: str, old: str, new: str, said: list[str]) -> None:
    assert old in text
    if not said:
        assert made(text.replace(old, new, 1))
        return
    with pytest.raises(InputError) as caught:
        made(text.replace(old, new) if old == "{rest}" else text.replace(old, new, 1))
    message = str(caught.value)
    place = 0
    for part in said:
        assert part in message[place:]
        place += message[place:].index(part)
    assert len(message) < 700
    assert message.startswith("here.toml")


def test_a_formula_that_is_none() -> None:
    with pytest.raises(FormulaError, match=r"here.toml, \[predictions\] main, formula, character 17"):
        made(TABLE.replace("(verb;%bad%)", "(verb;%bad%"))


RULES = "[rules]\n" + "\n".join(f"r{number} = ['{{r{number + 1}}}' ]" for number in range(30)) + "\nr30 = ['x']\n"
# Fifteen rules, each of ten uses of the next: 10^15 pieces, all of them empty.
BOMB = "[rules]\n" + "".join(f"r{n} = ['{('{r' + str(n + 1) + '}') * 10}']\n" for n in range(15)) + "r15 = ['']\n"


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("[rules]\nr0 = ['{r1}']\nr1 = ['a {r0}']\n", "a rule that leads back to itself: r0 -> r1 -> r0"),
        ("[rules]\nr0 = ['x']\n", "a form of r0, which is a rule"),
        (RULES, "rules nested more than 20 deep"),
        (BOMB, "more than 1,000 slots"),
    ],
)
def test_rules_that_never_end(rules: str, said: str) -> None:
    use = "{r0.sg}" if "form" in said else "{r0}"
    with pytest.raises(InputError) as caught:
        made(CROSS.replace("[vary]", f"{rules}[vary]").replace("The {noun", f"The {use} {{noun", 1))
    assert caught.value.place == "here.toml, [conditions] good"
    assert said in str(caught.value)


def test_places_say_whether_the_file_or_one_suite_is_wrong() -> None:
    shared = CROSS.replace("[vary]", "[vary]\nx = ['a']") + "[[suite]]\nname = 'one'\n[[suite]]\nname = 'two'\n"
    with pytest.raises(InputError, match=r"^here.toml, \[vary\] x: a variable that no pattern"):
        made(shared)
    with pytest.raises(InputError, match=r"^here.toml, suite two, \[vary\] y: a variable that no pattern"):
        made(CROSS + "[[suite]]\nname = 'one'\n[[suite]]\nname = 'two'\n[suite.vary]\ny = ['a']\n")


def test_what_one_suite_of_the_file_uses_is_used() -> None:
    text = CROSS.replace("[vary]", "[vary]\nx = ['a', 'b']") + (
        "[[suite]]\nname = 'one'\n[[suite]]\nname = 'two'\n[suite.conditions]\ngood = '{$x} {noun.$number}'\n"
        "bad = '{$x} {noun.!number}'\n"
    )
    one, two = made(text)
    # 2 numbers × 3 nouns × 2 others × 2 verbs; 2 numbers × 2 values of x × 3 nouns.
    assert (len(one.items), len(two.items)) == (24, 12)
    assert "x" not in one.items[0].tags
