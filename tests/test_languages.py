"""Languages: tags, scripts, words, case and frequencies."""

import pytest

from syntagm.core import UsageError
from syntagm.suites import direction, direction_of, find, frequency, tags, words


@pytest.mark.parametrize(
    ("text", "tag", "of"),
    [
        ("de", "de", ("Latn",)), ("DEU", "de", ("Latn",)), ("ger", "de", ("Latn",)), ("German", "de", ("Latn",)),
        ("zh_hant", "zh-Hant", ("Hani",)), ("pt-br", "pt-BR", ("Latn",)), ("sr-Latn", "sr-Latn", ("Latn",)),
        ("sr", "sr", ("Cyrl", "Latn")), ("ja", "ja", ("Hani", "Hira", "Kana")), ("iw", "he", ("Hebr",)), ("", "und", ()),
    ],
)  # fmt: skip
def test_tags(text: str, tag: str, of: tuple[str, ...]) -> None:
    assert (find(text).tag, find(text).scripts) == (tag, of)


def test_an_unknown_language_is_refused_with_a_similar_one() -> None:
    with pytest.raises(UsageError, match="Did you mean Turkish"):
        find("Turkisch")


def test_scripts_and_direction() -> None:
    assert words.scripts("Ида sees 学生") == {"Cyrl": 3, "Latn": 4, "Hani": 2}
    assert [direction(text) for text in ("Ida.", "השומר רוקד", "القط نائم", "12")] == [
        "ltr",
        "rtl",
        "rtl",
        "ltr",
    ]
    assert [direction_of(find(tag).scripts) for tag in ("de", "fa", "und")] == ["ltr", "rtl", "ltr"]


@pytest.mark.parametrize(
    ("tag", "text", "expected"),
    [
        ("en", "The cook's dog wasn't well-fed.", ["The", "cook", "'s", "dog", "wasn't", "well-fed"]),
        ("fr", "L’été, aujourd'hui !", ["L", "été", "aujourd'hui"]),
        ("hi", "बच्चा सेब खाता है।", ["बच्चा", "सेब", "खाता", "है"]),
        ("ar", "القط نائم، والكلب يقظ.", ["القط", "نائم", "والكلب", "يقظ"]),
        ("de", "Die E-Mail 2024 kam.", ["Die", "E-Mail", "2024", "kam"]),
        ("km", "កខ គ", ["ក", "ខ", "គ"]),
        ("und", "他爱 Ida", ["他", "爱", "Ida"]),
    ],
)
def test_words_by_rules(tag: str, text: str, expected: list[str]) -> None:
    assert list(words.segmenter(find(tag)).words(text)) == expected


@pytest.mark.parametrize(
    ("tag", "package", "text", "expected"),
    [
        # Dictionaries are made ready in one or two seconds.
        pytest.param("zh", "jieba", "她们返回过。", ["她们", "返回", "过"], marks=pytest.mark.slow),
        ("ja", "janome", "本をあげた。", ["本", "を", "あげ", "た"]),
        pytest.param("th", "pythainlp", "ฉันรักภาษาไทย", ["ฉัน", "รัก", "ภาษาไทย"], marks=pytest.mark.slow),
    ],
)
def test_words_by_dictionaries(tag: str, package: str, text: str, expected: list[str]) -> None:
    pytest.importorskip(package)
    segmenter = words.segmenter(find(tag))
    assert segmenter.name.startswith(package)
    assert list(segmenter.words(text)) == expected


def test_without_a_dictionary_characters_count_and_the_name_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(words._MAKERS, "th", lambda: (_ for _ in ()).throw(ImportError))
    words._unspaced.cache_clear()
    segmenter = words.segmenter(find("th"))
    words._unspaced.cache_clear()
    assert segmenter.name in ("characters",) or segmenter.name.startswith("ICU")
    if segmenter.name == "characters":
        assert list(segmenter.words("ไทย")) == ["ไ", "ท", "ย"]


def test_case_of_turkish() -> None:
    assert tags.same("Kimin", "kimin", find("tr"))
    assert not tags.same("ILIK", "ilik", find("tr"))
    assert tags.same("ILIK", "ilik", find("en"))


@pytest.mark.slow
def test_word_frequencies_are_those_of_the_language() -> None:
    pytest.importorskip("wordfreq")
    german = frequency.per_billion(find("de"))
    # The English verb "die" is rare, the German article is not.
    assert german["die"] > 10_000_000 > german["sterben"] > 0
    assert german.get("Die") == german["die"]
    # The lists spell words in their own way: without ß, without the final sigma, and Serbian in Latin letters.
    assert german["groß"] > 10_000
    assert german["weiß"] > 10_000
    assert frequency.per_billion(find("el"))["λόγος"] > 10_000
    assert frequency.per_billion(find("sr"))["јесте"] > 10_000
    assert frequency.per_billion(find("tr"))["ISTANBUL"] == frequency.per_billion(find("tr"))["ıstanbul"]
    assert not frequency.available(find("hbo"))
    with pytest.raises(UsageError, match="no word frequencies of Ancient Hebrew"):
        frequency.per_billion(find("hbo"))
