"""Ask people about the same suites as models: plan, pages, answers, results.

    syntagm experiment make SUITE ... --design DESIGN --participants N -o DIR     plan an experiment
    syntagm experiment preview DIR --list 1                                       see what people will see
    syntagm experiment simulate DIR -o COPY                                       let simulated people answer
    syntagm experiment simulate DIR -o COPY --browser 2                           ... on the very pages, in Chromium
    syntagm experiment deploy DIR --as jspsych -o FOLDER                          pages that run without Syntagm
    syntagm experiment import FILE-OR-DIR -o RUN                                  make a run out of the answers
    syntagm experiment status DIR                                                 how far the study is
    syntagm experiment export DIR -o FILE.csv                                     the answers as a table
    syntagm experiment forget DIR PERSON                                          delete one person's answers
    syntagm experiment close DIR                                                  end, or pause, the study

`syntagm serve --experiment DIR` shows the pages to people.

Designs: forced-choice (each comparison of the first prediction as a pair of sentences),
acceptability (1 to 7), yes-no, magnitude, self-paced (word by word), maze.

    syntagm experiment make blimp/*.jsonl --preset warstadt2020 -o study
    syntagm experiment make hu2020/mvrr --design self-paced --participants 40 --fillers fillers.csv -o study
    syntagm experiment make SUITE --design forced-choice --precision 0.05 --pilot runs/pilot -o study
    syntagm experiment make hu2020/number_prep --design maze --model demo --participants 24 -o study
    syntagm serve --experiment study
    syntagm experiment import study -o runs/people
    syntagm table people runs/people
    syntagm table ceiling runs/people runs/gpt2

DIR has plan.json, which is sealed before anyone is asked, the texts that people read, and
study.toml; edit texts and settings, and leave the plan. A person sees one condition of an
item; the same seed gives the same plan. docs/guide/people.md goes from a suite to a study.

Exit code of import: 1 if answers were left out because they don't fit the plan; the reasons are
printed, and so is how many are missing. Of status, export and close, too: 1 if answers are lost.
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _options
from syntagm.core import UsageError, atomic, counted, csv, shown_lines

if TYPE_CHECKING:
    from syntagm.experiment import Exclusions, Plan, Study
    from syntagm.suites import Suite

_OPTIONS = {"fastest": "faster", "slowest": "slower", "sameness": "same"}
_OF_MAZES = ("model", "words", "errors")
_DESIGNS = ("forced-choice", "acceptability", "yes-no", "magnitude", "self-paced", "maze")


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    _make(actions.add_parser("make", help="plan an experiment"))
    preview = actions.add_parser("preview", help="print the trials of a person in order; nothing is recorded")
    _folder(preview)
    preview.add_argument("--list", metavar="N", type=int, default=1, help="the number of the list (default 1)")
    preview.add_argument(
        "--person", metavar="N", type=int, default=1, help="the number of the person on it (default 1)"
    )
    _simulate(actions.add_parser("simulate", help="let simulated people answer, in a copy of the experiment"))
    deploy = actions.add_parser("deploy", help="write pages that run without Syntagm")
    _folder(deploy)
    deploy.add_argument("--as", dest="form", choices=["jspsych", "pcibex"], required=True, help="jsPsych or PCIbex")
    _files.add_output(deploy, "DIR", "the folder for the pages", required=True)
    _import(actions.add_parser("import", help="make a run out of answers"))
    status = actions.add_parser("status", help="print how far the study is")
    _folder(status)
    status.add_argument("--alarms", action="store_true", help="also look for people who may be machines")
    status.add_argument("--models", metavar="RUN", nargs="+", type=Path, default=[], help="for alarms: runs of models")
    export = actions.add_parser("export", help="write the answers as a table")
    _folder(export)
    export.add_argument("--said", action="store_true", help="write the answers to the questions at the end instead")
    _files.add_output(export, "FILE", "the CSV file", required=True)
    _files.add_force(export)
    forget = actions.add_parser("forget", help="delete all that is stored of a person")
    _folder(forget)
    forget.add_argument("person", metavar="PERSON", help="the code of the person, or the id of a panel")
    close = actions.add_parser("close", help="end the study, pause it, or open it again")
    _folder(close)
    close.add_argument("--pause", action="store_true", help="nobody new can take part, until it is opened again")
    close.add_argument("--open", action="store_true", help="open it again")
    close.add_argument(
        "--forget-key", action="store_true", help="throw away the key of the ids, which then lead to nobody"
    )


def _folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path, help="the folder of the experiment")


def _make(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("suites", metavar="SUITE", nargs="+", help="files, folders or collections, as for `syntagm run --suite`")
    add("--design", choices=_DESIGNS, help="what people do")
    add("--preset", metavar="NAME", help="the protocol of a paper: warstadt2020 or marvin2018")
    add("--participants", metavar="N", type=int, help="the number of people")
    add(
        "--precision",
        metavar="X",
        type=float,
        help="as many people as make the 95%% interval X wide on each side, on average: that of the share of pairs as "
        "predicted, or of the difference between the two conditions in ratings, verdicts or ms, over all suites",
    )
    add(
        "--each-suite",
        action="store_true",
        help="for --precision: the interval of each suite, such as a paradigm, instead of that over all",
    )
    add("--pilot", metavar="RUN", type=Path, help="for --precision: a run of people, or judgements as CSV")
    add("--seed", metavar="S", type=int, default=1, help="the seed of samples, orders and distractors (default 1)")
    add("--limit", metavar="N", type=int, help="at most N items of each suite, drawn as by `syntagm run --limit`")
    add("--per-person", metavar="N", type=int, help="at most N critical trials for each person")
    for role in ("fillers", "catch", "practice"):
        add(f"--{role}", metavar="SUITE", nargs="+", default=[], help=f"suites for {role}")
    add("--no-built-in", action="store_true", help="no English catch and practice trials where you name no suites")
    add("--exclude-catch", metavar="SHARE", type=float, help="exclude people below this share of catch trials (0.75)")
    add("--exclude-questions", metavar="SHARE", type=float, help="exclude people below this share of questions (0)")
    add("--exclude-faster", metavar="MS", type=float, help="exclude answers or regions that took less time")
    add("--exclude-slower", metavar="MS", type=float, help="exclude answers or regions that took more time")
    add("--exclude-same", metavar="SHARE", type=float, help="exclude people who give one answer more often")
    add("--keep-unfinished", action="store_true", help="do not exclude people who did not finish")
    add("--analysis", metavar="TEXT", action="append", default=[], help="a further planned analysis, as a sentence")
    add("--model", metavar="MODEL", help="for a maze: the model that finds distractors unlikely")
    add("--words", metavar="FILE", type=Path, help="for a maze: candidates, a CSV with the columns form and count")
    add(
        "--errors",
        choices=["redo", "stop"],
        help="for a maze: a sentence goes on after a mistake (redo, the default), or ends",
    )
    _options.add_permissions(parser)
    _files.add_output(parser, "DIR", "the folder for the experiment", required=True)


def _simulate(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _folder(parser)
    add("--effect", metavar="X", type=float, help="the effect of each first prediction, in the unit of the design")
    add("--people-sd", metavar="SHARE", type=float, default=0.3, help="how much people vary, as a share of the effect")
    add("--items-sd", metavar="SHARE", type=float, default=0.3, help="how much items vary, as a share of the effect")
    add("--lapse", metavar="SHARE", type=float, default=0.05, help="the share of answers at random")
    add("--dropout", metavar="SHARE", type=float, default=0.0, help="the share of people who leave")
    add("--seed", metavar="S", type=int, default=1, help="the seed of the people (default 1)")
    add("--judge", metavar="MODEL", help="a language model that answers instead")
    add(
        "--browser",
        metavar="N",
        type=int,
        help="N people walk through the very pages in Chromium, every second one on a phone's screen",
    )
    _options.add_permissions(parser)
    _files.add_output(parser, "DIR", "the folder for the copy", required=True)


def _import(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="FILE-OR-DIR", type=Path, help="the experiment, or files of jsPsych, PCIbex, or a table")
    add("--plan", metavar="DIR", type=Path, help="the folder of the experiment, if the answers are elsewhere")
    add("--label", metavar="LABEL", default="people", help="the run is one of people:LABEL (default people)")
    add(
        "--column", metavar="OURS=THEIRS", action="append", default=[], help="the name of a column in a table of others"
    )
    _files.add_output(parser, "DIR", "the run directory", required=True)


def run(arguments: argparse.Namespace) -> int:
    return _ACTIONS[arguments.action](arguments)


def _run_make(arguments: argparse.Namespace) -> int:
    from syntagm.experiment import designs, make, presets
    from syntagm.suites import sampled
    from syntagm.views import read_judgements

    preset = presets.find(arguments.preset) if arguments.preset else None
    if preset and arguments.design not in (None, preset.design):
        raise UsageError("--design", arguments.design, preset.design, f"--preset {preset.name} fixes the design.")
    if (arguments.precision is None) != (arguments.pilot is None) or (arguments.pilot and arguments.participants):
        raise UsageError("--precision", "without --pilot, or with --participants", "--precision X --pilot RUN")
    if arguments.each_suite and not arguments.pilot:
        raise UsageError("--each-suite", "without --precision", "--precision X --pilot RUN --each-suite")
    if not preset and not (arguments.design and (arguments.participants or arguments.pilot)):
        missing = "--design" if not arguments.design else "--participants"
        raise UsageError("experiment make", f"no {missing}", f"{missing}, or --preset")
    design = designs.find(arguments.design or (preset.design if preset else ""))
    if odd := [name for name in _OF_MAZES if design.name != "maze" and getattr(arguments, name) is not None]:
        raise UsageError(f"--{odd[0]}", f"the design {design.name}", "--design maze")
    suites = _suites(arguments, arguments.suites)
    wishes = make.Wishes(
        design,
        arguments.participants or 0,
        arguments.seed, _suites(arguments, arguments.fillers), _suites(arguments, arguments.catch),
        _suites(arguments, arguments.practice), not arguments.no_built_in, arguments.per_person,
        analyses=tuple(arguments.analysis), errors=arguments.errors or "redo",
    )  # fmt: skip
    if preset:
        if arguments.limit is not None:
            cure = "The protocol says how many items are used."
            raise UsageError("--limit", "--preset beside it", "one of them", cure)
        suites, wishes = make.of_preset(preset.name, suites, wishes)
    else:
        suites = [sampled(suite, arguments.limit, arguments.seed) for suite in suites]
    wishes = replace(wishes, exclusions=_exclusions(arguments, wishes.exclusions))
    if arguments.pilot:
        pilot = read_judgements(arguments.pilot)
        wishes = make.for_precision(wishes, suites, arguments.precision, pilot, arguments.each_suite)
        of = " of each suite" if arguments.each_suite else ""
        print(f"people: {wishes.participants}, for an interval{of} of {arguments.precision:g} on each side, on average")
    model = None
    if arguments.model:
        from syntagm.models import names

        model = names.load_permitted(arguments.model, _options.given_permissions(arguments))
    made = make.planned(suites, wishes, model, arguments.words)
    make.write(made, arguments.output)
    for line in _described(made):
        print(shown_lines(line))
    edited = f"{arguments.output}/study.toml and the texts in {arguments.output}/texts"
    print(shown_lines(f"plan: {arguments.output}/plan.json. Edit {edited}."))
    return 0


def _suites(arguments: argparse.Namespace, names: list[str]) -> "list[Suite]":
    return _files.read_suites(names, arguments.allow_pickle) if names else []


def _exclusions(arguments: argparse.Namespace, rules: "Exclusions") -> "Exclusions":
    given = {
        "catch": arguments.exclude_catch, "questions": arguments.exclude_questions, "fastest": arguments.exclude_faster,
        "slowest": arguments.exclude_slower, "sameness": arguments.exclude_same,
    }  # fmt: skip
    for name, value in given.items():
        most = 1.0 if name in ("catch", "questions", "sameness") else float("inf")
        if value is not None and not (0 <= value <= most and math.isfinite(value)):
            expected = "a share from 0 to 1" if most == 1 else "at least 0 ms"
            raise UsageError(f"--exclude-{_OPTIONS.get(name, name)}", f"{value:g}", expected)
    if arguments.exclude_slower and arguments.exclude_slower <= (arguments.exclude_faster or 0):
        raise UsageError("--exclude-slower", f"{arguments.exclude_slower:g}", "more than --exclude-faster, in ms")
    kept: dict[str, Any] = {name: float(value) for name, value in given.items() if value is not None}
    return replace(rules, **kept, complete=rules.complete and not arguments.keep_unfinished)


def _described(made: "Plan") -> Iterator[str]:
    from syntagm.experiment import plan

    first = [made.trials[number] for number, _ in plan.ordered(made, 0, 0)]
    roles = Counter(trial.role for trial in first)
    yield (
        f"{made.design.name}: {counted(len(made.suites), 'suite')}, {made.participants} people, "
        f"{counted(len(made.lists), 'list')}; a person answers "
        + ", ".join(f"{count} {role}" for role, count in roles.items()) + " trials"
    )  # fmt: skip
    for kind, sentences in (("rule", made.rules), ("analysis", made.analyses), ("note", made.notes)):
        yield from (f"{kind}: {sentence}" for sentence in sentences)


def _run_preview(arguments: argparse.Namespace) -> int:
    from syntagm.experiment import plan

    made = plan.read(arguments.folder)
    if not 1 <= arguments.list <= len(made.lists):
        raise UsageError("--list", str(arguments.list), f"1 to {len(made.lists)}")
    if arguments.person < 1:
        raise UsageError("--person", str(arguments.person), "at least 1")
    for place, (number, first) in enumerate(plan.ordered(made, arguments.list - 1, arguments.person - 1), 1):
        trial = made.trials[number]
        texts = trial.texts if first or len(trial.texts) == 1 else trial.texts[::-1]
        shown = " / ".join(texts)
        if trial.distractors:
            shown = " ".join(f"{word}|{wrong}" for (word, _), wrong in zip(trial.words, trial.distractors, strict=True))
        question = f"  {trial.question}" if trial.question else ""
        head = f"{place:>4}  {trial.role:<8}  {trial.suite} {trial.item} {trial.condition}"
        print(shown_lines(f"{head}: {shown}{question}"))
    return 0


def _run_simulate(arguments: argparse.Namespace) -> int:
    from syntagm.experiment import plan, simulate

    made = plan.read(arguments.folder)
    shares = {"--people-sd": arguments.people_sd, "--items-sd": arguments.items_sd}
    for name, value in {**shares, "--lapse": arguments.lapse, "--dropout": arguments.dropout}.items():
        if not 0 <= value <= (10 if name in shares else 0.95):
            raise UsageError(name, f"{value:g}", "a share from 0" if name in shares else "a share from 0 to 0.95")
    effect = simulate.EFFECTS[made.design.name] if arguments.effect is None else arguments.effect
    truth = simulate.Truth(effect, arguments.people_sd, arguments.items_sd, arguments.lapse, arguments.dropout)
    judge = None
    if arguments.judge:
        from syntagm.models import names

        judge = simulate.judged(made, names.load_permitted(arguments.judge, _options.given_permissions(arguments)))
    if arguments.browser is not None and arguments.dropout:
        raise UsageError("--dropout", "--browser beside it", "one of them", "Who walks through the pages finishes.")
    simulate.copy(arguments.folder, arguments.output)
    if arguments.browser is not None:
        from syntagm.experiment import walk

        people = simulate.Simulated(made, truth, arguments.seed, judge)
        for line in walk.walk(arguments.output, people, arguments.browser):
            print(shown_lines(line), flush=True)
        return 0
    study = simulate.fill(arguments.output, simulate.Simulated(made, truth, arguments.seed, judge))
    _print_progress(study)
    study.close()
    return 0


def _run_import(arguments: argparse.Namespace) -> int:
    from syntagm.experiment import answers, people, plan, read

    made, folder = read.plan_of(arguments.source, arguments.plan)
    audit = answers.Audit()
    given = answers.audited(made, read.read(arguments.source, made, read.columns_of(arguments.column), audit), audit)
    for line in audit.lines():
        print(shown_lines(f"warning: {line}"), file=sys.stderr)
    command, simulated = " ".join(["syntagm", *sys.argv[1:]]), read.simulated(arguments.source)
    finished, applied = people.run_of(
        made, plan.digest(folder), given, audit, arguments.label, arguments.output, command=command, simulated=simulated
    )
    print(shown_lines(f"people: {finished.record['people']['people']}, excluded: {len(applied.people)}"))
    for person, reason in applied.people.items():
        print(shown_lines(f"  {person}: {reason}"))
    from syntagm.cli._screen import show_run

    show_run(finished, None)
    return 1 if audit.found.keys() - {answers.MISSING, answers.UNLISTED, answers.UNASKED} else 0


def _run_status(arguments: argparse.Namespace) -> int:
    from syntagm.experiment import Study, answers

    if arguments.models and not arguments.alarms:
        raise UsageError("--models", "given without --alarms", "both", "Alarms compare answers with those of models.")
    study = Study(arguments.folder)
    _print_progress(study)
    said = study.said().values()
    for place, (text, refused) in enumerate(study.plan.questions):
        given = [texts[place] for texts in said if len(texts) > place and texts[place].strip()]
        excluding = sum(answers.refuses(answer, refused) for answer in given)
        counts = f"answers: {len(given)}, of which exclude: {excluding}"
        print(shown_lines(f"asked{'' if refused else ', hidden'}: {text} {counts}"))
    if arguments.alarms:
        from syntagm.experiment import alarms
        from syntagm.runs import open_run

        margins = [alarms.margins_of(open_run(folder), study.plan) for folder in arguments.models]
        rung = alarms.of_study(study, margins)
        for alarm in rung:
            print(shown_lines(f"alarm: {alarm.person}: {alarm.sentence}"))
        print(f"alarms: {len(rung)}; they inform, and exclude nobody")
    study.close()
    return 1 if study.lost else 0


def _run_export(arguments: argparse.Namespace) -> int:
    from syntagm.experiment import Study, answers, texts

    study = Study(arguments.folder)
    if arguments.said:
        columns: tuple[str, ...] = ("person", "question", "answer")
        rows: list[tuple[object, ...]] = [
            (person, question, csv.harmless(answer))
            for person, said in study.said().items()
            for question, answer in zip(texts.asked_at_end(study.plan, study.settings), said, strict=False)
        ]
    else:
        columns, rows = answers.table(study.plan, study.answers(), study.refused())
    # Earlier versions wrote no column `times`.
    _files.spare_csv(arguments.output, columns, arguments.force, columns[: len(answers.COLUMNS)])
    atomic.write(arguments.output, "".join(csv.lines(columns, rows)).encode())
    study.close()
    print(shown_lines(f"{arguments.output}: {len(rows):,} rows"))
    return 1 if study.lost else 0


def _run_forget(arguments: argparse.Namespace) -> int:
    from syntagm.experiment import Study

    study = Study(arguments.folder)
    count = study.forget(arguments.person)
    study.close()
    print(
        shown_lines(f"{arguments.person}: deleted, with {count:,} answers. Earlier runs and exports still have them.")
    )
    return 0


def _run_close(arguments: argparse.Namespace) -> int:
    from syntagm.experiment import State, Study

    if arguments.pause and arguments.open:
        raise UsageError("--pause", "--open beside it", "one of them")
    if arguments.forget_key and (arguments.pause or arguments.open):
        raise UsageError("--forget-key", "a study that is not closed", "the end of the study")
    study = Study(arguments.folder)
    state: State = "paused" if arguments.pause else "open" if arguments.open else "closed"
    study.set_state(state, arguments.forget_key)
    _print_progress(study)
    study.close()
    return 1 if study.lost else 0


def _run_deploy(arguments: argparse.Namespace) -> int:
    from syntagm.experiment import jspsych, pcibex, plan, texts

    if error := texts.unreachable(arguments.folder, plan.read(arguments.folder).design):
        print(shown_lines(f"warning: {error}"), file=sys.stderr)
    write = {"jspsych": jspsych.write, "pcibex": pcibex.write}[arguments.form]
    for line in write(arguments.folder, arguments.output):
        print(shown_lines(line))
    return 0


def _print_progress(study: "Study") -> None:
    progress = study.progress()
    done, live, gone = progress.totals
    kind = " (simulated people)" if study.simulated else ""
    minutes = f"; median time {progress.minutes:.1f} minutes" if progress.minutes is not None else ""
    print(
        f"{progress.state}{kind}: {done} of {study.plan.participants} finished, {live} taking part, {gone} gone; "
        f"{progress.answers:,} answers{minutes}"
    )
    for number, ((done, live, gone), quota) in enumerate(zip(progress.lists, progress.quotas, strict=True), 1):
        print(f"  list {number}: {done} of {quota} finished, {live} taking part, {gone} gone")


_ACTIONS = {
    "make": _run_make, "preview": _run_preview, "simulate": _run_simulate, "deploy": _run_deploy, "import": _run_import,
    "status": _run_status, "export": _run_export, "forget": _run_forget, "close": _run_close,
}  # fmt: skip
