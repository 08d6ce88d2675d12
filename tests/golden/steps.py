"""The commands whose output is recorded, in order; later ones use what earlier ones made.

A step keeps what it prints (`NAME.said`) and every file whose name begins with its own, which stands for `{out}` in the command.
An option in square brackets is given only where the checkout has it.
Views (`syntagm table`, `syntagm figure`) go by their names of today, whatever a checkout calls them.
"""

from . import people
from .people import PEOPLE, READING
from .step import Step

STEPS: list[Step] = []


def _add(
    out: str,
    command: str,
    quick: bool = False,
    exit: int = 0,
    said: bool = True,
    asks: tuple[tuple[str, str], ...] = (),
) -> None:
    STEPS.append(Step(out, command, quick, exit, said, asks))


_TEXTS = "--corpus texts/train.txt --valid texts/valid.txt"
_EXCERPT = "--corpus excerpt --valid texts/valid.txt --epochs 1"
_SMALL = "--layers 1 --width 32 --heads 2 --positions 128 --window 64 --warmup 10 --vocabulary 600"
_TINY = "--layers 1 --width 16 --heads 2 --positions 64 --window 16 --warmup 2 --batch 8 --epochs 2"

# Trainings: settings, held-out history and hashes of weights.
_add("models/5gram", "train ngram --corpus excerpt --discount-fallback -o {out}", quick=True)
_add("models/lstm", f"train lstm {_EXCERPT} --embedding 16 --hidden 16 --layers 1 --batch 64 -o {{out}}")
_add("models/gpt2", f"train gpt2 {_EXCERPT} {_SMALL} -o {{out}}")
_add("models/bert", f"train masked {_EXCERPT} {_SMALL} --lower -o {{out}}")
_add("models/unigram", f"train ngram {_TEXTS} --order 1 --discount-fallback --unknown none -o {{out}}", quick=True)
_add(
    "models/trigram",
    f"train ngram {_TEXTS} --order 3 --prune 0 0 1 --lmplz-compatible no --unknown single --tokens blanks"
    " --discount-fallback -o {out}",
    quick=True,
)
_add(
    "models/lstm_tied",
    f"train lstm {_TEXTS} --embedding 8 --hidden 8 --tied --optimiser adamw --schedule cosine --lr 0.01 --warmup 2 --epochs 2"
    " --every 3 --seed 2 --batch 4 --window 10 --unknown none -o {out}",
)
_add("models/gpt2_words", f"train gpt2 {_TEXTS} {_TINY} --units words --cloze texts/cloze.txt --lines 16 -o {{out}}")
_add(
    "models/gpt2_start",
    f"train gpt2 {_TEXTS} {_TINY} --init-from models/gpt2_words --seed 3 --save-dtype f16 -o {{out}}",
)
_add("models/bert_cased", f"train masked {_TEXTS} {_TINY} --vocabulary 200 --mask-prob 0.3 --patience 1 -o {{out}}")

