"""Layouts with a sentence, a word or a judgement in each row, alternating lines, prefixes with endings, and templates."""

import json
from pathlib import Path

import pytest

from syntagm.cli import main
from syntagm.core import InputError, UsageError
from syntagm.runs import import_results
from syntagm.suites import Suite, read_as, read_suite_file

DATA = Path(__file__).parents[1] / "data"


def one(name: str) -> Suite:
    [suite] = read_suite_file(DATA / name) if "?" not in name else read_suite_file(f"{DATA}/{name}")
    return suite


def texts(suite: Suite) -> list[tuple[str, ...]]:
    return [tuple(sentence.text for sentence in item.sentences.values()) for item in suite.items]


class TestLabelled:
    def test_two_rows_of_an_item_are_a_pair_in_either_order(self) -> None:
        first, second = read_suite_file(DATA / "labelled/kites_nl.csv")
        assert (first.name, second.name) == ("kite-binding", "local")
        assert texts(first)[1] == ("Ik zag mezelf op de brug.", "De buurman zag mezelf op de brug.")
        assert first.items[1].tags == {"Cue word(s)_bad": "De buurman"}
        assert first.tags["Cue word(s)_good"] == "Ik"  # shared by all items
        assert first.tags["Critical word(s)"] == "mezelf"
        assert [item.id for item in first.items] == ["1", "2"]

    @pytest.mark.parametrize("item", ["pair", "next"])
    def test_options_name_the_columns(self, item: str) -> None:
        suite = one(f"labelled/rows.csv?sentence=text&label=ok&good=yes&item={item}")
        assert texts(suite) == [("The kite flies.", "The kite fly."), ("The gates open.", "The gates opens.")]
        assert [each.id for each in suite.items] == (["a", "b"] if item == "pair" else ["0", "1"])

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (
                "1,Grammatical,A b c.\n1,Grammatical,A b d.\n",
                "line 2: 2 good and 0 bad sentences of one pair; expected one of",
            ),
            ("1,Grammatical,A b c.\n", "line 2: 1 good and 0 bad"),
            ("1,Grammatical,A b c.\n1,Ungrammatical,\n", "line 3, Sentence: an empty cell"),
            ("1,Grammatical,A b c.\n1,,A b.\n", "line 3, Grammaticality: an empty cell; expected the label"),
            ("1,Grammatical,A b c.\n1,ok,A b.\n", "line 3, Grammaticality: 'ok'; expected one of grammatical"),
        ],
    )
    def test_what_is_no_pair_is_refused_with_its_line(self, tmp_path: Path, content: str, message: str) -> None:
        (tmp_path / "a.csv").write_text("Item,Grammaticality,Sentence\n" + content)
        with pytest.raises(InputError) as caught:
            read_suite_file(f"{tmp_path / 'a.csv'}?format=labelled")
        assert message in str(caught.value)

    def test_a_row_without_a_label_is_no_bad_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("s,l\nA b c.,1\nA b d.,\n")
        with pytest.raises(InputError, match="line 3, l: an empty cell"):
            read_suite_file(f"{tmp_path / 'a.csv'}?format=labelled&sentence=s&label=l&good=1&item=next")

    def test_the_label_of_good_sentences_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("s,l\nA b c.,1\nA b d.,0\n")
        said = read_as(f"{tmp_path / 'a.csv'}?format=labelled&sentence=s&label=l&item=next")
        assert "good where l is 1," in said

    def test_a_missing_column_is_refused_with_the_line_to_type(self) -> None:
        with pytest.raises(UsageError, match=r"'text', 'ok', 'pair'.*rows.csv\?format=labelled&sentence=COLUMN"):
            one("labelled/rows.csv?format=labelled&sentence=text")


PAIR_ROWS = "1,Die Katze schläft.,1\n1,Die Katze schlafen.,0\n"
SINGLE = r"format=judgements&sentence=sentence&label=acceptable"


