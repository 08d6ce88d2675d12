"""An experiment as a project of PCIbex (Zehr & Schwarz 2018): a table with the column Group, and a script.

PCIbex gives Group as the list; the script shows trials in the order of the table, which is that of the plan. Mazes use the
controller Maze of Boyce's Ibex modules, which has to be added to the project. What Syntagm writes is checked statically
only: no PCIbex runs in its tests.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import atomic, csv
from syntagm.experiment import deployed, plan, texts
from syntagm.experiment.plan import Plan

COLUMNS = (
    "Group", "order", "list", "trial", "first", "second", "firstchoice", "secondchoice", "distractors", "question",
)  # fmt: skip
_BODIES = {
    "pair": """
    newText("_question", QUESTION).print(),
    newText("first", row.first).print(),
    newText("second", row.second).print(),
    newSelector("choice").add(getText("first"), getText("second")).keys("1", "2").log().wait()""",
    "verdict": """
    newText("_question", QUESTION).print(),
    newText("_sentence", row.first).print(),
    newScale("choice", "yes", "no").button().keys("Y", "N").log().print().wait()""",
    "rating": """
    newText("_question", QUESTION).print(),
    newText("_sentence", row.first).print(),
    newScale("rating", 7).button().keys().log().print().wait()""",
    "magnitude": """
    newText("_question", QUESTION).print(),
    newText("_reference", "100: " + REFERENCE).print(),
    newText("_sentence", row.first).print(),
    newTextInput("rating").log().print().wait(getTextInput("rating").testNot.text(""))""",
    "reading": """
    newController("DashedSentence", {s: row.first.split(" "), mode: "self-paced reading", display: "dashed"})
        .log().print().wait().remove()""",
    "maze": """
    newController("Maze", {s: row.first, a: row.distractors, redo: REDO}).log().print().wait().remove()""",
}  # fmt: skip


def write(folder: Path, target: Path) -> Iterator[str]:
    """Write the files of the project; yield what to do with them, as sentences."""
    made, data, settings = plan.read(folder), deployed.data(folder), texts.settings(folder)
    with atomic.used_folder(target):
        for name in ("data_includes", "chunk_includes"):
            atomic.make_folder(atomic.inside(target, name))
        atomic.write(target / "chunk_includes/trials.csv", "".join(csv.lines(COLUMNS, list(rows(made)))).encode())
        for name in ("consent", "instructions", "debriefing"):
            atomic.write(target / f"chunk_includes/{name}.html", f"{data[name]}\n".encode())
        atomic.write(target / "data_includes/main.js", script(data, settings.completion_code).encode())
    yield f"{target}: make an empty project on PCIbex, and upload the files of both folders to the parts of the same name."
    yield "This project was checked statically, and not run: try it out before you ask people."
    if data["kind"] == "maze":
        yield "Add Maze.js of https://github.com/vboyce/Maze to the project's Modules (js_includes)."
    yield f"results: syntagm experiment import RESULTS.csv --plan {folder} -o RUN"


def rows(made: Plan) -> Iterator[Sequence[object]]:
    """Yield the rows of the table: the trials of each planned person, who is a group, in order."""
    for group, (number, shown) in enumerate(deployed.people(made), 1):
        for place, (at, first) in enumerate(shown, 1):
            trial = made.trials[at]
            texts_of, choices = (trial.texts, trial.choices) if first else (trial.texts[::-1], trial.choices[::-1])
            pair = len(trial.texts) == 2
            yield (
                group, place, number + 1, trial.id, texts_of[0], texts_of[1] if pair else "", *(choices if pair else ("", "")),
                " ".join(trial.distractors), trial.question,
            )  # fmt: skip


def script(data: dict[str, Any], completion_code: str) -> str:
    """Return main.js."""
    kind = str(data["kind"])
    body = (
        _BODIES[kind]
        .replace("QUESTION", json.dumps(data["question"]))
        .replace("REFERENCE", json.dumps(data["reference"]))
    )
    body = body.replace("REDO", "false" if data["errors"] == "stop" else "true")
    if kind == "pair":
        # A selection is logged by the name of its element, which is the condition.
        body = body.replace('newText("first"', "newText(row.firstchoice").replace(
            'newText("second"', "newText(row.secondchoice"
        )
        body = body.replace(
            'getText("first"), getText("second")', "getText(row.firstchoice), getText(row.secondchoice)"
        )
    ask = "\n".join(
        f'    newTextInput("ask{number}").before(newText({json.dumps(text)})).log().print(),'
        for number, text in enumerate(data["ask"])
        if text
    )
    code = f"newText({json.dumps('Your completion code is ' + completion_code)}).print()," if completion_code else ""
    return f"""// Written by syntagm. The plan is {data["plan"]}.
PennController.ResetPrefix(null);
DebugOff();
Header(
    newVar("person").global()
        .set(GetURLParameter("PROLIFIC_PID") || GetURLParameter("id") || Math.random().toString(36).slice(2))
).log("person", getVar("person"));
Sequence("consent", "instructions", "trials", "questions", SendResults(), "debriefing");
newTrial("consent", newHtml("consent.html").print(), newButton("I agree, and want to begin").print().wait());
newTrial("instructions", newHtml("instructions.html").print(), newButton("Begin").print().wait());
Template("trials.csv", row => newTrial("trials",{body}{_QUESTION}
).log("person", getVar("person")).log("list", row.list).log("trial", row.trial));
newTrial("questions",
{ask}
    newButton("Finish").print().wait()
);
newTrial("debriefing", newHtml("debriefing.html").print(), {code} newButton("void").wait())
    .setOption("countsForProgressBar", false);
"""


_QUESTION = """,
    ...(row.question ? [
        clear(),
        newText("_asked", row.question).print(),
        newScale("question", "yes", "no").button().keys("Y", "N").log().print().wait()
    ] : [])"""