# Runs: MODEL-SUITES. `all` are the models of which all exports are kept.
_MODELS = {
    "toy": "toy",
    "5gram": "models/5gram",
    "demo": "demo",
    "lstm": "models/lstm",
    "bert": "models/bert?regions=yes",
    "gpt2": "models/gpt2",
    "random": "random?seed=3",
}
_EXPORTED = ("toy", "5gram", "demo", "lstm", "bert")
_PICKLES = " ".join(
    f"'shared/data/marvin_linzen/{name}.pickle?n=8'"
    for name in ("prep_inanim", "sent_comp", "simple_agrmt", "simple_npi_anim", "simple_reflexives", "vp_coord")
)
_ENGLISH = (
    "shared_slices/syntaxgym/*.json shared_slices/blimp/*.jsonl shared_slices/refining_tse/*.jsonl "
    "'shared_slices/minimal_pairs/zorro/anaphor_agreement-pronoun_gender.txt?format=zorro' "
    f"{_PICKLES} --allow-pickle"
)
_WORLD = (
    "shared_slices/minimal_pairs/sling/*.jsonl shared_slices/minimal_pairs/lindsea/*.jsonl "
    "shared_slices/minimal_pairs/rublimp/*.csv shared_slices/minimal_pairs/turblimp/*.csv "
    "'shared_slices/minimal_pairs/clams/de_evalset.vp_coord.txt?format=clams'"
)
_SUITES = {
    "hu": "hu2020",
    "ml": "marvin2018 -n 4 --seed 7",
    "bl": "'warstadt2020?n=4' texts/pairs.tsv",
    "shared": _ENGLISH,
}
_MIXED = "hu2020/mvrr hu2020/number_prep marvin2018/simple_agrmt marvin2018/simple_npi_anim warstadt2020/causative"
_MIXED += " warstadt2020/distractor_agreement_relative_clause"
_MIXED = " ".join(f"'{_one}?n=12'" for _one in _MIXED.split()) + " texts/pairs.tsv"
for _model, _name in _MODELS.items():
    if _model in ("toy", "5gram", "demo"):
        _add(f"runs/{_model}-mixed", f"run '{_name}' --suite {_MIXED} -o {{out}} --no-report", True)
    for _key, _suites in _SUITES.items():
        if _model not in _EXPORTED and _key != "bl":
            continue
        _quick = _key == "hu" and _model in ("toy", "5gram")
        _add(f"runs/{_model}-{_key}", f"run '{_name}' --suite {_suites} -o {{out}} --no-report --no-cache", _quick)
_add(
    "runs/toy-samples",
    "run toy --suite samples/blimp samples/pairs/typed.tsv samples/syntaxgym/lanterns.json -o {out}",
    True,
)
for _model in ("toy", "5gram"):
    _add(f"runs/{_model}-world_shared", f"run '{_MODELS[_model]}' --suite {_WORLD} -o {{out}} --no-report")
    _add(f"exports/{_model}-world_shared", f"export runs/{_model}-world_shared --as tokens -o {{out}}.csv")
for _count in ("first", "second"):
    _add(f"runs/cached_{_count}", "run demo --suite hu2020/cleft --cache kept.sqlite -o {out} --no-report")
_add("runs/start_shared", "run models/5gram --suite shared_slices/syntaxgym/*.json --align start -o {out} --no-report")
_add("runs/published", "run demo --suite marvin2018/vp_coord -n 10 --seed 3 --style published -o {out} --no-report")
_add("runs/both_sides", "run models/bert --suite hu2020/npi_src marvin2018/simple_npi_anim -n 10 -o {out} --no-report")
_add("runs/resumed", "run toy --suite hu2020/mvrr -o runs/toy-hu", exit=2)

# What models say of single texts, under each of their options.
_TEXT = "'The keys to the cabinet are here.' 'No author has ever seen it .'"
_ASKED = {
    "toy": "toy",
    "random": "random?unigram=yes",
    "demo_word": "demo?boundary=word&eos=yes",
    "demo_f64": "demo?bos=no&dtype=f64&sharing=no",
    "demo_bf16": "demo?dtype=bf16",
    "5gram": "models/5gram?eos=yes",
    "trigram": "models/trigram",
    "5gram_tokens": "models/5gram?tokens=blanks",
    "lstm_tied": "models/lstm_tied?eos=yes",
    "gpt2_words": "models/gpt2_words",
    "bert_word": "models/bert_cased?masking=word",
}
_FAST = ("toy", "random", "5gram", "trigram", "demo_word")
for _key, _name in _ASKED.items():
    _add(f"texts/score_{_key}", f"score '{_name}' --json {_TEXT}", _key in _FAST)
_add("texts/score_table", f"score models/5gram {_TEXT}", True)
for _key in ("5gram", "lstm", "gpt2"):
    _add(f"texts/perplexity_{_key}", f"perplexity models/{_key} texts/test.txt --json", _key == "5gram")
