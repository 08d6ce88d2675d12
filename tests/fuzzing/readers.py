"""The readers of files that other people write, each with inputs to begin with."""

import gzip
import json
import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import samples_for_tests
import torch
from grammar_for_tests import CROSS, LANGUAGE, SAMPLE, TABLE
from laboratory import jrnn, torch_files, transformer_xl
from lexicon_for_tests import FILES
from models_for_tests import byte_level, transformer
from ngrams_for_tests import TOY, trained
from safetensors.torch import save

from fuzzing import mutation, templates
from syntagm.core import FormulaError, ModelError, SyntagmError, registry, seal, torch_file
from syntagm.models import checkpoints, folder as ngram_folder, names, refuse_unsafe, vocabulary
from syntagm.models.exec.model import _start
from syntagm.models.ngram import model as ngram
from syntagm.suites import materials, parse, read_suite_file, read_word_list as read_words, schema, violations
from syntagm.training import corpus, record, tagged_sentences

LISTS = Path(materials.__file__).parent / "lexicon"


@dataclass(frozen=True)
class Reader:
    """A reader of one file.

    Arguments:
        file: name of the file, which may be in a subfolder of the place that `seeds` prepares.
        seeds: prepares a folder, and returns inputs for the file.
        read: reads; its argument is the path of the file.
        cost: how many inputs of other readers take as long as one of this.
        mutant: makes another input from some.
    """

    file: str
    seeds: Callable[[Path], Sequence[bytes]]
    read: Callable[[Path], object]
    cost: int = 1
    mutant: Callable[[random.Random, Sequence[bytes]], bytes] = mutation.mutant

    def survives(self, path: Path, content: bytes) -> bool:
        """Tell if a file with this content is read; False if it is refused. Any other exception is a defect."""
        path.write_bytes(content)
        try:
            self.read(path)
        except SyntagmError as error:
            assert str(error)
            return False
        return True


def _samples(format: str) -> Callable[[Path], list[bytes]]:
    found = [path.read_bytes() for path in samples_for_tests.of_format(format)]
    assert found, f"no sample in tests/data/{format}"
    return lambda _: [content for content in found if len(content) < 20_000]


# Options without which a format reads less, or nothing.
_NEEDED = {"pairs": "&good=good&bad=bad", "alternating": "&first=good"}


def _suites(name: str) -> Callable[[Path], None]:
    options = _NEEDED.get(name, "")

    def read(path: Path) -> None:
        try:
            suites = read_suite_file(f"{path}?format={name}{options}", allow_pickle=True)
        except SyntagmError:
            if not options or name == "alternating":
                raise
            suites = read_suite_file(f"{path}?format={name}")
        list(violations(suites))

    return read


def _formats() -> Iterator[tuple[str, Reader]]:
    for name in registry.names("formats"):
        if name not in samples_for_tests.WRITTEN:
            ending = registry.find("formats", name).ENDINGS[0]
            yield f"format {name}", Reader(f"fuzz{ending}", _samples(name), _suites(name))
    yield "format template", Reader("fuzz.toml", _templates, _suites("template"))
    yield "template", Reader("fuzz.toml", lambda _: templates.OWN, templates.whole, 5, templates.mutant)
    yield "paradigm", Reader("fuzz.toml", templates.paradigms, templates.whole, 100, templates.mutant)
    yield "format marvin2018", Reader("fuzz.pickle", _pickles, _suites("marvin2018"))


def _templates(_: Path) -> list[bytes]:
    return [text.encode() for text in (LANGUAGE, TABLE, CROSS, SAMPLE, LANGUAGE)]


def _schemas(folder: Path) -> list[bytes]:
    (folder / "words").mkdir()
    for name, text in FILES.items():
        (folder / "words" / name).write_text(text, encoding="utf-8")
    return [FILES["schema.toml"].encode()]


def _tables(folder: Path) -> list[bytes]:
    _schemas(folder)
    return [FILES["verb_use.csv"].encode()]


def _pickles(_: Path) -> list[bytes]:
    content = {"sing_MS_MV_sing_ES": [("the monk hums", "the monk hum"), ("a monk is calm", "a monk are calm")]}
    return [pickle.dumps(content, protocol) for protocol in range(6)]


