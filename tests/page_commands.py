"""Run every command on the pages of papers, with tiny models, in folders that hold what it names.

    python -m tests.page_commands           # all of them: half an hour of one core, by hand, before a release
    python -m tests.page_commands --new     # those that the record lacks, or that went wrong
    python -m tests.page_commands --list    # each with its inputs and what is appended; nothing runs

A command is a code that begins with `syntagm ` in a row of `statements.md`, and on the other pages a line of a block, or a
code within the text. `syntagm fill` alone names a command, and isn't one. Blocks that are runs are `tools.pages`' own.

Each runs in a folder of its own. The nearest command above that writes what it names makes it, or else the lines of
`INPUTS`. `data` is the folder of published data. Nothing comes from the hub: a folder `gpt2` is what `gpt2` means there.
`SMALLER` lists what is appended to commands that would take hours, `EXPECTED` exit codes other than 0. The results are in
`tests/data/page_commands.json`, which is committed.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm import __version__
from syntagm.core import registry
from tools import blocks, pages

RECORD = Path(__file__).parent / "data" / "page_commands.json"
# Which collection a section is about, by the first letters of its heading in `statements.md`, or of the page.
_ABOUT = {"mar": "marvin2018", "war": "warstadt2020", "new": "newman2021"}
# `tools.pages.shell` puts the root of the repository there.
_EXCERPT = "$PYTHONPATH/syntagm/suites/materials/corpora/excerpt.txt"
# Sentences of a novel, and twice all words of the suites, so that models know them.
_SENTENCES = f"""(head -n 4000 {_EXCERPT}; python -c '
import syntagm as sg
names = ("hu2020", "marvin2018?n=40", "warstadt2020?n=40")
items = [item for name in names for suite in sg.read_suites(name) for item in suite.items]
words = sorted({{word.rstrip(",.?") for item in items for text in item.sentences.values() for word in text.text.split()}})
for each in (words, words[::-1]):
    for place in range(0, len(each), 10):
        print(*each[place : place + 10], ".")
') > train.txt"""
_TREES = 'awk \'{gsub(/[()]/, ""); printf "(S"; for (i = 1; i <= NF; i++) printf " (W %s)", $i; print ")"}\''
_BLLIP = """for year in 1987 1988 1989; do for number in $(seq -w 126); do
    section=LDC2000T43/$year/w${year:3}_$number
    mkdir -p $section
    case $number in 00[12] | 01[01]) size=1000;; *) size=3;; esac
    awk "NR > $number && NR <= $number + $size" train.trees > $section/file.000
done; done"""
_TEXTS = "--corpus train.txt --valid valid.txt --epochs 1 --seed SEED"
_TINY = f"{_TEXTS} --width 8 --heads 2 --layers 1 --window 32"
_CAUSAL = f"syntagm train gpt2 {_TINY} --vocabulary 3000 -o NAME"
_MASKED = f"syntagm train masked {_TINY} --vocabulary 4000 -o NAME"
_RUN = "syntagm run MODEL --suite ABOUT -n 20 --no-report -o NAME"
_FILL = "syntagm fill MODEL --suite marvin2018/simple_agrmt marvin2018/prep_anim -n 3 --words verbs --no-report -o NAME"
# What commands name, and the lines that make it. With a section's collection before a name: there only.
INPUTS: Mapping[str, str] = {
    "data": "ln -s $PYTHONPATH/../shared/data data",
    "train.txt": _SENTENCES,
    "valid.txt": f"tail -n 200 {_EXCERPT} > NAME",
    "test.txt": f"tail -n 400 {_EXCERPT} | head -n 200 > NAME",
    "wiki.train.txt": f"cp {_EXCERPT} NAME",
    **{f"{part}.trees": f"{_TREES} {part}.txt > NAME" for part in ("train", "valid", "test")},
    "LDC2000T43": _BLLIP,
    "models/5gram": "syntagm train ngram --corpus train.txt --order 5 --discount-fallback -o NAME",
    "5gram.arpa": "syntagm export models/5gram --as arpa -o NAME",
    "models/lstm": f"syntagm train lstm {_TEXTS} --embedding 8 --hidden 8 -o NAME",
    "models/rnng": "syntagm train rnng --corpus train.trees --valid valid.trees --epochs 1 --embedding 8 --hidden 8 -o NAME",
    **dict.fromkeys(("gpt2", "gpt2-large", "gpt2-xl"), _CAUSAL),
    **dict.fromkeys(("bert-large-cased", "bert-large-uncased", "roberta-large"), _MASKED),
    **dict.fromkeys(("lemmas.csv", "combined_verb_list.csv"), "cp data/refining_tse/combined_verb_list.csv NAME"),
    "raw": "cp -r data/hu2020 NAME",
    "syntactic-generalization": "mkdir -p NAME/data; cp -r data/hu2020 NAME/data/raw",
    "templates": "cp -r data/marvin_linzen NAME",
    "EMNLP2018": "mkdir NAME; cp -r data/marvin_linzen NAME/templates",
    "ML": "mkdir NAME; cp data/refining_tse/*_all.jsonl NAME",
    "newman2021 blimp": "mkdir NAME; cp data/refining_tse/regular*.jsonl NAME",
    "blimp": "mkdir -p NAME/data; cp data/blimp/* NAME/data; mv NAME/data/{models_,human_}* NAME",
    **dict.fromkeys(("runs/a", "runs/s", "runs/gpt2"), _RUN.replace("MODEL", "gpt2")),
    **dict.fromkeys(("runs/b", "runs/l", "runs/lstm"), _RUN.replace("MODEL", "models/lstm")),
    **dict.fromkeys(("runs/m", "runs/gpt2-xl"), _RUN.replace("MODEL", "gpt2-xl")),
    # With as many items as the command that writes `runs/gpt2` there.
    "warstadt2020 runs/gpt2-xl": _RUN.replace("MODEL", "gpt2-xl").replace("-n 20", "-n 3"),
    "runs/5gram": _RUN.replace("MODEL", "models/5gram"),
    "runs/people": "syntagm experiment make ABOUT --preset ABOUT -o study\n"
    "syntagm experiment simulate study --effect 3 -o rehearsal\n"
    "syntagm experiment import rehearsal -o NAME --label simulated",
    "newman2021 runs/gpt2": _FILL.replace("MODEL", "gpt2"),
    "newman2021 runs/xl": _FILL.replace("MODEL", "gpt2-xl"),
    "newman2021 runs/bert": _FILL.replace("MODEL", "bert-large-cased"),
    "newman2021 runs/cut": _FILL.replace("MODEL", "gpt2") + " --top published --bottom published",
    "newman2021 runs/top": _FILL.replace("MODEL", "gpt2") + " --most-probable 10",
}
_STUDY = "--sizes xs=4000,sm=8000 --seeds 1 -n 2"
# What is appended to the commands in which a pattern is found, the first that is. It makes them smaller, or fit a CPU.
SMALLER: Mapping[str, str] = {
    r"--plan": "--sizes xs=4000,sm=8000",
    r"--scale paper": "--sizes xs=20000,sm=40000 --seeds 1 -n 2 --bootstrap 0 --device cpu --families ngram,lstm "
    "--set lstm.epochs=1",
    r"--families lstm .*xs": "--sizes xs=4000 -n 2 --bootstrap 0 --set lstm.epochs=2",
    r"reproduce marvin2018 --corpus": _STUDY,
    r"reproduce warstadt2020 --corpus": f"{_STUDY} --samples 1 --set {{lstm,gpt2}}.epochs=2",
    r"--corpus.*reproduce|reproduce.*--corpus": f"{_STUDY} --bootstrap 0 --set {{lstm,gpt2}}.epochs=2",
    r"from-raw \S*(hu2020|raw)\b": "--bootstrap 0",
    r"reproduce newman2021 --model": "--suite marvin2018/simple_agrmt marvin2018/prep_anim -n 3",
    r"reproduce \w+ --model": "-n 3",
    r"syntagm train (lstm|onlstm|multitask|rnng)": "--epochs 1 --embedding 8 --hidden 8",
    r"syntagm train (gpt2|masked)": "--epochs 1 --width 8 --heads 2 --layers 1",
    r"syntagm (run|fill) .*(jsonl|pickle)": "--limit 3",
    r"syntagm (run|fill)": "-n 3",
}
EXPECTED: Mapping[str, int] = {}
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Command:
    """A command on a page, or the lines that make an input.

    Arguments:
        page: the name of the page, or "input".
        section: the heading above it in `statements.md`, or the collection that an input is about.
        code: the line or lines as they stand there.
    """

    page: str
    section: str
    code: str

    @property
    def key(self) -> Key:
        """What its entry in the record begins with."""
        return self.page, self.section, self.code

    @property
    def appended(self) -> str:
        """The options that make it smaller."""
        return "" if self.page == "input" else _first(SMALLER, self.code, "")

    @property
    def expected(self) -> int:
        """Its exit code."""
        return _first(EXPECTED, self.code, 0)

    @property
    def about(self) -> str:
        """The collection of its section."""
        return _ABOUT.get((self.section or self.page)[:3].lower(), "hu2020")

    @property
    def targets(self) -> list[str]:
        """What it writes."""
        return re.findall(r"\s-o\s+([^\s;]+)", self.code)


def _first(patterns: Mapping[str, Any], code: str, otherwise: Any) -> Any:
    return next((value for pattern, value in patterns.items() if re.search(pattern, code, re.DOTALL)), otherwise)


def rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of the tables of `statements.md`, each with the heading above it."""
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("| ") and not line.startswith("| where"):
            yield section, [cell.strip() for cell in line.strip("|").split(" | ")]


def of_page(page: Path) -> Iterator[Command]:
    """Yield the commands of a page in their order."""
    text = page.read_text(encoding="utf-8")
    if page.stem == "statements":
        yield from (Command(page.stem, section, code) for section, row in rows(text) for code in codes(row[-1]))
        return
    for block in reversed(blocks.find(text)):
        text = text[: block.start] + text[block.end :]
    text = pages.RUN.sub("", text)
    for place in re.finditer(r"(?P<lines>(?:^ {4}[^\n]*\n)+)|(?P<inline>`[^`]+`)", text, re.MULTILINE):
        if place["inline"]:
            yield from (Command(page.stem, "", code) for code in codes(place["inline"]))
        else:
            # Without remarks; variables that are set stand before each command.
            text_of_lines = re.sub(r" +# .*", "", place["lines"]).replace("\\\n", "")
            lines = [" ".join(line.split()) for line in text_of_lines.splitlines()]
            variables = "".join(f"{line}\n" for line in lines if re.match(r"\w+=", line))
            yield from (Command(page.stem, "", variables + line) for line in lines if line.startswith("syntagm "))


def codes(text: str) -> Iterator[str]:
    """Yield the commands in a text; what consists of names of commands and views is none."""
    names = {"syntagm", *registry.names("cli"), *registry.names("views")}
    found = (" ".join(code.split()) for code in re.findall(r"`(syntagm [^`]*)`", text))
    yield from (code for code in found if not names.issuperset(code.split()))


def commands() -> list[Command]:
    """Return the commands of all pages."""
    return list(dict.fromkeys(command for page in sorted(pages.PAGES.glob("*.md")) for command in of_page(page)))


class Workshop:
    """A folder in which commands, and the lines that make their inputs, run once each, in folders of their own."""

    def __init__(self, folder: Path, on_pages: Sequence[Command]) -> None:
        self.folder, self.on_pages = folder, on_pages
        self.entries: dict[Command, dict[str, Any]] = {}

    def inputs(self, command: Command) -> dict[str, Command]:
        """Return what a command names and doesn't write, each with the command that makes it."""
        makers: dict[str, Command] = {}
        for key in sorted(INPUTS, key=lambda key: " " not in key):
            about, _, name = key.rpartition(" ")
            if about in ("", command.about) and name not in makers:
                # What is the same for all sections is made once.
                section = command.about if about or "ABOUT" in INPUTS[key] else ""
                code = INPUTS[key].replace("NAME", name).replace("ABOUT", command.about)
                makers[name] = Command("input", section, code.replace("SEED", str(len(name))))
        # Published data stay what they are, and figures are named like their views.
        firm = {name for name, maker in makers.items() if " data/" in maker.code}.union(registry.names("views"))
        above = self.on_pages[: self.on_pages.index(command)] if command in self.on_pages else []
        for other in above:
            if (other.page, other.section) == (command.page, command.section):
                makers |= dict.fromkeys(set(other.targets) - firm, other)
        return {
            name: maker
            for name, maker in makers.items()
            if name not in command.targets
            and maker.code != command.code
            and re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-]|\.\w)", f"{command.code} {command.appended}")
        }

    def closure(self, command: Command) -> set[Command]:
        """Return a command and all that make its inputs."""
        return {command}.union(*map(self.closure, self.inputs(command).values()))

    def entry(self, command: Command) -> dict[str, Any]:
        """Run a command after those that make its inputs; return what is recorded of it, `wrong` if it failed."""
        if command not in self.entries:
            head = dict(zip(("page", "section", "command"), command.key, strict=True))
            if not pages.DATA.is_dir() and any("data/" in each.code for each in self.closure(command)):
                self.entries[command] = head | {"skipped": "needs the published data, ../shared/data"}
            else:
                makers = self.inputs(command)
                faults = [
                    f"{name}: {fault}" for name, each in makers.items() if (fault := self.entry(each).get("wrong"))
                ]
                self.entries[command] = head | (
                    {"wrong": "; ".join(faults)} if faults else self._carry_out(command, makers)
                )
        return self.entries[command]

    def _place(self, command: Command) -> Path:
        return self.folder / hashlib.sha256(repr(command).encode()).hexdigest()[:12]

    def _carry_out(self, command: Command, makers: Mapping[str, Command]) -> dict[str, Any]:
        (folder := self._place(command)).mkdir(parents=True)
        for name, maker in makers.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            # Links as links: the published data are not copied.
            subprocess.run(["cp", "-RP", self._place(maker) / name, folder / name], check=True)
        before, present = pages.seconds(), set(folder.rglob("*"))
        done = pages.shell(f"{command.code} {command.appended}", folder, capture_output=True)
        seconds, errors = pages.seconds() - before, done.stderr or done.stdout
        # Names without endings, as a table has several formats; of folders within what is written, their names only.
        depth = max((target.count("/") + 2 for target in command.targets), default=1)
        new = [path for path in folder.rglob("*") if path not in present and not path.name.startswith("cache.sqlite")]
        wrote = {path.relative_to(folder).parts[:depth] for path in new}
        names = {re.sub(r"(?<=\w)\.\w[\w.]*$", "", "/".join(parts)) for parts in wrote}
        first, *_ = [*done.stdout.splitlines(), ""]
        failed = done.returncode != command.expected or "Traceback" in done.stderr + done.stdout
        return {
            "appended": command.appended, "code": done.returncode, "seconds": round(seconds, 1), "wrote": sorted(names),
            "lines": len(done.stdout.splitlines()), "first": first.replace(f"{pages.ROOT}/", "")[:100],
        } | ({"wrong": f"exit code {done.returncode}: {errors[-1500:]}"} if failed else {})  # fmt: skip