class TestDamagedPairs:
    """A table of pairs with a damaged one is no table of single sentences."""

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            (
                "1,Die Katzen schlief.,0\n",
                "line 2: 1 good and 2 bad sentences of one pair; expected one of each. Its rows are in lines 2, 3, 4",
            ),
            (PAIR_ROWS, "line 2: 2 good and 2 bad sentences of one pair"),
            ("2,Wir lachen.,1\n2,Wir lachst.,1\n", "line 4: 2 good and 0 bad sentences of one pair"),
            ("2,Wir lachen.,1\n", "line 4: 1 good and 0 bad sentences of one pair; expected one of each. Add the other"),
            ("2,Wir lachen.,1\n2,Wir lachst.,no\n", "line 5, acceptable: 'no'; expected one of grammatical"),
            (",Wir lachen.,1\n,Wir lachst.,0\n", "line 4, pair_id: an empty cell"),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("first", [True, False])
    def test_it_is_refused_with_its_line(self, tmp_path: Path, rows: str, message: str, first: bool) -> None:
        (tmp_path / "a.csv").write_text("pair_id,sentence,acceptable\n" + PAIR_ROWS + rows, encoding="utf-8")
        if not first:  # the same for a damage behind the rows by which formats are recognised
            more = "".join(f"x{number},Wir lachen.,1\nx{number},Wir lachst.,0\n" for number in range(120))
            text = f"pair_id,sentence,acceptable\n{more}{PAIR_ROWS}{rows}"
            (tmp_path / "a.csv").write_text(text, encoding="utf-8")
            message = message.partition(": ")[2].partition(". Its rows")[0]
        with pytest.raises(InputError) as caught:
            read_suite_file(tmp_path / "a.csv")
        assert message in str(caught.value)

    def test_all_good_sentences_may_come_first(self, tmp_path: Path) -> None:
        rows = [f"{number},Wir lachen {label}.,{label}" for label in (1, 0) for number in range(150)]
        (tmp_path / "a.csv").write_text("\n".join(["pair_id,sentence,acceptable", *rows]))
        [suite] = read_suite_file(tmp_path / "a.csv")
        assert texts(suite) == [("Wir lachen 1.", "Wir lachen 0.")] * 150

    def test_items_with_one_of_the_first_rows_each(self, tmp_path: Path) -> None:
        rows = [f"{number},Wir lachen {label}.,{label}" for label in (1, 0) for number in range(150)]
        (tmp_path / "a.csv").write_text("\n".join(["item,sentence,acceptable", *rows]))
        with pytest.raises(InputError, match=rf"line 152: the item '0' of lines 2 and 152; .*{SINGLE} if each row is"):
            read_suite_file(tmp_path / "a.csv")
        [suite] = read_suite_file(f"{tmp_path / 'a.csv'}?{SINGLE}")
        assert len({item.id for item in suite.items}) == 300
        assert suite.items[150].tags == {"item": "0", "label": "0"}
        (tmp_path / "a.csv").write_text("\n".join(["item,sentence,acceptable", *rows[:150]]))
        assert read_as(tmp_path / "a.csv").startswith("judgements: ")

    @pytest.mark.parametrize("item", ["item", "pair_id"])
    def test_two_columns_of_sentences(self, tmp_path: Path, item: str) -> None:
        (tmp_path / "a.csv").write_text(f"{item},text,sentence,acceptable\n1,Wir,Wir lachen.,1\n")
        with pytest.raises(UsageError, match="the columns 'sentence' and 'text'; expected one of sentences"):
            read_suite_file(tmp_path / "a.csv")

    def test_labels_of_two_columns_that_differ(self, tmp_path: Path) -> None:
        rows = "item,sentence,grammatical,acceptable\n1,Wir lachen.,1,1\n1,Wir lachst.,0,1\n"
        (tmp_path / "a.csv").write_text(rows)
        with pytest.raises(InputError, match="line 3: '1' in the column 'acceptable' and '0' in 'grammatical'"):
            read_suite_file(tmp_path / "a.csv")
        [suite] = read_suite_file(f"{tmp_path / 'a.csv'}?format=labelled&label=grammatical")
        assert texts(suite) == [("Wir lachen.", "Wir lachst.")]


def test_the_label_of_two_sentences_and_their_votes() -> None:
    suite = one("qfrblimp/cerfs.jsonl")
    assert texts(suite)[1] == ("La lanterne brille ce soir.", "La lanterne brillent ce soir.")
    assert texts(suite)[0][0] == "Les cerfs-volants volent haut."