_add("texts/perplexity_lines", "perplexity models/5gram texts/test.txt texts/valid.txt", True)
_add("texts/perplexity_bert", "perplexity models/bert texts/valid.txt --no-end --json")
_add("texts/perplexity_shared", "perplexity models/5gram shared/data/corpora/ptb_sample.test.trees --json")

# Blanks.
_FILLED = "--suite marvin2018/simple_agrmt marvin2018/obj_rel_within_anim -n 6"
_RANKED = "--words verbs --eligible single-token --top 0.5 0.9 --bottom 0.01 0.1"
_add("fills/demo", f"fill demo {_FILLED} {_RANKED} -o {{out}} --no-report", True)
_add("fills/5gram", f"fill models/5gram {_FILLED} {_RANKED} -o {{out}} --no-report", True)
_add("fills/lstm", f"fill models/lstm {_FILLED} {_RANKED} -o {{out}} --no-report")
_add("fills/bert", f"fill models/bert {_FILLED} {_RANKED} -o {{out}} --no-report")
_add(
    "fills/demo_all",
    "fill demo --suite marvin2018/simple_agrmt hu2020/number_prep -n 2 --words texts/words.csv -o {out}",
)
_add(
    "fills/demo_token",
    "fill 'demo?fill=token' --suite hu2020/number_prep -n 2 --words texts/words.csv -o {out} --no-report",
)
_add(
    "fills/reflexives",
    "fill models/lstm --suite hu2020/reflexive_prep marvin2018/simple_reflexives -n 8 --words reflexives -o {out}",
)
_add(
    "fills/gender",
    "fill models/bert --suite warstadt2020/principle_A_c_command -n 8 --words reflexive_gender -o {out} --no-report",
)
_add(
    "fills/shared_word",
    "fill models/5gram --suite hu2020/npi_src --words npis --blank shared -o {out} --no-report",
    True,
)
_add(
    "fills/bert_several",
    "fill 'models/bert?masks=several' --suite marvin2018/simple_agrmt -n 3 --words texts/words.csv -o {out} --no-report",
)
_add("fills/toy", f"fill toy {_FILLED} --words texts/words.csv --top 0.9 -o {{out}}", True)
_LIST = "--words 'shared/data/refining_tse/combined_verb_list.csv?faults=keep' --eligible single-token"
_add(
    "fills/published_shared",
    f"fill 'demo?bos=no&fill=token' --suite shared_slices/refining_tse/*.jsonl {_LIST}"
    " --top published --bottom published -o {out}",
)

_add(
    "fills/most_probable",
    "fill demo --suite marvin2018/simple_agrmt -n 3 --words verbs --most-probable 5 -o {out} --no-report",
    True,
)

# Exports.
for _model in _EXPORTED:
    for _key in ("mixed", *_SUITES) if _model in ("toy", "5gram", "demo") else _SUITES:
        for _kind in ("tokens", "regions", "results", "scores"):
            _quick = (_model, _key) in (("toy", "hu"), ("demo", "mixed"), ("5gram", "mixed"))
            _out = f"exports/{_model}-{_key}-{_kind}"
            _add(_out, f"export runs/{_model}-{_key} --as {_kind} -o {{out}}.csv", _quick)
    _add(f"exports/{_model}-bl-harness", f"export runs/{_model}-bl --as lm-eval -o {{out}}/results.json")
_add("exports/trigram", "export models/trigram --as arpa -o {out}.arpa", True)
_add("exports/fill-results", "export fills/demo --as results -o {out}.csv", True)
_add("exports/fill-scores", "export fills/demo --as scores -o {out}.csv", True)
_add("exports/fill-tokens", "export fills/demo --as tokens -o {out}.csv", True, exit=2)
_add("texts/score_arpa", f"score ngram:exports/trigram.arpa {_TEXT} --json", True)
_add("runs/recorded", f"run recorded:exports/demo-mixed-tokens.csv --suite {_MIXED} -o {{out}} --no-report", True)


def _runs(what: str, *models: str) -> str:
    return " ".join(f"runs/{model}-{what}" for model in models or _EXPORTED)