def recorded() -> dict[Key, dict[str, Any]]:
    """Return the entries of the record."""
    groups = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    return {
        (entry["page"], entry["section"], entry["command"]): entry | {"record": record}
        for record, entries in groups.items()
        for entry in entries
    }


def write(entries: Mapping[Key, Mapping[str, Any]]) -> None:
    """Write the record: an entry a line, below what says when and where it was run."""
    groups: dict[str, list[str]] = {}
    for entry in entries.values():
        line = json.dumps({name: value for name, value in entry.items() if name != "record"}, ensure_ascii=False)
        groups.setdefault(entry["record"], []).append(line)
    texts = [f"{json.dumps(record)}: [\n" + ",\n".join(lines) + "\n]" for record, lines in groups.items()]
    RECORD.write_text("{" + ",\n".join(texts) + "}\n", encoding="utf-8")


def chosen(budget: float) -> list[Command]:
    """Choose commands that take so many CPU-seconds with their inputs, by the record; each version tries others."""
    seconds = {place: entry["seconds"] for place, entry in recorded().items() if "seconds" in entry}
    workshop, taken, used = Workshop(Path(), commands()), list[Command](), set[Command]()
    known = {Command(*place) for place in seconds}

    def cost(chosen: set[Command]) -> float:
        return sum(seconds[each.key] for each in chosen)

    for command in sorted(commands(), key=lambda each: hashlib.sha256(f"{__version__} {each}".encode()).digest()):
        both = used | workshop.closure(command)
        # Neither those of which nothing is known, nor one that takes a third of the time.
        if both <= known and cost(both - used) <= budget / 3 and cost(both) <= budget:
            taken.append(command)
            used = both
    return taken


