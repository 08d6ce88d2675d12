"""Tables that are no suites: none is read as one, and the refusal shows their columns."""

from pathlib import Path

import pytest

from syntagm.core import InputError
from syntagm.suites import read_as, read_suite_file

# File -> content. All but the last few would have been pairs for a reader that looks at the number of columns only.
OTHERS = {
    # Word lists, dictionaries, forms.
    "counts.tsv": "the\t4021\nof\t2760\nand\t2511\n",
    "counts_with_commas.txt": "the\t1,061,396\nof\t593,677\n",
    "counts_and_header.tsv": "word\tcount\nthe\t4021\nof\t2760\n",
    "positions.tsv": "the\t1\nlantern\t2\nglows\t3\n",
    "dictionary.tsv": "lantern\ta lamp in a case of glass\nkite\ta toy that flies on a string\n",
    "phrases.tsv": "to put up with\tertragen\nto look forward to\tsich freuen auf\n",
    "synonyms.tsv": "to run\tto sprint\nto rest\tto pause\nto glow\tto shine\n",
    "lemmas.tsv": "kites\tkite\nflew\tfly\nlanterns\tlantern\n",
    "sounds.tsv": "kite\tkaɪt\nlantern\tˈlæntən\n",
    "scripts.tsv": "中国人\t中國人\n学生们\t學生們\n写字\t寫字\n",
    "spellings.txt": "colour\tcolor\ncentre\tcenter\n",
    "abbreviations.tsv": "e. g.\tfor example\ni. e.\tthat is\n",
    "associations.tsv": "kite\twind\nlantern\tlight\ngate\tgarden\n",
    # Sentences beside something else.
    "ratings.tsv": "The kite is high.\t6.2\nHigh the kite is.\t3.1\n",
    "labels.tsv": "The kite is high.\t1\nThe kite are high.\t0\n",
    "starred.txt": "1\tThe kite is high.\n*\tThe kite are high.\n",
    "tags.tsv": "The kite is high\tDET NOUN AUX ADJ\nIda sings a song\tPROPN VERB DET NOUN\n",
    "glosses.tsv": "Ida singt ein Lied\tIda sing-3SG a.NOM song\nDer Hund bellt laut\tthe dog bark-3SG loudly\n",
    "translations.tsv": "The kite is high.\tDer Drachen ist hoch.\nIda sings a song.\tIda singt ein Lied.\n",
    "lower_case.tsv": "The Kite Is High.\tthe kite is high.\nIda Sings A Song.\tida sings a song.\n",
    "tokens.tsv": "The kite is high.\tThe kite is high .\nIda sings, Bo hums.\tIda sings , Bo hums .\n",
    "priming.tsv": "the kite is high\tthe kite is high the gate is open\nIda sings a song\tIda sings a song Bo hums a tune\n",
    "repeated.tsv": "the kite is high\tthe kite is high the kite is high\nIda sings well\tIda sings well Ida sings well\n",
    "questions.tsv": "Who flew the kite?\tIda did, in the park.\nWhere is the gate?\tBehind the old house.\n",
    "dialogue.txt": "Hello there, Ida!\tGood morning, how are you?\nI am fine.\tThat is nice to hear.\n",
    "titles.tsv": "https://example.org/kites\tHow to fly a kite in the wind\nhttps://example.org/gates\tGates of the world\n",
    # Logs, settings, places.
    "log.tsv": "2024-05-01 10:00:00\tjob 5 has started\n2024-05-01 10:00:07\tjob 5 has ended\n",
    "stages.tsv": "05-01 10:00 INFO job 5\t05-01 10:07 INFO job 6\n05-02 9:00 INFO job 7\t05-02 9:05 INFO job 8\n",
    "settings.txt": "language\ten\nfont size\t12\n",
    "places.tsv": "52.52\t13.40\n48.85\t2.35\n",
    "times.tsv": "the\t312\nkite\t355\nis\t298\n",
    # Headers that tables of pairs have, too.
    "votes.csv": "sentence,acceptable,unacceptable\nThe kite is high.,17,3\nHigh kite the is.,2,18\n",
    "feelings.tsv": "product\tgood\tbad\nkites\t12\t3\nlanterns\t8\t0\n",
    "answers.csv": "person,correct,wrong\nIda,17,3\nBo,12,8\n",
    "quiz.csv": "question;correct;wrong\nThe capital of France?;Paris;Lyon\nThe colour of snow?;white;black\n",
    "quiz.jsonl": '{"question": "Where is the gate?", "correct": "behind the house", "wrong": "in a tree"}\n',
    "counts.jsonl": '{"word": "kite", "good": 12, "bad": 3}\n{"word": "gate", "good": 1, "bad": 0}\n',
    "languages.csv": "source_sentence,target_sentence\nThe kite is high.,Der Drachen ist hoch.\n",
    "corrections.tsv": "source_sentence\ttarget_sentence\nThe kite are high.\tThe kite is high.\n",
    "sides.csv": "sentence_a,sentence_b,label\nThe kite is high.,The kite are high.,0\nIda sing.,Ida sings.,1\n",
    "inference.tsv": "premise\thypothesis\tlabel\nThe kite is high up.\tThe kite is up.\tentailment\n",
    "nested.jsonl": '{"data": {"good": "The kite is high.", "bad": "The kite are high."}}\n',
    # Experiments: tables of regions without predictions, whose columns are measurements.
    "means.csv": "item,condition,rt\n1,match,312.5\n1,mismatch,355.0\n",
    "words.csv": "item,condition,word,rt\n1,match,kite,312\n1,mismatch,kites,355\n",
    "judged.tsv": "item\tcondition\tjudgement\n1\tgood\t6.5\n1\tbad\t2.5\n",
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_tables_are_not_claimed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(OTHERS[name], encoding="utf-8")
    with pytest.raises(InputError, match=f"{name}: no format claims it: its (first row is|keys are) '"):
        read_suite_file(tmp_path / name)


@pytest.mark.parametrize("name", [name for name in OTHERS if name.endswith((".tsv", ".txt"))])
def test_naming_the_format_does_not_make_a_table_without_a_header_one_of_pairs(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(OTHERS[name], encoding="utf-8")
    if name == "feelings.tsv":  # its header has known names
        return
    with pytest.raises(InputError, match="expected a known pair of columns"):
        read_suite_file(f"{tmp_path / name}?format=pairs")


def test_single_sentences_with_labels_are_refused_with_the_names_of_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "cola.csv"
    path.write_text("sentence,label\nThe keys are here.,1\nThe keys is here.,0\n")
    with pytest.raises(
        InputError, match=r"write cola\.csv\?format=judgements&sentence=sentence&label=label; if two rows"
    ):
        read_suite_file(path)
    [suite] = read_suite_file(f"{path}?format=judgements&sentence=sentence&label=label")
    assert [item.tags["label"] for item in suite.items] == ["1", "0"]


# Layouts of tables whose columns say what they are, and what they are read as.
PLAIN = {
    "case.csv": ("Good Sentence,badSentence\nDer Hund bellt.,Der Hund bellen.\n", "pairs"),
    "spaces.csv": ("\ufeffCorrect ;Incorrect ;Type\nLes chiens aboient.;Les chiens aboie.;accord\n", "pairs"),
    "plural.tsv": ("correct_sentences\tincorrect_sentences\nKoirat haukkuvat.\tKoirat haukkuu.\n", "pairs"),
    "text.jsonl": ('{"text_good": "Hunden sover.", "text_bad": "Hund sover.", "split": "test"}\n', "pairs"),
    "chosen.jsonl": ('{"chosen": "The dog has slept.", "rejected": "The dog has sleep."}\n', "pairs"),
    "original.csv": ("original,corrupted\nThe dog has slept.,The dog has sleep.\n", "pairs"),
    "rows.csv": (
        "pair_id,text,is_acceptable\n1,Il cane dorme.,True\n1,Il cane dormono.,False\n"
        "2,I cani dorme.,False\n2,I cani dormono.,True\n",
        "labelled",
    ),
    "words.csv": ("item,sentence,label\n1,Hij slaapt.,good\n1,Hij slapen.,bad\n", "labelled"),
    "single.csv": ("text,corruption_type,label\nHunden sover.,,correct\nsover Hunden.,flip,incorrect\n", "judgements"),
    "numbers.csv": ("id,sentence,acceptable,error_type\n0,Pes spí.,1,0\n1,Pes spát.,0,Syntax\n", "judgements"),
    "lines.json": (
        '{"uid": 0, "label": 1, "diacritic": "", "sentence": "犬が吠える。"}\n'
        '{"uid": 1, "label": 0, "diacritic": "*", "sentence": "犬を吠える。"}\n',
        "judgements",
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_columns_need_no_options(tmp_path: Path, name: str) -> None:
    content, format = PLAIN[name]
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_as(tmp_path / name).startswith(f"{format}: ")
    [suite] = read_suite_file(tmp_path / name)
    texts = [{key: sentence.text for key, sentence in item.sentences.items()} for item in suite.items]
    wanted = sum(bool(line.strip()) for line in content.splitlines()) - (not name.endswith(("json", "jsonl")))
    if format == "judgements":
        assert [item.tags["label"] for item in suite.items] == ["1", "0"]
        assert len(texts) == wanted
    else:
        assert len(texts) == (wanted / 2 if format == "labelled" else wanted)
        assert all(text["good"] in content and text["bad"] in content for text in texts)
        lengths = content.index(texts[0]["good"]) < content.index(texts[0]["bad"])
        assert lengths, "in these files, the first pair begins with the good one"


# The same names where they mean something else.
NOT_PLAIN = {
    "preferences.jsonl": '{"chosen": "Sure, here is a poem.", "rejected": "I can not help with that at all."}\n',
    "triplets.csv": "anchor,positive,negative\nA dog sleeps.,A pet is at rest now.,The car is red.\n",
    "edits.csv": "original,corrupted\n0.1,0.9\n",
    "sentiment.csv": "text,label\nWhat a film!,1\nWhat a bore!,0\n",
    "spans.csv": "item,sentence,label\n1,The dog sleeps.,1\n1,The dog sleep.,0\n",
    "answers.jsonl": '{"correct": "Paris", "incorrect": "a town in the north"}\n',
    "three.tsv": "The dog is asleep.\tThe dog is awake.\tcontradiction\n",
}


@pytest.mark.parametrize("name", NOT_PLAIN)
def test_the_same_names_for_other_things(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(NOT_PLAIN[name], encoding="utf-8")
    with pytest.raises(InputError, match="no format claims it"):
        read_suite_file(tmp_path / name)