class TestJudgements:
    def test_four_cells_without_a_header(self) -> None:
        suite = one("judgements/kites.tsv")
        assert suite.predictions == ()
        assert [item.tags["label"] for item in suite.items] == ["1", "0", "0", "1"]
        assert texts(suite)[2] == ("Which kite did Ida wonder who flew?",)
        assert suite.items[1].tags == {"source": "kt01", "mark": "*", "label": "0"}

    def test_ratings(self) -> None:
        suite = one("judgements/ratings.csv")
        assert [(item.id, item.tags["rating"]) for item in suite.items] == [
            ("a1", "1.25"),
            ("a2", "-0.5"),
            ("a3", "1.5"),
        ]

    @pytest.mark.parametrize("value", ["high", "nan", "inf", "1,5"])
    def test_a_rating_must_be_a_number(self, tmp_path: Path, value: str) -> None:
        (tmp_path / "a.tsv").write_text(f"id\tsentence\tjudgement\n1\tThe kite flies.\t{value}\n")
        with pytest.raises(InputError, match=r"a.tsv, line 2, judgement: "):
            read_suite_file(f"{tmp_path / 'a.tsv'}?format=judgements")


def test_an_ending_is_scored_given_its_prefix() -> None:
    suite = one("continuations/gates.json")
    assert [str(prediction.formula) for prediction in suite.predictions] == ["(ending;%good%) < (ending;%bad%)"]
    good = suite.items[2].sentences["good"]
    assert (good.text, good.content("prefix"), good.content("ending")) == (
        "Those gates opened early.", "Those gates", "opened early.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[[["a", "b"], ["c", ""]]]', "item 0: an empty ending"),
        ('[[["a", "b"], ["c", "d"]], [["a"], ["c", "d"]]]', "item 1: a list; expected [[good prefix, bad prefix]"),
    ],
)
def test_an_item_that_is_no_pair_of_endings(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError) as caught:
        read_suite_file(tmp_path / "a.json")
    assert message in str(caught.value)


class TestAlternating:
    def test_what_comes_first_must_be_named(self) -> None:
        path = "alternating/kites_first_good.txt"
        assert texts(one(f"{path}?format=alternating&first=good"))[0] == ("The kite is here .", "The kite are here .")
        assert texts(one(f"{path}?format=alternating&first=bad"))[0] == ("The kite are here .", "The kite is here .")
        with pytest.raises(UsageError, match=r"first: not given; expected kites_first_good.txt.format=alternating"):
            one(f"{path}?format=alternating")
        with pytest.raises(InputError, match="no format claims it"):
            one(path)

    def test_zorro_is_recognised_by_the_names_of_its_files_only(self, tmp_path: Path) -> None:
        lines = "this kites must be high .\nthis kite must be high .\n" * 3
        for name in ("quantifiers-superlative.txt", "quantifiers-other.txt"):
            (tmp_path / name).write_text(lines)
        [suite] = read_suite_file(tmp_path / "quantifiers-superlative.txt")
        assert texts(suite)[0] == ("this kite must be high .", "this kites must be high .")
        assert "bad sentence of each pair first" in read_as(tmp_path / "quantifiers-superlative.txt")
        with pytest.raises(InputError, match=r"quantifiers-other.txt: no format claims it"):
            read_suite_file(tmp_path / "quantifiers-other.txt")


