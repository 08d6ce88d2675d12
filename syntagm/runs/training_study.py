"""What a training study has recorded beside a run: how much text the run's model was trained on.

DIR/runs/NAME              a run directory
DIR/perplexity/NAME.json   the perplexity of its model, with the number of training words; sealed itself
DIR/models/NAME            the folder of its model, whose sealed `training.json` has the number of training tokens
"""

from syntagm.core import RENEWED, Form, RunError, seal
from syntagm.runs.store import Run
from syntagm.training import record as training

# perplexity/NAME.json. `requested_words` is the size of the subset in the design, `training_words` that of its text.
# `unseen_classes` are the classes of unknown words in the test text that did not occur in training, with their numbers of
# words; models over byte pairs have none.
PERPLEXITY = Form(
    "the perplexity of a model of an experiment",
    1,
    {
        "format": int,
        "family": str,
        "size": str,
        "seed": int,
        "sample?": int,
        "requested_words": int,
        "training_words": int,
        "model": str,
        "fingerprint": str,
        "policies": {str: str},
        "weights": str,
        "words": int,
        "unknown": int,
        "undefined": int,
        "bits": float,
        "bits_per_word": float,
        "perplexity": float,
        "perplexity_known": float,
        "bits_per_character": float,
        "unseen_classes?": {str: int},
        "renewed?": RENEWED,
    },
    "Remove it; the command that made the experiment then computes it again. If the change was intended, `syntagm seal` "
    "with the folder of the experiment renews the seal.",
)


def trained_on(run: Run, unit: str) -> tuple[int, str] | None:
    """Return the size of the text that a run's model was trained on, and its family; None if there is no record of it."""
    # A `training.json` in a folder without a seal is not a record of a training study.
    if run.root is None:
        return None
    place = run.root.resolve()
    name, study = place.name, place.parent.parent
    if unit == "words":
        path = study / "perplexity" / f"{name}.json"
        record = PERPLEXITY.read(path) if path.exists() else {}
    else:
        model = study / "models" / name
        record = (training.finished(model) or {}) if seal.verify_file(model, training.FILE, RunError) else {}
    size, family = record.get(f"training_{unit}"), record.get("family")
    return (size, str(family)) if isinstance(size, int) and size > 0 and family else None
