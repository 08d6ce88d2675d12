from syntagm.suites import suite as suite, word_list as word_list
from syntagm.suites.check import (
    RULES as RULES,
    SHOWN_BY_RUNS as SHOWN_BY_RUNS,
    Finding as Finding,
    near_duplicates as near_duplicates,
    repeated as repeated,
    swapped as swapped,
    violations as violations,
)
from syntagm.suites.check._spot import Spot as Spot, rule as rule, sentences as sentences
from syntagm.suites.check.alike import within as within
from syntagm.suites.check.spelling import apart as apart, foreign as foreign, unescaped as unescaped
from syntagm.suites.formats import spreadsheet as spreadsheet, syntaxgym as syntaxgym, template as template
from syntagm.suites.formats.marvin2018 import unpaired as unpaired
from syntagm.suites.formats.spreadsheet import WHOLE as WHOLE, contents_of as contents_of, sentence_of as sentence_of
from syntagm.suites.formula import (
    Binary as Binary,
    Formula as Formula,
    Node as Node,
    Reference as Reference,
    compared as compared,
    parse as parse,
)
from syntagm.suites.languages import frequency as frequency, spelling as spelling, tags as tags, words as words
from syntagm.suites.languages.tags import UNKNOWN as UNKNOWN, Language as Language, find as find
from syntagm.suites.languages.words import (
    Direction as Direction,
    direction as direction,
    direction_of as direction_of,
    main_script as main_script,
)
from syntagm.suites.materials import (
    asked as asked,
    datasets as datasets,
    excluded as excluded,
    lm_eval_task as lm_eval_task,
    mending as mending,
    treebank as treebank,
)
from syntagm.suites.materials.conversion import (
    convert as convert,
    formats_for as formats_for,
    whole as whole,
    writable as writable,
    write_suites as write_suites,
)
from syntagm.suites.materials.excluded import Excluded as Excluded
from syntagm.suites.materials.exposure import (
    COLUMNS as COLUMNS,
    TAG as TAG,
    Construction as Construction,
    Tree as Tree,
    Wanted as Wanted,
    read_construction as read_construction,
    segments as segments,
)
from syntagm.suites.materials.reading import (
    HEAD as HEAD,
    answers_of as answers_of,
    claimed as claimed,
    format_of as format_of,
    option_names as option_names,
    options_of as options_of,
    read_as as read_as,
    read_suite_file as read_suite_file,
    recognised as recognised,
    unscored_columns as unscored_columns,
    with_options as with_options,
)
from syntagm.suites.materials.suite_files import (
    SuiteFiles as SuiteFiles,
    Suites as Suites,
    bundled_suites as bundled_suites,
    collections as collections,
    expand as expand,
    listed as listed,
    make as make,
    read_suites as read_suites,
    renamed as renamed,
    suites_of as suites_of,
    told_apart as told_apart,
)
from syntagm.suites.suite import (
    AGGREGATES as AGGREGATES,
    ALL_ITEMS as ALL_ITEMS,
    LANGUAGES as LANGUAGES,
    SCORED as SCORED,
    Aggregate as Aggregate,
    Draw as Draw,
    Item as Item,
    Prediction as Prediction,
    Region as Region,
    Sampled as Sampled,
    Sentence as Sentence,
    Suite as Suite,
    exclusion_of as exclusion_of,
    few_words as few_words,
    language_of as language_of,
    public_tags as public_tags,
    published as published,
    sample_of as sample_of,
    sampled as sampled,
    shared_words as shared_words,
    without as without,
)
from syntagm.suites.templates import expression as expression, schema as schema
from syntagm.suites.templates.count import Counted as Counted, Counter as Counter
from syntagm.suites.templates.draw import meets as meets
from syntagm.suites.templates.expand import Effort as Effort
from syntagm.suites.templates.lexicon import (
    Index as Index,
    Lexicon as Lexicon,
    Word as Word,
    choice as choice,
    lexical_class as lexical_class,
    of_words as of_words,
)
from syntagm.suites.templates.plan import Plan as Plan, Planner as Planner, Slot as Slot, plans as plans
from syntagm.suites.templates.sample import Draws as Draws, counts as counts
from syntagm.suites.templates.template import read_lexicon as read_lexicon
from syntagm.suites.word_list import (
    WordList as WordList,
    WordRow as WordRow,
    kept as kept,
    read_word_list as read_word_list,
)
