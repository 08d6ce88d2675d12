"""Statistics of texts, and the check that all classes of unknown words in held-out text occurred in training."""

import json
from pathlib import Path

import pytest
from training_for_tests import OF_WORDS

from syntagm.core import Progress, RunError, seal
from syntagm.training import changed, families, unseen_classes

# Seen once, so unknown: walked (UNK-LC-ed), ships (UNK-LC-s). Known: the, sailors, and the full stop.
TRAINING = ["the sailors walked .", "the sailors ships ."]
# Of these, `docked` has a class that training has; 1984 and 1985 (UNK-NUM) and Paris (UNK-INITC) have none.
HELD_OUT = ["the sailors docked 1984 .", "the sailors 1985 Paris ."]
PLANTED = {"UNK-NUM": 2, "UNK-INITC": 1}
TINY = {"embedding": 4, "hidden": 8, "layers": 1, "epochs": 1, "batch": 1, "window": 4, "threshold": 2, "patience": 0}


class Noting(Progress):
    """What was warned of."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warned(self, message: str) -> None:
        self.warnings.append(message)


def written(path: Path, sentences: list[str]) -> str:
    trees = [" ".join(f"(W {word})" for word in sentence.split()) for sentence in sentences]
    path.write_text("".join(f"(S (X {tree}))\n" for tree in trees))
    return str(path)


def train(name: str, place: Path, held_out: list[str], **more: object) -> tuple[dict[str, object], list[str]]:
    corpus, valid = written(place / "corpus.trees", TRAINING), written(place / "valid.trees", held_out)
    family, noting = families.find(name), Noting()
    options = {**TINY, "optimiser": "sgd", "discount_fallback": True, "chunk": 4, **more}
    if name == "onlstm":
        options |= {"embedding": 8, "layers": 2}
    known = {option.name for option in family.options}
    settings = changed(family.settings, {key: value for key, value in options.items() if key in known})
    family.train([corpus], [valid], place / "m", settings, noting)
    return json.loads((place / "m" / "training.json").read_text()), noting.warnings


@pytest.mark.parametrize("family", OF_WORDS)
def test_a_missing_class_is_counted_warned_of_and_recorded(family: str, tmp_path: Path) -> None:
    training, warnings = train(family, tmp_path, HELD_OUT)
    assert training["unseen_classes"] == PLANTED
    assert (training["sentences"], training["words"], training["types"], training["unknown_classes"]) == (2, 8, 3, 2)
    [warning] = [warning for warning in warnings if "classes" in warning]
    assert warning.startswith("the held-out text has unknown words of classes that training has not: UNK-NUM (2), UNK-")


@pytest.mark.parametrize("family", OF_WORDS)
def test_nothing_is_said_if_all_classes_are_there(family: str, tmp_path: Path) -> None:
    training, warnings = train(family, tmp_path, ["the sailors docked .", "the boats ."])
    assert training["unseen_classes"] == {}
    assert not [warning for warning in warnings if "classes" in warning]


def test_other_classes_than_those_of_the_berkeley_parser(tmp_path: Path) -> None:
    # If every word is known, training has no unknown word. With no classes at all, nothing can be missing.
    for classes, threshold, unseen in (("single", 2, {}), ("single", 1, {"UNK": 4}), ("none", 2, {})):
        (place := tmp_path / f"{classes}-{threshold}").mkdir()
        training, _ = train("ngram", place, HELD_OUT, classes=classes, threshold=threshold)
        assert training["unseen_classes"] == unseen


@pytest.mark.parametrize("family", OF_WORDS)
def test_the_most_frequent_words_are_kept_and_another_number_is_another_training(family: str, tmp_path: Path) -> None:
    # As often: the, sailors and the full stop; the last becomes unknown, and so do the words that stand there once.
    training, _ = train(family, tmp_path, HELD_OUT, vocabulary=2)
    assert (training["types"], training["unknown_classes"]) == (2, 3)
    vocabulary = (tmp_path / "m" / "vocabulary.txt").read_text().split("\n")
    assert vocabulary[-3:-1] == ["the", "sailors"]
    train(family, tmp_path, HELD_OUT, vocabulary=2)
    with pytest.raises(RunError, match=r"vocabulary = 2; expected .*vocabulary = 0"):
        train(family, tmp_path, HELD_OUT)


@pytest.mark.parametrize("family", OF_WORDS)
def test_a_record_from_before_there_was_a_limit_is_one_without(family: str, tmp_path: Path) -> None:
    train(family, tmp_path, HELD_OUT)
    path = tmp_path / "m" / "training.json"
    record = json.loads(path.read_text())
    del record["settings" if family == "ngram" else "text"]["vocabulary"]
    path.write_text(json.dumps(record))
    seal.write(tmp_path / "m")
    train(family, tmp_path, HELD_OUT)
    with pytest.raises(RunError, match=r"vocabulary = 0; expected .*vocabulary = 9"):
        train(family, tmp_path, HELD_OUT, vocabulary=9)


def test_any_text_can_be_compared_with_a_trained_model(tmp_path: Path) -> None:
    train("ngram", tmp_path, HELD_OUT)
    (tmp_path / "test.txt").write_text("the Sailors walked .\nthe 3-D sailors .\n")
    assert unseen_classes(tmp_path / "m", [str(tmp_path / "test.txt")]) == {
        "UNK-INITC-KNOWNLC-s": 1,
        "UNK-CAPS-NUM-DASH": 1,
    }
    assert unseen_classes(tmp_path, [str(tmp_path / "test.txt")]) is None  # no model over words
