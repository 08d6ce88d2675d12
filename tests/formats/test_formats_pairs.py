"""Tables of minimal pairs, and the small formats: CLAMS, Zorro, CLiMP, COMPS, EWoK."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from toy_runs import interrupt, toy_run

from syntagm.core import InputError, RunError, UsageError
from syntagm.runs import open_run, well_formed
from syntagm.suites import (
    Finding,
    Sentence,
    Suite,
    claimed,
    option_names,
    published,
    read_as,
    read_suite_file,
    violations,
)
from syntagm.suites.formats import _pair, pairs

DATA = Path(__file__).parents[1] / "data"
BLIMP = Path(__file__).resolve().parents[3] / "shared" / "data" / "blimp"


def one(name: str) -> Suite:
    (suite,) = read_suite_file(DATA / name)
    return suite


def texts(suite: Suite) -> list[tuple[str, ...]]:
    return [tuple(sentence.text for sentence in item.sentences.values()) for item in suite.items]


def made(tmp_path: Path, text: str, name: str = "made.tsv") -> str:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / name)


KITES = [("The kites are high.", "The kites is high."), ("Ida sings.", "Ida sing.")]


class TestReading:
    @pytest.mark.parametrize("name", ["typed", "headerless"])
    def test_two_columns_with_or_without_a_header(self, name: str) -> None:
        suite = one(f"pairs/{name}.tsv")
        assert texts(suite) == KITES
        assert (suite.name, [item.id for item in suite.items]) == (name, ["0", "1"])
        assert [prediction.name for prediction in suite.predictions] == ["full_sentence"]

    def test_semicolons_an_id_and_a_column_without_a_name(self) -> None:
        suite = one("pairs/semicolons.csv")
        assert texts(suite)[0] == ("Ida sings, loudly.", "Ida sing, loudly.")
        assert [(item.id, item.tags) for item in suite.items] == [("a1", {"index": "0"}), ("a2", {"index": "1"})]
        assert suite.tags == {"phenomenon": "agreement"}

    def test_a_column_without_a_name_is_the_id_if_no_other_is_and_empty_cells_are_no_tags(self) -> None:
        suite = one("pairs/treebank.tsv")
        assert texts(suite)[1] == ('The "kites" fly.', "The kites flies.")
        assert [(item.id, item.tags) for item in suite.items] == [("0", {"distance": "1"}), ("1", {})]
        # A prefix without critical words is only a tag: nothing says where the critical word ends.
        assert (suite.tags, len(suite.predictions)) == ({"prefix": "The kites"}, 1)

    def test_paradigms_become_suites(self) -> None:
        suites = read_suite_file(DATA / "pairs/paradigms.csv")
        assert [(suite.name, len(suite.items)) for suite in suites] == [("imperative", 2), ("plural", 1)]
        assert texts(suites[0])[0] == ("Ida, sing!", "Ida, sings!")
        assert suites[0].tags == {"paradigm": "imperative", "level": "1"}

    @pytest.mark.parametrize(("name", "method"), [("one_prefix.jsonl", "one_prefix"), ("two_prefix.tsv", "two_prefix")])
    def test_prefix_methods(self, name: str, method: str) -> None:
        suite = one(f"pairs/{name}")
        assert [prediction.name for prediction in suite.predictions] == ["full_sentence", method]
        assert suite.items[0].sentences["good"].content("critical") == "fly"

    def test_a_json_list_in_which_null_is_missing_and_numbers_are_texts(self) -> None:
        suite = one("pairs/list.json")
        assert [item.tags for item in suite.items] == [{"weight": "2"}, {"weight": "3"}]

    def test_columns_named_by_options(self) -> None:
        (suite,) = read_suite_file(f"{DATA / 'pairs/unknown.csv'}?good=right&bad=off&id=who&suite=who")
        assert (suite.name, suite.items[0].id, texts(suite)) == ("ruben", "ruben", [("Ida sings.", "Ida sing.")])

    def test_marks_as_ordinary_characters(self, tmp_path: Path) -> None:
        path = made(tmp_path, 'good\tbad\n"Yes," he said.\tYes he "said.\n')
        assert texts(read_suite_file(path + "?quote=none")[0]) == [('"Yes," he said.', 'Yes he "said.')]

    @pytest.mark.parametrize("option", ["|", "semicolon", "tab"])
    def test_a_delimiter_of_ones_own(self, tmp_path: Path, option: str) -> None:
        character = {"semicolon": ";", "tab": "\t"}.get(option, option)
        path = made(tmp_path, f"good{character}bad\na{character}b\n")
        assert texts(read_suite_file(f"{path}?format=pairs&delimiter={option}")[0]) == [("a", "b")]

    @pytest.mark.parametrize(("good", "bad"), pairs.KNOWN)
    def test_every_known_pair_of_names_in_every_container(self, tmp_path: Path, good: str, bad: str) -> None:
        x, y = "Ida sang a song.", "Ida sung a song."
        rows = {
            "a.tsv": f"paradigm\t{good}\t{bad}\n1\t{x}\t{y}\n",
            "a.csv": f"{bad.upper()},paradigm,{good.upper()}\n{y},1,{x}\n",
            "a.jsonl": f'{{"{good}": "{x}", "{bad}": "{y}", "paradigm": 1}}\n',
            "a.json": f'[{{"{bad}": "{y}", "{good}": "{x}", "paradigm": "1"}}]',
        }
        for name, text in rows.items():
            assert texts(read_suite_file(made(tmp_path, text, name))[0]) == [(x, y)], name

    def test_windows_line_ends_and_a_byte_order_mark(self, tmp_path: Path) -> None:
        path = tmp_path / "excel.csv"
        path.write_bytes("\ufeffgood;bad\r\nÉa.;b\r\n".encode())
        assert texts(read_suite_file(path)[0]) == [("Éa.", "b")]


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "options", "message"),
        [
            ("good\tbad\na\tb\tc\n", "", "line 2: 3 cells; expected 2 as in the header"),
            ("good\tbad\na\t \n", "", "line 2, bad: an empty cell"),
            ("good\tbad\n", "", "no pairs"),
            ("good\tbad\tbad\na\tb\tc\n", "", "line 1: the column 'bad' twice"),
            ('good\tbad\n"a\tb\n', "", "line 2: a row that can't be read"),
            ("good\tbad\tprefix\tcritical_good\tcritical_bad\na b\ta c\ta\tb\td\n", "", "line 2: the sentence 'a c'"),
            ("good\tbad\nx\t" + "y" * 10_001 + "\n", "", "line 2, bad: 10001 characters"),
            ("x;y\n1;2\n", "?format=pairs", "its first row is 'x', 'y'; .*expected a known pair of columns"),
            ("x;y\n1;2\n", "", "no format claims it: its first row is 'x', 'y'; .*Name one.*Name the columns of pairs"),
        ],
    )
    def test_the_message_names_the_line(self, tmp_path: Path, text: str, options: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read_suite_file(made(tmp_path, text) + options)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ("?good=x", "good: given without bad=; expected both"),
            ("?good=x&bad=y", "no column 'x'; expected one of 'good', 'bad'"),
            ("?id=x", "no column 'x'"),
            ("?quote=maybe", "yes or none"),
            ("?delimiter=ab", "delimiter: 'ab'; expected one character"),
            ("?colour=red", "no option 'colour' in pairs; expected one of format, good, bad"),
            ("?format=xml", "formats: no such name: 'xml'"),
        ],
    )
    def test_options(self, tmp_path: Path, options: str, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            read_suite_file(made(tmp_path, "good\tbad\na\tb\n") + options)


class TestBlanksAroundCells:
    """White space next to a delimiter is content in quotation marks only."""

    @pytest.mark.parametrize(
        "text",
        [
            "id, bad, good\n1, Bo hum., Bo hums.\n2, The mat burn., The mat burns.\n",
            "id ,good ,bad \n1 ,Bo hums. ,Bo hum. \n2 ,The mat burns. ,The mat burn. \n",
            'id; bad ;good\r\n1;\t"Bo hum." ; "Bo hums."\r\n   \r\n2; The mat burn.;\u00a0The mat burns. \r\n',
            "id\t good\tbad \n1\tBo hums. \t Bo hum.\n 2\tThe mat burns.\t The mat burn.  ",
        ],
    )
    def test_they_are_no_content(self, tmp_path: Path, text: str) -> None:
        name = "mats.csv" if "\tgood" not in text and "\t good" not in text else "mats.tsv"
        [suite] = read_suite_file(made(tmp_path, text, name))
        assert texts(suite) == [("Bo hums.", "Bo hum."), ("The mat burns.", "The mat burn.")]
        assert [item.id for item in suite.items] == ["1", "2"]

    def test_in_a_header_that_options_name(self, tmp_path: Path) -> None:
        path = made(tmp_path, "pa, pb, ta, tb\nx, y, Bo hums ., Bo hum .\n", "x.csv")
        assert texts(read_suite_file(f"{path}?good=ta&bad=tb")[0]) == [("Bo hums .", "Bo hum .")]

    def test_quoted_they_are_content_and_said(self, tmp_path: Path) -> None:
        path = made(tmp_path, 'good,bad\nBo hums. , " Bo hum."\n"A, b ""c"" d", "A, b, ""c"" d"\n', "x.csv")
        [suite] = read_suite_file(path)
        assert texts(suite) == [("Bo hums.", " Bo hum."), ('A, b "c" d', 'A, b, "c" d')]
        assert [spot.code for spot in violations([suite]) if spot.code == "W302"] == ["W302"]
        pairs.write([suite], tmp_path / "again.tsv")
        assert texts(read_suite_file(tmp_path / "again.tsv")[0]) == texts(suite)

    def test_where_no_quotation_mark_encloses_cells(self, tmp_path: Path) -> None:
        path = made(tmp_path, 'good, bad\n"Bo hums" , "Bo hum"\n', "x.csv")
        assert texts(read_suite_file(f"{path}?quote=none")[0]) == [('"Bo hums"', '"Bo hum"')]

    def test_a_run_that_was_begun_with_them_goes_on_by_no_other_sentences(self, tmp_path: Path) -> None:
        path = made(tmp_path, "good, bad\nThe dog barks, The dog bark\n", "mats.csv")
        earlier = Suite("mats", read_suite_file(path)[0].items, (_pair.FULL,))
        bad = {"good": Sentence("The dog barks"), "bad": Sentence(" The dog bark")}
        earlier = replace(earlier, items=(replace(earlier.items[0], sentences=bad),))
        before = toy_run(tmp_path / "run", earlier).results("mats")
        interrupt(tmp_path / "run")
        with pytest.raises(RunError, match=r"a run on other suites; .* Different: mats"):
            toy_run(tmp_path / "run", *read_suite_file(path))
        assert not open_run(tmp_path / "run").done
        toy_run(tmp_path / "run", earlier)
        assert open_run(tmp_path / "run").results("mats").equals(before)

    def test_a_run_shows_sentences_with_blanks_at_their_ends(self, tmp_path: Path) -> None:
        path = made(tmp_path, '{"good": "The dog barks", "bad": " The dog bark"}\n', "x.jsonl")
        noted: list[Finding] = []
        list(well_formed(read_suite_file(path), noted))
        assert [finding.code for finding in noted] == ["W302"]


SIDES = "a,b,label\nThe kite is high.,The kite are high.,{}\nIda sing.,Ida sings.,{}\n"
A = [("The kite is high.", "The kite are high."), ("Ida sings.", "Ida sing.")]


class TestLabels:
    @pytest.mark.parametrize("values", ["0 1", "a b", "0 b", "A B"])
    def test_a_column_says_which_is_good(self, tmp_path: Path, values: str) -> None:
        first, second = values.split()
        text = SIDES.format(first, second)
        (suite,) = read_suite_file(made(tmp_path, text, "x.csv") + "?good=a&bad=b&label=label")
        assert texts(suite) == A
        assert [item.tags for item in suite.items] == [{"label": first}, {"label": second}]

    def test_json(self, tmp_path: Path) -> None:
        rows = '{"a": "Ida sings.", "b": "Ida sing.", "y": 0}\n{"a": "Bo hum.", "b": "Bo hums.", "y": 1}\n'
        (suite,) = read_suite_file(made(tmp_path, rows, "x.jsonl") + "?good=a&bad=b&label=y")
        assert texts(suite) == [("Ida sings.", "Ida sing."), ("Bo hums.", "Bo hum.")]

    @pytest.mark.parametrize("value", ["2", "true", "good", "0.0", "-1"])
    def test_anything_else_is_refused_with_the_row(self, tmp_path: Path, value: str) -> None:
        path = made(tmp_path, SIDES.format(0, value), "x.csv")
        message = f"line 3, label: '{value}'; expected 0 or a if the sentence in 'a' is good, 1 or b if that in 'b' is"
        with pytest.raises(InputError, match=message):
            read_suite_file(f"{path}?good=a&bad=b&label=label")

    def test_an_empty_label_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="line 3, label: an empty cell; expected 0 or a"):
            read_suite_file(made(tmp_path, SIDES.format(0, ""), "x.csv") + "?good=a&bad=b&label=label")

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("label", "0 1"), ("label", "yes no"), ("label", "1 1"), ("Gold", "x x"), ("vote", "0 1"), ("vote", "1 2"),
            ("vote", "a b"), ("vote", "A B"), ("vote", "b b"), ("vote", "true false"),
        ],
    )  # fmt: skip
    def test_a_column_that_may_be_a_label_is_never_ignored(self, tmp_path: Path, name: str, values: str) -> None:
        first, second = values.split()
        text = SIDES.format(first, second).replace("label", name)
        path = made(tmp_path, text, "x.csv")
        meant = {"0 1": " if 0 or a", "a b": " if a", "A B": " if a", "b b": " if a"}.get(values, "&values=X,Y if X")
        cure = rf"Write x.csv\?good=a&bad=b&label={name}{meant} there means .*; write x.csv\?good=a&bad=b&label=none if"
        with pytest.raises(InputError, match=f"columns that may say which sentence is good: '{name}'.*{cure}"):
            read_suite_file(f"{path}?good=a&bad=b")
        (suite,) = read_suite_file(f"{path}?good=a&bad=b&label=none")
        assert texts(suite)[1] == ("Ida sing.", "Ida sings.")

    @pytest.mark.parametrize("values", ["1 1", "x y", "0.5 0.7", "sg pl"])
    def test_other_columns_are_tags(self, tmp_path: Path, values: str) -> None:
        first, second = values.split()
        text = SIDES.format(first, second).replace("label", "number")
        assert read_suite_file(made(tmp_path, text, "x.csv") + "?good=a&bad=b")

    def test_ids_and_suites_are_no_labels(self, tmp_path: Path) -> None:
        path = made(tmp_path, SIDES.format(1, 2).replace("label", "n"), "x.csv")
        assert read_suite_file(f"{path}?good=a&bad=b&id=n")[0].items[1].id == "2"
        assert [suite.name for suite in read_suite_file(f"{path}?good=a&bad=b&suite=n")] == ["1", "2"]

    def test_a_label_beside_names_that_say_which_is_good_is_asked_for(self, tmp_path: Path) -> None:
        text = SIDES.format(0, 1).replace("a,b", "good,bad")
        path = made(tmp_path, text, "x.csv")
        for contradicting in (text, text.replace("label", "side").replace(",0", ",good").replace(",1", ",bad")):
            with pytest.raises(InputError, match=r"columns that may say which sentence is good: '(label|side)'"):
                read_suite_file(made(tmp_path, contradicting, "y.csv"))
        assert texts(read_suite_file(f"{path}?label=none")[0])[1] == ("Ida sing.", "Ida sings.")
        assert texts(read_suite_file(f"{path}?label=label")[0])[1] == ("Ida sings.", "Ida sing.")
        # Other columns of two values, and labels of several, are tags.
        for tag in (text.replace("label", "animate"), text.replace("label", "gold").replace(",1", ",NP")):
            assert texts(read_suite_file(made(tmp_path, tag, "z.csv"))[0])[1] == ("Ida sing.", "Ida sings.")

    def test_sources_and_targets_do_not_say_which_is_good(self, tmp_path: Path) -> None:
        path = made(tmp_path, SIDES.format(0, 1).replace("a,b", "source_sentence,target_sentence"), "x.csv")
        for options in ("", "?format=pairs", "?good=source_sentence&bad=target_sentence"):
            with pytest.raises(InputError, match=r"may be the good one|may say which sentence is good"):
                read_suite_file(path + options)

    def test_a_label_beside_prefixes_is_refused(self, tmp_path: Path) -> None:
        text = "a,b,y,prefix,critical_good,critical_bad\nIda sings.,Ida sing.,0,Ida,sings,sing\n"
        with pytest.raises(UsageError, match="label= beside the columns of one_prefix"):
            read_suite_file(made(tmp_path, text, "x.csv") + "?good=a&bad=b&label=y")


CUPS = ("The cups are full.", "The cups is full."), ("A cup break.", "A cup breaks.")
CUPS_RIGHT = [CUPS[0], CUPS[1][::-1]]


class TestLabelsThatNameAColumn:
    """The first sentence of the first row is the good one, and the second sentence of the second row."""

    def read(self, folder: Path, columns: str, labels: str, options: str) -> list[tuple[str, ...]]:
        """Read a table whose last columns are the two sentences and the label `is`."""
        rows = ["\t".join((*pair, label)) for pair, label in zip(CUPS, labels.split(), strict=True)]
        path = made(folder, "\n".join(["\t".join((*columns.split(), "is")), *rows, ""]))
        return texts(read_suite_file(path + options)[0])

    @pytest.mark.parametrize(
        ("columns", "labels"),
        [
            ("text1 text2", "1 2"), ("text_1 text_2", "1 2"), ("1st 2nd", "1 2"), ("text1 text2", "text1 TEXT2"),
            ("s1_text s2_text", "1 2"), ("sent0 sent1", "0 1"), ("sentence_A sentence_B", "A B"),
            ("sentence_A sentence_B", "a b"), ("optionA optionB", "A B"), ("left_text right_text", "left right"),
            ("textGood textBad", "good bad"), ("acceptable unacceptable", "acceptable unacceptable"),
            ("x y", "0 1"), ("sentence_A sentence_B", "0 1"),
        ],
    )  # fmt: skip
    def test_they_mean_it(self, tmp_path: Path, columns: str, labels: str) -> None:
        columns = columns.replace("1st 2nd", "text-1 text-2")
        first, second = columns.split()
        assert self.read(tmp_path, columns, labels, f"?good={first}&bad={second}&label=is") == CUPS_RIGHT
        # Whichever of the two is given as the good column: a label is the name of a column, not a place in the options.
        if labels != "0 1" or first == "sent0":
            assert self.read(tmp_path, columns, labels, f"?good={second}&bad={first}&label=is") == CUPS_RIGHT

    @pytest.mark.parametrize(
        ("columns", "labels", "options"),
        [
            ("text1 text2", "1 1", "good=text1&bad=text2"),  # 1 is text1, or the second of 0 and 1
            ("text1 text2", "0 1", "good=text1&bad=text2"),  # 1 is text1, or the second of 0 and 1
            ("text1 text2", "0 0", "good=text1&bad=text2"),
            ("x y", "1 1", "good=x&bad=y"),  # 1 of 1 and 2, or of 0 and 1
            ("x y", "0 1", "good=y&bad=x"),  # 0 is y, as the options count, or x, as the table does
        ],
    )
    def test_a_doubt_is_refused_with_the_option_that_ends_it(
        self, tmp_path: Path, columns: str, labels: str, options: str
    ) -> None:
        with pytest.raises(InputError, match=r"line 2, is: '[01]', which may count .* values=\. Add &values=X,Y"):
            self.read(tmp_path, columns, labels, f"?{options}&label=is")

    @pytest.mark.parametrize(
        ("labels", "values"),
        [("1 2", "1,2"), ("0 1", "0,1"), ("1 0", "1,0"), ("true false", "True,False"), ("v n", "v, n")],
    )
    def test_the_option_says_it(self, tmp_path: Path, labels: str, values: str) -> None:
        assert self.read(tmp_path, "x y", labels, f"?good=x&bad=y&label=is&values={values}") == CUPS_RIGHT
        first, second = values.split(",")
        reversed_ = f"?good=x&bad=y&label=is&values={second},{first}"
        assert self.read(tmp_path, "x y", labels, reversed_) == [pair[::-1] for pair in CUPS_RIGHT]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ("&label=is&values=1", "values: '1'; expected two labels"),
            ("&label=is&values=a,A", "expected two labels"),
            ("&values=1,2", "values: given without label="),
            ("&label=none&values=1,2", "values: given without label="),
        ],
    )
    def test_values_of_another_form_are_refused(self, tmp_path: Path, options: str, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            self.read(tmp_path, "x y", "1 2", f"?good=x&bad=y{options}")

    def test_what_labels_mean_is_shown(self, tmp_path: Path) -> None:
        path = made(tmp_path, "text_A\ttext_B\tis\nThe cups are full.\tThe cups is full.\tA\n")
        said = read_as(f"{path}?good=text_A&bad=text_B&label=is")
        assert "where is is text_a or a, the other way round where it is text_b or b" in said

    def test_a_column_of_such_labels_is_asked_for(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="columns that may say which sentence is good: 'is'"):
            self.read(tmp_path, "left_text right_text", "left right", "?good=left_text&bad=right_text")
        with pytest.raises(InputError, match="columns that may say which sentence is good: 'is'"):
            self.read(tmp_path, "good_text bad_text", "good bad", "")

    @pytest.mark.parametrize(
        ("columns", "labels", "meant"),
        [
            (
                "text1 text2",
                "1 2",
                "label=is if text1 or 1 there means that the sentence in 'text1' is good, and text2 or 2 the",
            ),
            (
                "x y",
                "0 1",
                "label=is if 0 or x there means that the sentence in 'x' is good, and 1 or y the other; write",
            ),
            (
                "text1 text2",
                "0 1",
                "label=is&values=X,Y if X there means that the sentence in 'text1' is good, and Y the other;",
            ),
        ],
    )
    def test_the_cure_says_what_these_labels_mean(self, tmp_path: Path, columns: str, labels: str, meant: str) -> None:
        good, bad = columns.split()
        with pytest.raises(InputError, match=meant):
            self.read(tmp_path, columns, labels, f"?good={good}&bad={bad}")


class TestSilentChoices:
    def test_two_pairs_of_known_names_are_refused(self, tmp_path: Path) -> None:
        text = "good\tbad\tsen\twrong_sen\nIda sings.\tIda sing.\tBo hums.\tBo hum.\n"
        with pytest.raises(InputError, match="more than one pair of columns: 'good' and 'bad'; 'sen' and 'wrong_sen'"):
            read_suite_file(made(tmp_path, text))

    def test_columns_of_numbers_do_not_count(self, tmp_path: Path) -> None:
        text = "good\tbad\tsen\twrong_sen\n12\t3\tIda sings.\tIda sing.\n"
        assert texts(read_suite_file(made(tmp_path, text))[0]) == [("Ida sings.", "Ida sing.")]

    def test_names_that_differ_in_case_only_are_no_known_names(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no format claims it: its first row is 'Good', 'GOOD', 'bad'"):
            read_suite_file(made(tmp_path, "Good,GOOD,bad\na b c,a b d,a b e\n", "x.csv"))

    @pytest.mark.parametrize("value", ['["Ida", "sings."]', '{"0": "Ida sings."}', "5", "true"])
    def test_a_value_that_is_no_text_is_no_sentence(self, tmp_path: Path, value: str) -> None:
        path = made(tmp_path, f'{{"good": {value}, "bad": "Ida sing."}}\n', "x.jsonl")
        with pytest.raises(InputError, match=r"line 1, good: .*expected a string"):
            read_suite_file(f"{path}?good=good&bad=bad")

    @pytest.mark.parametrize("row", ["The end", "a b\tc d\te f"])
    def test_a_row_that_is_no_pair_is_named(self, tmp_path: Path, row: str) -> None:
        text = "The kite is high.\tThe kite are high.\nIda sings well.\tIda sing well.\n"
        with pytest.raises(InputError, match=r"line 3: [13] cells; expected 2"):
            read_suite_file(made(tmp_path, f"{text}{row}\n"))

    def test_a_quotation_mark_does_not_join_rows(self, tmp_path: Path) -> None:
        text = 'good\tbad\n"Ida sings.\tIda sing.\nBo hums."\tBo hum.\nIt flew.\tIt flown.\n'
        path = made(tmp_path, text)
        with pytest.raises(InputError, match=r"line 2: a quotation mark that joins this line to the next.*quote=none"):
            read_suite_file(path)
        assert texts(read_suite_file(f"{path}?quote=none")[0])[:2] == [
            ('"Ida sings.', "Ida sing."),
            ('Bo hums."', "Bo hum."),
        ]

    def test_a_line_break_in_a_quoted_cell_is_kept(self, tmp_path: Path) -> None:
        path = made(tmp_path, 'good\tbad\n"Ida sings.\nLoudly."\tIda sing.\n')
        assert texts(read_suite_file(path)[0]) == [("Ida sings.\nLoudly.", "Ida sing.")]

    @pytest.mark.parametrize(
        ("name", "text", "advises"),
        [
            ("x.tsv", 'good\tbad\n"a\tb\n', True),
            ("x.csv", 'item,condition,verb\n1,a,"glow\n', False),
            ("x.csv", 'Context1,Context2,Target1,Target2\n"a,b,c,d\n', False),
            ("x.csv", ',0,1,2,3\n0,b,r,"x,1\n', False),
        ],
    )  # fmt: skip
    def test_only_a_format_with_the_option_advises_it(
        self, tmp_path: Path, name: str, text: str, advises: bool
    ) -> None:
        path = made(tmp_path, text, name)
        with pytest.raises(InputError, match=r"a row that can't be read.*Double each quotation mark") as caught:
            read_suite_file(path)
        (module,) = claimed(Path(path))
        assert ("quote=none" in str(caught.value)) == advises == ("quote" in option_names(module))


class TestWriting:
    @pytest.mark.parametrize("suffix", [".tsv", ".csv"])
    @pytest.mark.parametrize(
        "name", ["typed.tsv", "semicolons.csv", "treebank.tsv", "paradigms.csv", "one_prefix.jsonl", "two_prefix.tsv"]
    )
    def test_reads_back_as_the_same_suites(self, tmp_path: Path, name: str, suffix: str) -> None:
        suites = read_suite_file(DATA / "pairs" / name)
        pairs.write(suites, tmp_path / f"out{suffix}")
        assert read_suite_file(tmp_path / f"out{suffix}") == suites

    def test_the_clean_table(self, tmp_path: Path) -> None:
        pairs.write([one("pairs/two_prefix.tsv")], tmp_path / "out.tsv")
        assert (tmp_path / "out.tsv").read_text() == (
            "suite\tid\tgood\tbad\tprefix_good\tprefix_bad\tword\n"
            "two_prefix\t0\tThe kites fly.\tThe kite fly.\tThe kites\tThe kite\tfly\n"
        )

    @pytest.mark.slow
    def test_published_paradigms(self, tmp_path: Path) -> None:
        if not BLIMP.is_dir():
            pytest.skip("the published paradigms are not here")
        for stem in ("animate_subject_trans", "passive_1", "superlative_quantifiers_2"):
            (suite,) = read_suite_file(BLIMP / f"{stem}.jsonl")
            pairs.write([suite], tmp_path / "out.tsv")
            (again,) = read_suite_file(tmp_path / "out.tsv")
            assert [(item.id, item.sentences) for item in again.items] == [
                (item.id, item.sentences) for item in suite.items
            ]
            assert (again.name, again.predictions) == (suite.name, suite.predictions)

    def test_what_does_not_fit(self, tmp_path: Path) -> None:
        suite, other = one("pairs/typed.tsv"), one("pairs/two_prefix.tsv")
        with pytest.raises(InputError, match="different prefix methods"):
            pairs.write([suite, other], tmp_path / "out.tsv")
        with pytest.raises(InputError, match="a tag called 'good'"):
            pairs.write([replace(suite, tags={"good": "x"})], tmp_path / "out.tsv")
        with pytest.raises(InputError, match="tags with the names of columns of one_prefix"):
            pairs.write(
                [replace(suite, tags={"prefix": "x", "critical_good": "y", "critical_bad": "z"})], tmp_path / "out.tsv"
            )
        with pytest.raises(InputError, match="regions, but no prefix method"):
            pairs.write([replace(other, predictions=other.predictions[:1])], tmp_path / "out.tsv")
        with pytest.raises(InputError, match="aggregate mean"):
            pairs.write([replace(suite, aggregate="mean")], tmp_path / "out.tsv")
        reversed_ = replace(suite.items[0], sentences=dict(reversed(suite.items[0].sentences.items())))
        with pytest.raises(InputError, match="the conditions bad, good"):
            pairs.write([replace(suite, items=(reversed_,))], tmp_path / "out.tsv")


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=10).filter(str.strip)


@pytest.mark.slow
@settings(max_examples=100)
@given(
    rows=st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=4),
    suffix=st.sampled_from([".tsv", ".csv"]),
)
def test_any_text_survives_a_table(
    rows: list[tuple[str, str, str, str]], suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from syntagm.suites import Item, Sentence, read_suite_file
    from syntagm.suites.formats import _pair

    items = [
        (name, Item(tag, {"good": Sentence(good), "bad": Sentence(bad)}, {"note": tag}))
        for name, tag, good, bad in rows
    ]
    suites = list(_pair.suites(items, None, "here"))
    path = tmp_path_factory.mktemp("any") / f"any{suffix}"
    pairs.write(suites, path)
    again = read_suite_file(f"{path}?format=pairs")
    assert again == suites


class TestSmallFormats:
    def test_clams_good_first(self) -> None:
        suite = one("clams/subjects.tsv")
        assert texts(suite) == [("the kites fly", "the kites flies"), ("ida sings", "ida sing")]

    def test_zorro_bad_first_and_only_on_request(self) -> None:
        path = f"{DATA / 'zorro/agreement-across_pp.txt'}"
        with pytest.raises(InputError, match="no format claims it"):
            read_suite_file(path)
        (suite,) = read_suite_file(path + "?format=zorro")
        assert texts(suite)[0] == ("the kite by the gates flies .", "the kite by the gates fly .")
        assert (suite.name, suite.tags) == ("agreement-across_pp", {"phenomenon": "agreement"})

    def test_climp_two_rows_a_pair_in_either_order(self) -> None:
        binding, order = read_suite_file(DATA / "climp/climp.csv")
        assert texts(binding) == [("他爱自己。", "自己爱他。"), ("她怕自己。", "她怕自己她。")]
        assert order.tags["language"] == "zh"
        assert (order.name, order.items[0].id, published(order).tags) == ("adverbs", "0", {"phenomenon": "order"})

    def test_comps_is_a_two_prefix_comparison(self) -> None:
        suite = one("comps/properties.jsonl")
        assert texts(suite)[0] == ("A heron can fly.", "A hammer can fly.")
        assert [suite.items[0].sentences[name].content("critical") for name in ("good", "bad")] == ["can fly."] * 2
        assert ([item.id for item in suite.items], suite.predictions[1].name) == (["11", "12"], "two_prefix")

    def test_ewok_gives_half_a_point_for_each_target(self) -> None:
        space, social = read_suite_file(DATA / "ewok/worlds.csv")
        assert (space.name, social.name, list(space.items[0].sentences)) == (
            "space",
            "social",
            ["c1_t1", "c1_t2", "c2_t1", "c2_t2"],
        )
        sentence = space.items[0].sentences["c2_t1"]
        assert sentence.text == "The lamp is below the table. The table is under the lamp."
        assert sentence.content("target") == "The table is under the lamp."
        bits = {
            ("target", "c1_t1"): 10.0,
            ("target", "c2_t1"): 12.0,
            ("target", "c2_t2"): 9.0,
            ("target", "c1_t2"): 8.0,
        }
        margins = {
            p.name: float(p.formula.margin(lambda region, condition: bits[region, condition]))
            for p in space.predictions
        }
        # Target 1 is 2 bits likelier in its own context; target 2 is 1 bit less likely in its own: half a point.
        assert margins == {"target1": 2.0, "target2": -1.0}

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("a.tsv?format=clams", "True\ta\nTrue\tb\n", "line 2: 'True.tb'; expected False, a tab and a sentence"),
            ("a.tsv?format=clams", "True\ta\n", "1 lines; expected an even number"),
            ("a.txt?format=zorro", "a\n\n", "line 2: an empty line"),
            ("a.txt?format=zorro", "a\nb\nc\n", "3 lines; expected an even number"),
            ("a.csv?format=climp", ",0,1,2,3\n0,b,r,x,1\n1,b,r,y,1\n", "line 2: labels 1 and 1 in r and r"),
            ("a.csv?format=climp", ",0,1,2,3\n0,b,r,x,1\n1,b,s,y,0\n", "labels 1 and 0 in r and s"),
            ("a.csv?format=climp", ",0,1,2,3\n0,b,r,x,1\n", "1 rows; expected an even number"),
            ("a.csv?format=climp", "a,b\n", "line 1: a,b; expected ,0,1,2,3"),
            (
                "a.jsonl?format=comps",
                '{"prefix_acceptable": "a", "prefix_unacceptable": "b"}',
                "line 1: no 'property_phrase'",
            ),
            (
                "a.jsonl?format=comps",
                '{"prefix_acceptable": "a", "prefix_unacceptable": "b", "property_phrase": ""}',
                "not empty",
            ),
            ("a.csv?format=ewok", "Context1,Context2,Target1,Target2\na,b,c,\n", "line 2, Target2: an empty cell"),
            ("a.csv?format=ewok", "Context1,Context2,Target1\na,b,c\n", "line 2, Target2: an empty cell"),
            ("a.csv?format=ewok", "Context1,Context2,Target1,Target2\n", "no items"),
            (
                "a.csv?format=ewok",
                "Context1,Context2,Target1,Target2,Domain\na,b,c,d,\n",
                "line 2, Domain: an empty cell",
            ),
        ],
    )
    def test_refusals(self, tmp_path: Path, name: str, text: str, message: str) -> None:
        file, _, options = name.partition("?")
        with pytest.raises(InputError, match=message):
            read_suite_file(f"{made(tmp_path, text, file)}?{options}")


@pytest.mark.parametrize(
    "first", ["alpha\tbeta", "Fine sentence\tFoul sentence", "besser\tschlechter"], ids=["words", "phrases", "german"]
)
def test_unknown_column_names_are_not_scored_as_a_pair(tmp_path: Path, first: str) -> None:
    rows = "The dog barks.\tThe dog bark.\nA cat sleeps.\tA cat sleep.\n"
    with pytest.raises(
        InputError, match=r"line 1: .* look like column names; .*\?good=COLUMN&bad=COLUMN; if the line is"
    ):
        read_suite_file(made(tmp_path, f"{first}\n{rows}"))
    (suite,) = read_suite_file(made(tmp_path, f"good\tbad\n{first}\n{rows}"))
    assert texts(suite)[0] == tuple(first.split("\t"))


@pytest.mark.parametrize(
    "content",
    [
        "He sleeps here\tHe sleep here\nThey sleep here.\tThey sleeps here\n",
        "The kite flies\tThe kite fly\nIt sang\tIt sung\n",
    ],
)
def test_a_first_row_like_any_other_is_a_pair(tmp_path: Path, content: str) -> None:
    (suite,) = read_suite_file(made(tmp_path, content))
    assert texts(suite) == [tuple(line.split("\t")) for line in content.splitlines()]