_TWO, _THREE = ("5gram", "demo"), ("toy", "5gram", "demo")
_ALL_BL = _runs("bl", *_MODELS)
_PLACES = "x=words:1e5,1e6,1e7,1e5,1e6,1e7 series=a,a,a,b,b,b"
_SERIES = _runs("bl", "5gram", "lstm", "demo", "toy", "random", "gpt2") + f" {_PLACES}"
_QUICK_SERIES = _runs("mixed", *_THREE) + " x=1,2,4 series=a,a,a"
_FILLS = "fills/demo fills/5gram fills/lstm fills/bert"
# The controlled experiment, tiny, whose folder tells views the sizes of texts.
_SIZES = "--sizes xs=480,sm=1200 --seeds 1,2 --suite hu2020/number_src hu2020/subordination hu2020/nn-nv-rpl"
_NETS = [f"lstm.{one}" for one in ("layers=1", "hidden=8", "embedding=8", "epochs=2", "batch=8")]
_add(
    "papers/experiment",
    f"reproduce hu2020 --corpus texts/train.txt --valid texts/valid.txt --test texts/test.txt -o {{out}} {_SIZES}"
    f" --families ngram,lstm --set {' '.join(_NETS)}",
    said=False,
)
_TRAINED = " ".join(f"papers/experiment/runs/{one}" for one in ("ngram-xs", "ngram-sm", "lstm-xs-1", "lstm-sm-1"))

STEPS += people.STEPS

# Tables: name of the view, what it is of, whether it is quick. Views that are not listed have a step, too: `plain`.
_TABLES = [
    ("scores", "hu", _runs("hu"), False),
    ("scores", "mixed", _runs("mixed", *_THREE), True),
    ("scores", "all", _runs("hu", *_TWO) + " measure=all", False),
    ("scores", "each_wide", _runs("mixed", *_THREE) + " measure=each wide=yes", True),
    ("scores", "prefix", _runs("bl") + " measure=one_prefix", False),
    ("scores", "fill", _FILLS + " measure=each", False),
    ("scores", "fill_quick", "fills/demo fills/5gram measure=model_weight", True),
    ("scores", "shared", _runs("shared"), False),
    ("groups", "hu", _runs("hu"), False),
    ("groups", "mixed", _runs("mixed", *_THREE), True),
    ("groups", "wide", _runs("hu") + " by=circuit wide=yes measure=all", False),
    ("groups", "term", _runs("bl") + " by=linguistics_term measure=full_sentence", False),
    ("groups", "fill", _FILLS + " by=construction measure=equal_weight", False),
    ("comparison", "hu", _runs("hu", "toy", "5gram", "demo"), False),
    ("comparison", "mixed", _runs("mixed", *_TWO), True),
    ("comparison", "ml", _runs("ml", *_TWO) + " measure=full_sentence", False),
    ("comparison", "fill", "fills/demo fills/5gram measure=equal_weight", True),
    ("significance", "hu", _runs("hu", "5gram", "lstm", "demo"), False),
    ("significance", "mixed", _runs("mixed", *_TWO), True),
    ("discordant", "hu", _runs("hu", *_TWO) + " limit=20", False),
    ("discordant", "mixed", _runs("mixed", *_TWO), True),
    ("items", "hu", _runs("hu") + " suite=mvrr", False),
    ("items", "mixed", _runs("mixed", *_THREE) + " suite=number_prep", True),
    ("items", "fill", "fills/demo fills/5gram suite=simple_agrmt measure=model_weight", True),
    ("clustered", "ml", _runs("ml") + " by=lemma", False),
    ("clustered", "mixed", _runs("mixed", *_TWO) + " by=lemma", True),
    ("clustered", "region", _runs("ml", *_TWO) + " by=region:critical suite=simple_agrmt measure=one_prefix", False),
    ("lexical", "ml", _runs("ml") + " by=lemma", False),
    ("lexical", "mixed", _runs("mixed", *_TWO) + " by=lemma", True),
    (
        "lexical",
        "unigrams",
        _runs("ml", *_TWO) + " by=region:critical suite=simple_agrmt,vp_coord unigrams=texts/train.txt",
        False,
    ),
    ("normalised", "ml", _runs("ml") + " unigrams=texts/train.txt", False),
    ("normalised", "mixed", _runs("mixed", *_TWO) + " unigrams=texts/train.txt suite=simple_agrmt", True),
    (
        "normalised",
        "slor",
        _runs("bl", *_TWO) + " unigrams=ngram:models/unigram by=slor tokens=treebank case=lower",
        False,
    ),
    ("trajectory", "two", f"{_SERIES} level=0.3", False),
    ("trajectory", "mixed", f"{_QUICK_SERIES} level=chance by=circuit", True),
    ("trajectory", "linear", f"{_SERIES} by=suite measure=all scale=linear", False),
    ("trajectory", "trained", _TRAINED, False),
    ("trajectory_gap", "two", _SERIES, False),
    ("trajectory_gap", "trained", f"{_TRAINED} by=circuit scale=linear", False),
    ("trajectory_gap", "mixed", _runs("mixed", *_THREE) + " runs/recorded x=1,2,1,2 series=a,a,b,b", True),
    ("equivalence", "mixed", _runs("mixed", *_TWO) + " bound=0.2", True),
    ("factors", "mixed", _runs("mixed", *_TWO) + " by=lemma", True),
    ("top_words", "fill", "fills/most_probable", True),
]
for _view, _of, _rest, _quick in _TABLES:
    _add(f"tables/{_view}-{_of}", f"table {_view} {_rest} -o {{out}}", _quick)

