"""Roles of columns in tables of reading times, and the names by which columns are known.

A role is what a column means: the time, the participant, the text. A column has a role because the user says so (`time=RT`),
because a layout says so, or because its name is a synonym of the role. What was chosen is always reported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from syntagm.core import UsageError, did_you_mean


# Layouts of public corpora, whose files stay with those who published them. The names of columns were compared with
# published files, descriptions and programs as far as these are public (`checked`); `syntagm reading check` shows what was
# read. Several of these corpora can be downloaded with the package pymovements, for example with
# `pymovements.Dataset("OneStop", path="data").download()`.
@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a published file.

    Arguments:
        name: the name that users write.
        file: the file, and who published it.
        columns: role -> columns.
        checked: what the names of columns were compared with: the published `file`, its published `description`, or
            `programs` that read it; "" if with nothing.
        unit: the unit of its times.
    """

    name: str
    file: str
    columns: Mapping[str, tuple[str, ...]]
    checked: str = ""
    unit: str = "ms"


LAYOUTS = (
    Layout("natural-stories", "processed_RTs.tsv of Natural Stories (Futrell et al. 2021)", {
        "participant": ("WorkerId",), "text": ("item",), "position": ("zone",), "word": ("word",), "time": ("RT",),
    }, "programs"),
    Layout("natural-stories-means", "processed_wordinfo.tsv of Natural Stories: means of words", {
        "text": ("item",), "position": ("zone",), "word": ("word",), "time": ("meanItemRT",),
    }, "file"),
    Layout("provo", "Provo_Corpus-Eyetracking_Data.csv (Luke & Christianson 2018): first-run dwell times", {
        "participant": ("Participant_ID",), "text": ("Text_ID",), "sentence": ("Sentence_Number",),
        "position": ("Word_Number",), "word": ("Word",), "time": ("IA_FIRST_RUN_DWELL_TIME",),
    }, "programs"),
    Layout("geco", "MonolingualReadingData of GECO (Cop et al. 2017), saved as CSV: gaze durations", {
        "participant": ("PP_NR",), "text": ("PART", "TRIAL"), "position": ("WORD_ID_WITHIN_TRIAL",), "word": ("WORD",),
        "time": ("WORD_GAZE_DURATION",),
    }, "programs"),
    Layout("ucl-spr", "selfpacedreading.RT.txt of the UCL corpus (Frank et al. 2013)", {
        "participant": ("subj_nr",), "text": ("sent_nr",), "position": ("word_pos",), "word": ("word",), "time": ("RT",),
        "correct": ("correct",),
    }, "programs"),
    Layout("ucl-eye", "eyetracking.RT.txt of the UCL corpus (Frank et al. 2013): first-pass times", {
        "participant": ("subj_nr",), "text": ("sent_nr",), "position": ("word_pos",), "word": ("word",),
        "time": ("RTfirstpass",),
    }, "programs"),
    Layout("brown", "self-paced reading of the Brown corpus (Smith & Levy 2013)", {
        "participant": ("subject",), "text": ("text_id",), "position": ("text_pos",), "word": ("word",), "time": ("time",),
    }, "programs"),
    Layout("meco", "joint_data_trimmed of MECO L1 (Siegelman et al. 2022), saved as CSV: first-run durations", {
        "participant": ("uniform_id",), "language": ("lang",), "text": ("trialid",), "sentence": ("sentnum",),
        "position": ("ianum",), "word": ("ia",), "time": ("firstrun.dur",),
    }, "description"),
    Layout("onestop", "ia_Paragraph.csv of OneStop (Berzak et al. 2025): first-run dwell times", {
        "participant": ("participant_id",),
        "text": ("article_batch", "article_id", "paragraph_id", "difficulty_level", "repeated_reading_trial"),
        "position": ("IA_ID",), "word": ("IA_LABEL",), "time": ("IA_FIRST_RUN_DWELL_TIME",),
    }, "programs, but for IA_LABEL"),
    Layout("zuco", "words of ZuCo (Hollenstein et al. 2018), exported from its .mat files: gaze durations", {
        "participant": ("subject",), "text": ("sentence_id",), "position": ("word_idx",), "word": ("word",), "time": ("GD",),
    }),
    Layout("dundee", "a table made of the Dundee corpus (Kennedy et al. 2003), which has a licence: gaze durations", {
        "participant": ("subject",), "text": ("text",), "position": ("wnum",), "word": ("word",), "time": ("gaze",),
    }),
)  # fmt: skip


def find_layout(name: str) -> Layout:
    known = {layout.name: layout for layout in LAYOUTS}
    if name not in known:
        raise UsageError("--layout", repr(name), "one of " + ", ".join(known), did_you_mean(name, known))
    return known[name]


@dataclass(frozen=True, slots=True)
class Role:
    """What a column can mean."""

    name: str  # the name of the role, which is also the column's name in tables that Syntagm writes
    meaning: str  # what the column holds
    synonyms: tuple[str, ...] = ()  # other names, the likeliest first; letters only, in lower case (see `_plain`)
    joint: bool = False  # whether several columns can share the role, joined by `+`