ARPA = b"""\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-99\t<s>\t-0.3
-0.7\t</s>
-0.9\t<unk>
-0.5\tdogs\t-0.2
-0.6\tbark\t-0.1

\\2-grams:
-0.2\t<s> dogs
-0.3\tdogs bark
-0.1\tbark </s>

\\end\\
"""
RECORDED = b"index,start,token,bits,known,model,suite,item,condition\n" + b"".join(
    b"0,0,the,2.5,1,gpt2,s,%d,good\n1,3, dog,3,1,gpt2,s,%d,good\n2,7,.,nan,0,gpt2,s,%d,good\n" % (item, item, item)
    for item in range(2)
)
TREES = b"(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))\n( (S (NP-SBJ (-NONE- *T*-1)) (VP (VB go))) )\n"
FORMULAS = [
    b"(1;%a%) > (1;%b%)",
    b"[(*;%x y%) + 2.5 < (3;%b%)] & ((1;%a%) = (1;%a%)) | (verb;%b%) > 0",
    b"((2;%a%) - 1)",
]


def _words(_: Path) -> list[bytes]:
    return [b"\n".join(path.read_bytes().splitlines()[:25]) for path in sorted(LISTS.glob("*.csv"))] + [
        b"bark,barks\nsleep,sleeps\n", b"lemma,plural,singular,tag.band\nbark,bark,barks,1\n"
    ]  # fmt: skip


def _word_list(path: Path) -> None:
    read_words(str(path))


def _texts(path: Path) -> None:
    for _ in corpus.texts([path]):
        pass
    list(corpus.sentences([path], "treebank"))


def _formula(path: Path) -> None:
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        raise FormulaError("formula", "not UTF-8", "UTF-8") from None
    assert parse(str(formula := parse(text))) == formula


def _checkpoint(folder: Path) -> None:
    transformer("gpt2", byte_level()).save_pretrained(folder)
    byte_level().save_pretrained(folder)


def _file_of_a_checkpoint(name: str) -> Callable[[Path], list[bytes]]:
    def seeds(folder: Path) -> list[bytes]:
        _checkpoint(folder)
        return [(folder / name).read_bytes()]

    return seeds


def _ngram(name: str) -> Callable[[Path], list[bytes]]:
    def seeds(folder: Path) -> list[bytes]:
        trained(folder, TOY, order=2)
        return [(folder / "model" / name).read_bytes()]

    return seeds


def _weights(folder: Path) -> list[bytes]:
    _checkpoint(folder)
    return [save({"a.weight": torch.ones(3, 2), "b.bias": torch.ones(2)})]


def _index(folder: Path) -> list[bytes]:
    _checkpoint(folder)
    weights = {"a.weight": "model-00001-of-00002.safetensors", "b.weight": "model-00002-of-00002.safetensors"}
    return [json.dumps({"metadata": {"total_size": 8}, "weight_map": weights}).encode()]


def _pytorch(folder: Path) -> list[bytes]:
    whole = torch_files.weights()
    torch.save({name: torch.from_numpy(value) for name, value in whole.items()}, folder / "whole.pt")
    return [(folder / "whole.pt").read_bytes(), torch_files.grnn(whole)]


def _tensors(path: Path) -> None:
    for tensor in torch_file.tensors(torch_file.read(path, ["model.RNNModel"]), path).values():
        tensor.array()


def _importing(kind: str) -> Callable[[Path], object]:
    """Return what imports a checkpoint, one of whose files is damaged, into a folder of its own."""

    def read(path: Path) -> None:
        with TemporaryDirectory(dir=path.parent) as folder:
            sources = {"jrnn": ("jrnn.npz", "vocab.txt"), "transformer_xl": ("pytorch_model.bin", "vocab.bin")}[kind]
            checkpoint, vocabulary = (path.parent / source for source in sources)
            checkpoints.convert(kind, checkpoint, vocabulary, Path(folder, "model"), "moses", True)

    return read


def _jrnn(folder: Path) -> list[bytes]:
    file, _ = jrnn.written(folder, jrnn.arrays())
    return [file.read_bytes()]


def _jrnn_vocabulary(folder: Path) -> list[bytes]:
    _, vocabulary = jrnn.written(folder, jrnn.arrays())
    return [vocabulary.read_bytes()]


def _transformer_xl(name: str) -> Callable[[Path], list[bytes]]:
    def seeds(folder: Path) -> list[bytes]:
        words = transformer_xl.vocabulary(transformer_xl.WORDS)
        transformer_xl.written(folder, transformer_xl.published(), transformer_xl.CONFIG, words)
        return [(folder / name).read_bytes()]

    return seeds