_FIGURES = [
    ("scores", "hu", _runs("hu"), False),
    ("scores", "mixed", _runs("mixed", *_THREE) + " measure=all", True),
    ("scores", "fill", _FILLS + " measure=equal_weight", False),
    ("margins", "hu", _runs("hu") + " suite=cleft", False),
    ("margins", "mixed", _runs("mixed", *_TWO) + " suite=simple_agrmt measure=one_prefix", True),
    ("regions", "hu", _runs("hu") + " suite=mvrr", False),
    ("regions", "mixed", _runs("mixed", *_TWO) + " suite=number_prep", True),
    ("regions", "shared", _runs("shared", *_TWO) + " suite=center_embed", False),
    ("words", "hu", _runs("hu") + " suite=mvrr item=3", False),
    ("words", "mixed", _runs("mixed", *_TWO) + " suite=number_prep conditions=match_sing,mismatch_sing", True),
    ("lexical", "ml", _runs("ml") + " suite=simple_agrmt,vp_coord", False),
    ("lexical", "mixed", _runs("mixed", *_TWO) + " suite=simple_agrmt", True),
    ("trajectory", "two", f"{_SERIES} by=circuit level=chance", False),
    ("trajectory", "mixed", f"{_QUICK_SERIES} level=0.3", True),
    ("nucleus", "fill", _FILLS + " measure=model_weight", False),
    ("nucleus", "quick", "fills/demo fills/5gram", True),
    ("frequency_bands", "fill", _FILLS, False),
    ("frequency_bands", "quick", "fills/demo", True),
    ("classes", "hu", _runs("hu"), False),
    ("classes", "mixed", _runs("mixed", *_THREE), True),
    ("circuits", "hu", _runs("hu"), False),
    ("circuits", "mixed", _runs("mixed", *_THREE), True),
    ("circuits", "term", _runs("bl") + " tag=linguistics_term", False),
    ("modifiers", "hu", _runs("hu"), False),
    ("modifiers", "quick", _runs("hu", "toy", "5gram"), True),
    ("phenomena", "bl", _ALL_BL, False),
    ("phenomena", "mixed", _runs("mixed", *_TWO), True),
    ("learning_curve", "bl", _runs("bl") + " words=-,1e6,14e6,1e6,1e6", False),
    ("learning_curve", "mixed", _runs("mixed", *_TWO) + " words=1e6,14e6 measure=one_prefix", True),
    ("surface", "bl", _ALL_BL, False),
    ("surface", "mixed", _runs("mixed", *_TWO), True),
    ("methods", "bl", _ALL_BL, False),
    ("methods", "mixed", _runs("mixed", *_TWO), True),
    ("correlation", "bl", _ALL_BL, False),
    ("correlation", "hu", _runs("hu") + " measure=first", False),
    ("correlation", "mixed", _runs("mixed", *_THREE), True),
    ("factors", "mixed", _runs("mixed", *_TWO) + " by=lemma", True),
]
for _view, _of, _rest, _quick in _FIGURES:
    _formats = "vl.json" if _quick else "svg,vl.json"
    _add(f"figures/{_view}-{_of}", f"figure {_view} {_rest} -o {{out}} --format {_formats}", _quick)