ROLES = (
    Role("time", "the reading time, in milliseconds", (
        "rt", "ms", "readingtime", "reactiontime", "meanitemrt", "meanrt", "rtmean", "readtime", "latency", "duration",
        "logrt", "psychometric", "iafirstrundwelltime", "wordgazeduration", "rtfirstpass", "gazeduration", "gazert",
        "firstrundur",
    )),
    Role("participant", "the person who read", (
        "subject", "subj", "participantid", "subjectid", "subjid", "workerid", "worker", "person", "reader", "ppnr", "readerid",
        "subjnr", "subid", "md5hashofparticipantsipaddress",
    ), joint=True),
    Role("list", "the list that the participant saw", ("group", "latinsquaregroup")),
    Role("text", "the text: a story, or one version of an item", (
        "story", "textid", "passage", "passageid", "document", "doc", "docid", "trialid", "trial", "article",
        "paragraph", "textnr",
        "uniqueparagraphid",
        "sentnr",
    ), joint=True),
    Role("language", "the language, in whose texts names may recur", ("lang",)),
    Role("sentence", "the sentence in its text", (
        "sent", "sentenceid", "sentid", "sentnum", "sentencenumber", "sentnumber", "line",
    ), joint=True),
    Role("position", "the number of the word in its text", (
        "wordposition", "zone", "index", "wordnumber", "wordpos", "ianum", "iaid", "wordid", "textpos", "sentencewordid",
        "wordinsentence", "wordnum", "wordnr", "wordno",
    )),
    Role("word", "the word that was shown", (
        "eachword", "form", "ia", "ialabel", "wordinexp", "string",
    )),
    Role("region", "the region of the sentence", ("roi", "regionname", "area"), joint=True),
    Role("suite", "the suite, or construction", ("construction", "experiment", "type"), joint=True),
    Role("condition", "the condition", ("cond", "conditions"), joint=True),
    Role("item", "the item", ("itemid", "itemnumber", "itemnr"), joint=True),
    Role("correct", "whether the comprehension question was answered correctly", (
        "iscorrect", "accuracy", "answercorrect", "questioncorrect",
    )),
    Role("model", "the language model", ("lm", "modelname")),
    Role("bits", "the surprisal of the word, in bits", ("surprisal", "surp", "surprisalbits", "sumsurprisalbase2")),
    Role("entropy", "the entropy of the distribution from which the word is taken, in bits", ("ent", "nextwordentropy")),
    Role("token", "a token of a scored text; all of them together are the text"),
    Role("logprob", "the natural logarithm of the probability of the token or word", ("logprobability", "lnprob")),
    Role("length", "the number of characters of the word", ("len", "wordlength", "wlen", "nchar")),
    Role("frequency", "the frequency of the word", (
        "freq", "logfreq", "logfrequency", "unigram", "unigramfrequency", "zipf",
    )),
    Role("known", "whether the word is in the vocabulary of the model", ("invocabulary",)),
)  # fmt: skip
BY_NAME = {role.name: role for role in ROLES}

Chosen = Mapping[str, tuple[str, ...]]


def read(pairs: Sequence[str], names: Sequence[str], place: str) -> dict[str, tuple[str, ...]]:
    """Read what the user says of columns: `time=RT`, `text=CONSTRUCTION+item`.

    Arguments:
        pairs: `ROLE=COLUMN`, several joined by commas or not.
        names: the columns of the table.
        place: the file, for messages.

    Raises:
        UsageError: there is no such role or column.

    >>> read(["time=RT,text=story+part"], ["RT", "story", "part"], "times.csv")
    {'time': ('RT',), 'text': ('story', 'part')}
    """
    chosen: dict[str, tuple[str, ...]] = {}
    for pair in [part for written in pairs for part in written.split(",")]:
        name, equals, value = (text.strip() for text in pair.partition("="))
        if not equals or not value:
            raise UsageError("--columns", repr(pair), "ROLE=COLUMN, for example time=RT")
        if name not in BY_NAME:
            raise UsageError(
                "--columns", f"no role {name!r}", "one of " + ", ".join(BY_NAME), did_you_mean(name, BY_NAME)
            )
        columns = (value,) if value in names else tuple(part.strip() for part in value.split("+"))
        for column in columns:
            if column not in names:
                cure = did_you_mean(column, names)
                raise UsageError(
                    f"--columns {pair}", f"no column {column!r} in {place}", "one of " + ", ".join(names), cure
                )
        if len(columns) > 1 and not BY_NAME[name].joint:
            raise UsageError(f"--columns {pair}", f"{len(columns)} columns", "one column")
        chosen[name] = columns
    return chosen


def choose(names: Sequence[str], given: Chosen, wanted: Sequence[str] = tuple(BY_NAME)) -> dict[str, tuple[str, ...]]:
    """Choose the columns of roles: those that were given, and otherwise those with the role's name or a synonym.

    A column has one role; one that was given, or that is named like a role, is no synonym of another. Without a column for
    the text, each item is one.

    Arguments:
        names: the columns of the table.
        given: role -> columns, as from `read`.
        wanted: the roles to look for.

    >>> choose(["WorkerId", "story", "zone", "RT", "word"], {})
    {'time': ('RT',), 'participant': ('WorkerId',), 'text': ('story',), 'position': ('zone',), 'word': ('word',)}
    >>> choose(["word_nr", "word"], {})
    {'position': ('word_nr',), 'word': ('word',)}
    """
    chosen = {role: columns for role, columns in given.items() if role in wanted}
    taken = {column for columns in given.values() for column in columns}
    exact = {_plain(name): name for name in reversed(names)}
    for role in wanted:
        if role not in chosen and (column := exact.get(role)) and column not in taken:
            chosen[role] = (column,)
            taken.add(column)
    for role in wanted:
        if role in chosen:
            continue
        for synonym in (role, *BY_NAME[role].synonyms):
            if (column := exact.get(synonym)) and column not in taken:
                chosen[role] = (column,)
                taken.add(column)
                break
    if "text" in wanted and "text" not in chosen and "item" in chosen:
        chosen["text"] = chosen["item"]
    return {name: chosen[name] for name in BY_NAME if name in chosen}


def _plain(name: str) -> str:
    """Return the letters and digits of a name in lower case.

    >>> _plain("Sentence.Number"), _plain("EachWord")
    ('sentencenumber', 'eachword')
    """
    return "".join(character for character in name.casefold() if character.isalnum())
