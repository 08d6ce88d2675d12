"""Layouts of public corpora of reading times: what their columns mean. The files stay with those who published them.

The names of columns were compared with published files, descriptions and programs as far as these are public (`checked`);
`syntagm reading check` shows what was read. Several of these corpora can be downloaded with the package pymovements, for
example with `pymovements.Dataset("OneStop", path="data").download()`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from syntagm.core import UsageError, did_you_mean


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


def find(name: str) -> Layout:
    known = {layout.name: layout for layout in LAYOUTS}
    if name not in known:
        raise UsageError("--layout", repr(name), "one of " + ", ".join(known), did_you_mean(name, known))
    return known[name]