def plain(kind: str, name: str) -> Step:
    """The step of a view that isn't listed above: of two runs, without options. A view that needs options is listed."""
    formats = " --format vl.json" if kind == "figure" else ""
    return Step(f"{kind}s/{name}-plain", f"{kind} {name} {_runs('mixed', *_TWO)} -o {{out}}{formats}", quick=True)


# Two models, pages, citations.
_PAIR = _runs("mixed", *_TWO)
_add("looks/compare", f"compare {_PAIR}", True)
_add("looks/compare_json", f"compare {_PAIR} --json -o {{out}}.csv", True)
_add("looks/compare_all", f"compare {_runs('hu', *_TWO)} --measure all --flips all --json")
_add("looks/compare_fill", "compare fills/demo fills/5gram --measure equal_weight --json", True)
_add("looks/compare_tse", "compare fills/demo fills/bert --measure tse")
_add("looks/cite", f"cite {_PAIR}", True, exit=1)
_add("looks/cite_latex", f"cite {_runs('hu')} --format latex -o {{out}} --also bates-etal-2015-fitting")
_add("looks/cite_fill", "cite fills/demo fills/bert fills/reflexives -o {out}")
_add("looks/report", f"report {_runs('mixed', *_THREE)} -o {{out}}.html --figures {{out}}.figures --format svg", True)
_add("looks/report_hu", f"report {_runs('hu', 'bert')} -o {{out}}.html")
_add("looks/report_shared", f"report {_runs('shared', 'demo')} -o {{out}}.html")
_add("looks/report_both_sides", "report runs/both_sides -o {out}.html")
_add("looks/report_fill", "report fills/demo -o {out}.html", True)
_add("looks/report_fills", f"report {_FILLS} -o {{out}}.html --figures {{out}}.figures --format svg")
_add("looks/report_mixed_kinds", "report fills/demo runs/demo-mixed -o {out}.html", True, exit=2)
_add("looks/no_verdicts", "table discordant fills/demo fills/5gram measure=equal_weight", True, exit=2)

# Folders of pages, with all tables as CSV, JSON and Parquet; and what only a server has: filters, a search, another convention,
# and suites as files. Its other tables are those of the folder, made by the same function; some show that they are the same.
_ALIKE = "runs/5gram-samples runs/toy-samples"
_add(
    "runs/5gram-samples",
    "run models/5gram --suite samples/blimp samples/syntaxgym/lanterns.json -o {out} --no-report",
    True,
)
_add("pages/read", f"report runs/read {READING} -o {{out}}/", True)
_add("pages/two", f"report {_PAIR} -o {{out}}/")
_add("pages/fill", "report fills/demo fills/5gram -o {out}/")
_add("pages/people", f"report {PEOPLE} -o {{out}}/", True)
_SERVED = {
    "index.html": "/",
    "scores.parquet": "/overview.parquet",
    "suite.html": "/suite/number_prep?verdict=fails&order=lowest",
    "suite.json": "/suite/number_prep.json?table=suite&verdict=holds",
    "items.csv": "/suite/number_prep.csv",
    "items.parquet": "/suite/number_prep.parquet",
    "item.html": "/suite/number_prep/10",
    "tokens.json": "/suite/number_prep/10.json",
    "tokens.parquet": "/suite/number_prep/10.parquet",
    "search.html": "/search?words=plumber",
    "search.csv": "/search.csv?words=plumber",
    "convention.csv": "/under/mean_word/overview.csv",
    "reading.parquet": "/reading.parquet",
    "reading.svg": "/reading.svg?figure=reading_gain",
}
_add("pages/served", f"serve runs/read {READING}", True, said=False, asks=tuple(_SERVED.items()))