def main() -> int:
    """Run commands, and write the record; return 1 if one went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="names of pages (default: all)")
    parser.add_argument("--new", action="store_true", help="only those that the record lacks, or that went wrong")
    parser.add_argument("--list", action="store_true", help="list the commands and their inputs, and run nothing")
    options = parser.parse_args()
    on_pages, record, entries = commands(), " ".join(pages.record("tests.page_commands").split()), recorded()
    with tempfile.TemporaryDirectory(prefix="page_commands-") as folder:
        workshop = Workshop(Path(folder), on_pages)
        makers = {each.key for command in on_pages for each in workshop.closure(command)}
        for command in on_pages:
            old = entries.get(command.key, {})
            current = "code" in old and "wrong" not in old and old["appended"] == command.appended
            if (options.pages and command.page not in options.pages) or (options.new and current):
                continue
            print(f"{command.page}: {command.code} {command.appended}".strip(), flush=True)
            if options.list:
                print("   ", ", ".join(workshop.inputs(command)) or "no inputs")
                continue
            entry = workshop.entry(command)
            print("   ", entry.get("wrong") or entry.get("skipped") or f"{entry['seconds']} CPU-seconds", flush=True)
            entries |= {each.key: entry | {"record": record} for each, entry in workshop.entries.items()}
            # In the order of the pages, without what is on none any more; inputs last.
            places = dict.fromkeys([*(each.key for each in on_pages), *sorted(makers)])
            write({place: entries[place] for place in places if place in entries})
    return int(any("wrong" in entry for entry in entries.values()))


if __name__ == "__main__":
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    sys.exit(main())