TAGGED = {
    ".txt": [b"the|D dog|N\na|b|C\n", b"the\tD\ndog\tN\n\na\tC\n"],
    ".auto": [b"ID=wsj_0001.1\n(<T S[dcl] 0 2> (<L NP N N dogs N>) (<L S[dcl]\\NP V V bark S[dcl]\\NP>) )\n"],
    ".trees": [TREES],
}
PROGRAM = b'command = ["node", "bigram.mjs"]\nseconds = 60\nbatch = 32\n[options]\nsentences = ["the dog barks"]\n'

READERS: dict[str, Reader] = {
    **dict(_formats()),
    "arpa": Reader("fuzz.arpa", lambda _: [ARPA], lambda path: ngram.load(str(path))),
    "arpa, gzipped": Reader(
        "fuzz.arpa.gz", lambda _: [gzip.compress(ARPA, mtime=0), ARPA], lambda path: ngram.load(str(path))
    ),
    "word list": Reader("fuzz.csv", _words, _word_list),
    "schema of a lexicon": Reader("words/schema.toml", _schemas, lambda path: schema.read(path.parent)),
    "table of a lexicon": Reader("words/verb_use.csv", _tables, lambda path: schema.read(path.parent)),
    "PyTorch file": Reader("fuzz.pt", _pytorch, _tensors),
    "vocabulary": Reader("model/vocabulary.txt", _ngram("vocabulary.txt"), vocabulary.read),
    "recorded": Reader("fuzz.csv", lambda _: [RECORDED], lambda path: names.load(f"recorded:{path}")),
    "toy": Reader("fuzz.txt", lambda _: [TOY.encode()], lambda path: names.load(f"toy:{path}")),
    **{
        f"tags in {ending}": Reader(f"fuzz{ending}", lambda _, seeds=seeds: seeds, lambda path: list(tagged_sentences([path])))
        for ending, seeds in TAGGED.items()
    },
    # The program is not started.
    "program": Reader("fuzz.toml", lambda _: [PROGRAM], lambda path: _start(path, "exec")),
    "arrays of lm_1b": Reader("jrnn.npz", _jrnn, _importing("jrnn"), cost=10),
    "vocabulary of lm_1b": Reader("vocab.txt", _jrnn_vocabulary, _importing("jrnn"), cost=10),
    **{
        f"{name} of a Transformer-XL": Reader(
            name, _transformer_xl(name), _importing("transformer_xl"), cost=10
        )
        for name in ("pytorch_model.bin", "config.json", "vocab.bin")
    },
    "text": Reader("fuzz.txt", lambda _: [TOY.encode(), "crème brûlée\n".encode()], _texts),
    "text, gzipped": Reader("fuzz.txt.gz", lambda _: [gzip.compress(TOY.encode(), mtime=0)], _texts),
    "trees": Reader("fuzz.trees", lambda _: [TREES], _texts),
    "formula": Reader("fuzz.txt", lambda _: FORMULAS, _formula),
    "config.json": Reader(
        "config.json", _file_of_a_checkpoint("config.json"), lambda path: refuse_unsafe(path.parent, False, False, "causal")
    ),
    "index of weights": Reader(
        "model.safetensors.index.json", _index, lambda path: refuse_unsafe(path.parent, False, False, "causal")
    ),
    "header of weights": Reader(
        "model.safetensors",
        _weights,
        lambda path: refuse_unsafe(path.parent, False, False, "causal"),
    ),
    "seal": Reader("model/seal.json", _ngram("seal.json"), lambda path: seal.verify(path.parent, ModelError)),
    "model.json": Reader("model/model.json", _ngram("model.json"), lambda path: ngram_folder.check(path.parent)),
    "training.json": Reader(
        "model/training.json", _ngram("training.json"), lambda path: record.finished(path.parent)
    ),
    "checkpoint": Reader(
        "config.json", _file_of_a_checkpoint("config.json"), lambda path: names.load(f"causal:{path.parent}"), cost=100
    ),
    "tokenizer": Reader(
        "tokenizer.json", _file_of_a_checkpoint("tokenizer.json"), lambda path: names.load(f"causal:{path.parent}"), cost=100
    ),
    "tokenizer_config.json": Reader(
        "tokenizer_config.json",
        _file_of_a_checkpoint("tokenizer_config.json"),
        lambda path: names.load(f"causal:{path.parent}"),
        cost=100,
    ),
}  # fmt: skip