# Suites.
for _key in ("hu2020", "marvin2018", "warstadt2020"):
    _add(f"suites/describe_{_key}", f"describe {_key} -o {{out}}.md")
    if _key != "marvin2018":
        _add(f"suites/check_{_key}", f"check {_key}")
_add("suites/describe_samples", "describe samples/syntaxgym/lanterns.json samples/blimp/lantern_agreement.jsonl", True)
_add("suites/describe_shared", "describe shared_slices/syntaxgym/*.json shared_slices/blimp/*.jsonl")
_FOLDERS = " ".join(f"samples/{name}" for name in ("check", "pairs", "clams", "climp", "comps", "ewok"))
_add("suites/check_samples", f"check {_FOLDERS} --all", True, exit=1)
_add(
    "suites/check_shared",
    "check shared/data/syntaxgym shared/data/blimp/passive_1.jsonl shared/data/marvin_linzen shared/data/minimal_pairs "
    "shared/data/refining_tse --allow-pickle",
)
_add("suites/check_json", f"check {_FOLDERS} --json", True, exit=1)
_add("suites/check_baselines", "check hu2020/mvrr texts/pairs.tsv --baselines --json", True)
_add("suites/describe_baselines", "describe hu2020/mvrr texts/pairs.tsv --baselines -o {out}.md", True)
_add("suites/make_hu", "make hu2020 -o {out}")
_add("suites/make_ml", "make marvin2018 -o {out} --as tsv -n 20 --style published", exit=1)
_add("suites/make_bl", "make warstadt2020 -o {out} --as blimp -n 20 --seed 7", True)
_add("suites/convert_csv", "convert samples/syntaxgym/lanterns.json {out}.csv --lossy", True)
_add("suites/convert_pairs", "convert samples/pairs/paradigms.csv {out}.jsonl --lossy", True)
_add("suites/convert_shared", "convert shared/data/marvin_linzen/simple_agrmt.pickle {out}.tsv --allow-pickle --lossy")

# Papers.
_add("papers/hu_raw_shared", "reproduce hu2020 --from-raw shared/data/hu2020 -o {out}", True)
_add("papers/warstadt_raw_shared", "reproduce warstadt2020 --from-raw shared/data/blimp -o {out}")
_add("papers/hu_runs", f"reproduce hu2020 --from-run {_runs('hu')} -o {{out}}")
_add("papers/hu_model", "reproduce hu2020 --model toy -o {out} --no-cache")
_add("papers/marvin_runs", f"reproduce marvin2018 --from-run {_runs('ml', *_TWO)} -o {{out}}")
_add("papers/marvin_model", "reproduce marvin2018 --model models/5gram -o {out} -n 4 --style published --no-cache")
_add(
    "papers/warstadt_runs", f"reproduce warstadt2020 --from-run {_runs('bl')} -o {{out}} --set words=-,1e6,14e6,1e6,1e6"
)
_add("papers/warstadt_trained", f"reproduce warstadt2020 --from-run {_runs('shared', *_TWO)} -o {{out}}")
_add("papers/newman_runs", f"reproduce newman2021 --from-run {_FILLS} -o {{out}}")
_add("papers/newman_published_shared", "reproduce newman2021 --from-run fills/published_shared -o {out}")
_add("papers/newman_model", "reproduce newman2021 --model models/5gram -o {out} -n 2")
