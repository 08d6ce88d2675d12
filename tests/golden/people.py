"""Steps about people: studies, whose people are simulated, analyses of reading times, and the tables and figures of both."""

from .step import Step

STEPS: list[Step] = []


def _add(out: str, command: str, quick: bool = True, exit: int = 0) -> None:
    STEPS.append(Step(out, command, quick, exit))


_SAMPLE = "--limit 6 --seed 3"
_STUDY = f"hu2020/number_prep {_SAMPLE} --participants 8"
_DESIGNS = {
    "forced-choice": f"warstadt2020/causative {_STUDY}",
    "acceptability": f"{_STUDY} --exclude-same 0.9",
    "yes-no": f"{_STUDY} --fillers texts/pairs.tsv --per-person 4",
    "magnitude": _STUDY,
    "self-paced": f"{_STUDY} --exclude-faster 100",
    "maze": f"{_STUDY} --model models/5gram",
}
for _design, _options in _DESIGNS.items():
    _quick = _design in ("forced-choice", "self-paced")
    _asked = f"studies/{_design}_asked"
    _add(f"studies/{_design}", f"experiment make {_options} --design {_design} -o {{out}}", _quick)
    _add(_asked, f"experiment simulate studies/{_design} -o {{out}} --dropout 0.2 --seed 2", _quick)
    _add(f"studies/{_design}_status", f"experiment status {_asked} --alarms", _quick)
    _add(f"studies/{_design}_answers", f"experiment export {_asked} -o {{out}}.csv", _quick)
    _add(f"runs/people_{_design}", f"experiment import {_asked} -o {{out}} --label {_design}", _quick)
PEOPLE = "runs/people_forced-choice"
_CHOICES = "studies/forced-choice"
_add("studies/no_effect", f"experiment simulate {_CHOICES} -o {{out}} --effect 0")
_add("studies/judge", f"experiment simulate {_CHOICES} -o {{out}} --judge models/5gram", False)
_add("studies/preview", "experiment preview studies/self-paced --list 2")
_add("studies/deployed", "experiment deploy studies/self-paced --as pcibex -o {out}")
_add(
    "studies/precise",
    f"experiment make hu2020/number_prep --design forced-choice --precision 0.2 --pilot {PEOPLE} -o {{out}}",
    False,
)
_add("studies/preset", "experiment make warstadt2020/causative --preset warstadt2020 -o {out}", False)
_add("runs/people_table", f"experiment import {_CHOICES}_answers.csv --plan {_CHOICES} -o {{out}} --label table")
_add(
    "runs/read", f"run models/5gram --suite hu2020/number_prep warstadt2020/causative {_SAMPLE} -o {{out}} --no-report"
)

# Reading times: those of `texts/times.csv` are analysed; effects are those of the suite of the studies.
_SCORES = "--scores reading/words.csv --texts order"
_add("reading/words", "score models/5gram --file texts/stories.txt --by word -o {out}.csv")
_add("reading/check", "reading check texts/times.csv")
_add("reading/check_json", f"reading check texts/times.csv {_SCORES} --json")
_add("reading/check_alarms", "reading check texts/times_in_s.csv", exit=1)
_add("reading/joined", "reading join texts/times.csv reading/words.csv --texts order -o {out}.csv")
_add(
    "reading/table",
    "reading table texts/times.csv --model models/5gram --name ngram --model toy --name toy --entropy"
    " --frequency texts/frequencies.csv -o {out}.csv",
)
_add("reading/table_long", f"reading table texts/times.csv {_SCORES} --form long -o {{out}}.parquet")
_TABLE = "reading/table.csv --response time --baseline length frequency"
_MIXED = "--model mixed --random '(1 + bits_ngram | participant)'"
for _name, _options in {
    "fit": "--add ngram=bits_ngram --add toy=bits_toy --lags 2 [--slopes {out}.slopes.csv]",
    "fit_by": "--add bits_ngram --lags 1 --by language --folds sentence:5",
    "fit_mixed": f"--add bits_ngram --lags 1 {_MIXED} --folds participant:4",
    "fit_smooth": "--add bits_ngram --lags 1 --model smooth --folds text:4",
    "fit_loglinear": "--add bits_ngram --where language=en --model loglinear --methods",
}.items():
    _add(f"reading/{_name}", f"reading fit {_TABLE} {_options} -o {{out}}.csv")
_add("reading/suite", "export runs/read --as words -o {out}.csv")
_BITS = f"{_TABLE} --add ngram=bits_ngram --lags 2"
_ANSWERS = "--people studies/self-paced_answers.csv"
for _name, _options in {
    "effects_words": f"{_BITS} [--times words]",
    "effects_regions": f"{_BITS} [--times regions]",
    "effects_people": f"{_BITS} {_ANSWERS}",
    "effects_items": f"{_BITS} {_ANSWERS} --by-item",
    "effects_mixed": f"{_BITS} {_ANSWERS} {_MIXED}",
    "effects_people_words": f"{_BITS} --people texts/people.csv [--times words]",
    "effects_people_regions": f"{_BITS} --people texts/people.csv [--times regions]",
    "effects_slopes": "--ms-per-bit 2.5,1.25 [--times words]",
}.items():
    _contrast = "--words reading/suite.csv --contrast mismatch_sing-match_sing"
    _add(f"reading/{_name}", f"reading effects {_options} {_contrast} -o {{out}}.csv")

_GAINS, _SHAPE = "reading/fit.csv reading/fit_mixed.csv", "reading/fit_smooth.csv"
_MS = "reading/effects_people.csv reading/effects_mixed.csv"
READING = f"{_GAINS} {_SHAPE} {_MS}"
for _view, _files in {"gain": _GAINS, "lag": _GAINS, "shape": _SHAPE, "ms": _MS}.items():
    _add(f"tables/{_view}-read", f"table {_view} {_files} -o {{out}}")
    _add(f"figures/{_view}-read", f"figure {_view} {_files} -o {{out}} --format vl.json")
_PACED = "runs/people_self-paced"
for _view, _of, _runs in (
    ("people", "forced", PEOPLE),
    ("people", "paced", _PACED),
    ("people_effects", "paced", _PACED),
    ("ceiling", "forced", f"{PEOPLE} runs/read"),
):
    _add(f"tables/{_view}-{_of}", f"table {_view} {_runs} -o {{out}}")
_add("figures/people_effects-paced", f"figure people_effects {_PACED} -o {{out}} --format vl.json")
_add("tables/people_effects-ratings", "table people_effects runs/people_acceptability -o {out}", False)
_add("looks/cite_people", f"cite runs/read {PEOPLE} {_PACED}")
_add("looks/cite_reading", f"cite {READING} -o {{out}}")
_add("looks/report_people", "report runs/people_acceptability -o {out}.html", False)
_add("looks/report_reading", f"report {READING} -o {{out}}.html")