class TestRegionRows:
    def test_the_critical_word_of_sap(self) -> None:
        suite = one("region_rows/kites_sap.csv")
        sentences = suite.items[0].sentences
        assert list(sentences) == ["amb", "unamb"]
        assert [sentences["unamb"].content(name) for name in ("before", "critical", "spillover1", "spillover2", "rest")] == [
            "While Ida slept, the kite", "flew", "away.", "", "",
        ]  # fmt: skip

    def test_options_name_the_columns_and_a_prediction(self) -> None:
        columns = "item=set&condition=cond&region=zone&content=word"
        suite = one(f"region_rows/zones.csv?{columns}&predict=(verb;%match%) < (verb;%mismatch%)")
        match = suite.items[0].sentences["match"]
        assert (match.text, match.content("subject"), match.content("verb")) == ("The keys are", "The keys", "are")
        assert [prediction.name for prediction in suite.predictions] == ["predicted"]
        words = one("region_rows/zones.csv?item=set&condition=cond&content=word").items[0].sentences["match"].regions
        assert [word.name for word in words] == ["1", "2", "3"]

    def test_a_content_that_begins_with_a_tilde_follows_without_a_space(self, tmp_path: Path) -> None:
        words = ["The,s", "kite,s", '~",",s', "it,v", "flew,v", "~n't,v", "~.,e"]
        rows = "".join(f"1,a,{word}\n" for word in words).replace('~"', '"~')
        (tmp_path / "a.csv").write_text(f"i,c,w,r\n{rows}")
        [suite] = read_suite_file(f"{tmp_path / 'a.csv'}?item=i&condition=c&region=r&content=w")
        sentence = suite.items[0].sentences["a"]
        # As in a spreadsheet with the cells `The kite`, `~, it flew ~n't` ... the marks belong to the region of their row.
        assert sentence.text == "The kite, it flewn't."
        # Another table than SAP's says no language, and how its authors score it.
        assert suite.tags == {}
        assert [sentence.content(name) for name in "sve"] == ["The kite,", "it flewn't", "."]

    def test_a_region_in_two_pieces_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("i,c,r,w\n1,a,x,The\n1,a,y,keys\n1,a,x,are\n")
        with pytest.raises(InputError, match="line 4, r: the region 'x' again, after another one"):
            read_suite_file(f"{tmp_path / 'a.csv'}?item=i&condition=c&region=r&content=w")

    def test_rows_of_several_people_are_no_sentence(self, tmp_path: Path) -> None:
        rows = "1,a, The\n1,a,keys \n1,a,'s\n"
        (tmp_path / "a.csv").write_text("i,c,w\n" + rows * 3)
        with pytest.raises(InputError, match='line 2: the sentence "The keys \'s" 3 times; expected each once'):
            read_suite_file(f"{tmp_path / 'a.csv'}?item=i&condition=c&content=w")
        (tmp_path / "a.csv").write_text("i,c,w\n" + rows)
        [suite] = read_suite_file(f"{tmp_path / 'a.csv'}?item=i&condition=c&content=w")
        assert texts(suite) == [("The keys 's",)]

    def test_rows_of_several_people_are_no_sentence_in_any_order(self, tmp_path: Path) -> None:
        # Neighbouring rows of a region are joined, so that "The The oars oars" would be one sentence.
        (tmp_path / "a.csv").write_text("i,c,r,w\n1,a,x,The\n1,a,x,The\n1,a,y,oars\n1,a,y,oars\n")
        with pytest.raises(InputError, match="line 2: the sentence 'The oars' 2 times; expected each once"):
            read_suite_file(f"{tmp_path / 'a.csv'}?item=i&condition=c&region=r&content=w")
        # In a sentence that repeats itself, the regions are others.
        (tmp_path / "a.csv").write_text("i,c,r,w\n1,a,k,tick\n1,a,l,tock\n1,a,m,tick\n1,a,n,tock\n")
        [suite] = read_suite_file(f"{tmp_path / 'a.csv'}?item=i&condition=c&region=r&content=w")
        assert texts(suite) == [("tick tock tick tock",)]


def test_lists_of_words_in_cells_are_no_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('good,bad\n"[""Bo"", ""hums""]","[""Bo"", ""hum""]"\n')
    with pytest.raises(InputError, match=r"line 2, good: a list of words: .*; expected text"):
        read_suite_file(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text('i,c,w\n1,a,"[""Bo"", ""hums""]"\n')
    with pytest.raises(InputError, match="line 2: a list of words"):
        read_suite_file(f"{tmp_path / 'a.csv'}?item=i&condition=c&content=w")


class TestPrefixesAndEndings:
    """The layouts of published sets whose forms are scored after a prefix."""

    def test_tasks_of_big_bench(self, tmp_path: Path) -> None:
        suite = one("continuations/oars.json")
        assert texts(suite) == [
            ("The oar of the boats floats", "The oar of the boats float"),
            ("The oars of the boat float", "The oars of the boat floats"),
        ]
        assert suite.items[1].sentences["good"].content("ending") == "float"
        for scores in ('{"is": 1}', '{"is": 1, "are": 1}', '{"is": 1, "are": 0, "am": 0}', '{"is": true, "are": 0}'):
            path = tmp_path / "task.json"
            path.write_text(f'{{"examples": [{{"input": "The oar", "target_scores": {scores}}}]}}')
            with pytest.raises(
                InputError, match=r"example 0, target_scores: 'is': .*; expected two targets with different"
            ):
                read_suite_file(path)

    def test_the_table_of_forms(self, tmp_path: Path) -> None:
        suite = one("continuations/oars.tab")
        prefix = "The oar that the rowers broke"
        assert texts(suite) == [(f"{prefix} sinks", f"{prefix} sink"), ("The tall man rows", "The tall man row")]
        assert [(item.id, item.tags) for item in suite.items] == [
            ("NV-3-0", {"n_attr": "1"}),
            ("NV-3-1", {"n_attr": "0"}),
        ]
        content = (DATA / "continuations/oars.tab").read_text()
        for damaged in (content.replace("wrong", "correct"), content.rpartition("NV")[0]):
            (tmp_path / "oars.tab").write_text(damaged)
            with pytest.raises(
                InputError, match=r"line [24]: 'correct|line 4: 'wrong' of the sentence NV-3-1; expected a"
            ):
                read_suite_file(tmp_path / "oars.tab")

    @pytest.mark.parametrize("first", [0, -1])
    def test_places_of_forms_beside_their_texts(self, tmp_path: Path, first: int) -> None:
        (tmp_path / "oars.text").write_text("the oar of boats sinks . <eos>\nmen row . <eos>\n")
        gold = tmp_path / "oars.gold"
        gold.write_text(f"{4 + first}\tsinks\tsink\t1\n{1 + first}\trow\trows\t0\n")
        [suite] = read_suite_file(gold)
        assert texts(suite) == [("the oar of boats sinks", "the oar of boats sink"), ("men row", "men rows")]
        assert [item.tags for item in suite.items] == [{"attractors": "1"}, {"attractors": "0"}]
        assert read_as(gold).startswith("continuations: the words before the place, then the right")
        with pytest.raises(InputError, match=r"in its file \.gold\. .*Name oars\.gold"):
            read_suite_file(tmp_path / "oars.text")
        gold.write_text(f"{4 + first}\tsinks\tsink\t1\n5\trow\trows\t0\n")
        with pytest.raises(InputError, match="line 2: 'row' at 5 of 'men row"):
            read_suite_file(gold)
        gold.write_text("4\tsinks\tsink\n")
        with pytest.raises(InputError, match=r"1 lines, and 2 in oars\.text"):
            read_suite_file(gold)
        gold.write_text("4\tsinks\tsink\nrow\n")
        with pytest.raises(InputError, match="line 2: 'row'; expected place"):
            read_suite_file(gold)

    def test_their_languages(self, tmp_path: Path) -> None:
        folder = tmp_path / "Italian"
        folder.mkdir()
        (folder / "generated.tab").write_bytes((DATA / "continuations/oars.tab").read_bytes())
        [suite] = read_suite_file(folder / "generated.tab")
        assert suite.tags["language"] == "it"


def test_several_variables_that_decide_the_label(tmp_path: Path) -> None:
    entry = {
        "templates": ["The{noun} of the{owner} and the {other}"], "label": ["noun", "owner"], "label_prepend_space": True,
        "labels": {"sg": ["is"], "pl": ["are"]}, "variables": {
            "noun": {"sg": ["oar"], "pl": ["oars"]}, "owner": {"sg": ["man"], "pl": ["men"]}, "other": ["boat"],
        },
    }  # fmt: skip
    path = tmp_path / "oars.json"
    path.write_text(json.dumps({"oars": entry}))
    [suite] = read_suite_file(path)
    assert sorted(texts(suite)) == [
        ("The oar of the man and the boat is", "The oar of the man and the boat are"),
        ("The oars of the men and the boat are", "The oars of the men and the boat is"),
    ]
    path.write_text(json.dumps({"oars": entry | {"label": ["noun", "other"]}}))
    with pytest.raises(InputError, match="variables, other: a list; expected words by their labels"):
        read_suite_file(path)


IBEX = """# Results on Sunday, 01 Mar 2026 10:00:00 UTC
# USER AGENT: none
# Columns below this comment are as follows:
# 1. Results reception time.
# 2. MD5 hash of participant's IP address.
1772359200,0a,DashedSentence,1,0,good,1,The,301
"""
JSPSYCH = (
    'rt,item,condition,sentence,words,trial_type,trial_index,time_elapsed\n9,1,good,The oar sinks,"[""The""]",spr,0,9\n'
)


@pytest.mark.parametrize(
    ("name", "text", "program"),
    [
        ("ibex.csv", IBEX, "Ibex or PCIbex"), ("jspsych.csv", JSPSYCH, "jsPsych"),
        ("jspsych.json", '[{\n"rt": {"a": 1}, "trial_type": "spr", "trial_index": 0, "time_elapsed": 9\n}]', "jsPsych"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("options", ["", "?item=item&condition=condition&content=sentence", "?format=pairs"])
def test_raw_results_of_experiments_are_refused_by_name(
    tmp_path: Path, name: str, text: str, program: str, options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)
    assert main(["run", "toy", "--suite", f"{tmp_path / name}{options}", "-o", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert f"{name}: raw results of {program}; expected suites" in said
    assert "`syntagm reading` reads reading times" in said
    with pytest.raises(InputError, match=f"raw results of {program}; expected results of minicons"):
        import_results("minicons", [tmp_path / name], None, "m")


def test_labels_go_on_after_the_same_prefix() -> None:
    suite = one("causalgym/kites.json?n=20")
    assert [prediction.name for prediction in suite.predictions] == ["full_sentence", "one_prefix"]
    assert len(suite.items) == 20
    assert len(set(texts(suite))) == 20
    for item in suite.items:
        plural = item.tags["label"] == "plural"
        assert item.sentences["good"].content("critical") in (("are", "were") if plural else ("is", "was"))
        assert item.sentences["bad"].content("critical") in (("is", "was") if plural else ("are", "were"))
    # There are 2 subjects of each number, 2 verbs, 2 objects and 2 labels.
    assert len(one("causalgym/kites.json?n=100").items) == 4 * 2 * 2 * 2


class TestPairs:
    def table(self, folder: Path) -> str:
        rows = [
            "d.1,Ida flew a kite.,u.1,Ida flew kite a.,",
            "d.2,Bo left.,u.2,Bo leaved.,twice",
            "d.3,It is.,u.3,It are.,",
        ]
        (folder / "p.csv").write_text(
            "gramm_id,gramm_sentence,ungramm_id,ungramm_sentence,odd\n" + "\n".join(rows) + "\n"
        )
        ratings = "id,sentence,judgement\nd.1,Ida flew a kite.,1\nd.1,Ida flew a kite.,0.5\nu.1,x,-1\n"
        (folder / "r.csv").write_text(ratings)
        return str(folder / "p.csv")

    def test_discarded_rows_are_tagged_and_ratings_joined(self, tmp_path: Path) -> None:
        [suite] = read_suite_file(self.table(tmp_path) + "?discard=odd&ratings=r.csv")
        assert [item.tags.get("discard") for item in suite.items] == [None, "twice", None]
        first = suite.items[0].tags
        assert (first["rating_good"], first["rating_bad"]) == ("0.75", "-1")
        assert "rating_good" not in suite.items[1].tags

    def test_ratings_of_which_no_sentence_is_in_the_table_are_refused(self, tmp_path: Path) -> None:
        table = self.table(tmp_path)
        (tmp_path / "r.csv").write_text("id,judgement\n d.1 ,1\n")
        [suite] = read_suite_file(table + "?ratings=r.csv")
        assert suite.items[0].tags["rating_good"] == "1"
        (tmp_path / "r.csv").write_text("id,judgement\nd-1,1\n")
        with pytest.raises(InputError, match="ratings of 'd-1' and others, none of which the table of pairs has"):
            read_suite_file(table + "?ratings=r.csv")
        (tmp_path / "r.csv").write_text("id,judgement\n")
        with pytest.raises(InputError, match=r"r\.csv: no ratings; expected a rating of a sentence in each row"):
            read_suite_file(table + "?ratings=r.csv")

    def test_ratings_of_another_folder_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="the name of a file in the folder"):
            read_suite_file(self.table(tmp_path) + "?ratings=../r.csv")


def test_ids_count_anew_in_each_suite_of_judgements(tmp_path: Path) -> None:
    table = tmp_path / "ratings.csv"
    table.write_text("part,item,acceptability,sentence\np,1,6.5,A cat sleeps.\np,7,2.5,A cat sleep.\nq,7,6,Dogs run.\n")
    suites = read_suite_file(f"{table}?format=judgements&suite=part")
    assert [(suite.name, [item.id for item in suite.items]) for suite in suites] == [("p", ["1", "7"]), ("q", ["7"])]


def test_a_slip_in_a_label_is_not_called_the_label_of_good_sentences(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("item,grammaticality,sentence\n1,grammatical,A cat sleeps.\n1,ungramatical,A cat sleep.\n")
    with pytest.raises(
        InputError, match="Mend it, or add &good=ungramatical if this is the label of all good sentences"
    ):
        read_suite_file(f"{table}?format=labelled")
