from syntagm.papers import paper as paper
from syntagm.papers.experiment import (
    duration as duration,
    hyperparameters as hyperparameters,
    measured as measured,
    overview as overview,
    parts as parts,
    record as record,
)
from syntagm.papers.experiment.design import Design as Design
from syntagm.papers.hu2020 import claims as claims, multiverse as multiverse
from syntagm.papers.hu2020.models import MODELS as MODELS
from syntagm.papers.hu2020.multiverse import Analysis as Analysis, Claim as Claim, View as View
from syntagm.papers.hu2020.preparation import WORDS as WORDS
from syntagm.papers.hu2020.raw import circuit_of as circuit_of
from syntagm.papers.hu2020.study import Study as Study
from syntagm.papers.paper import Experiment as Experiment, Outputs as Outputs, Paper as Paper
from syntagm.papers.warstadt2020.paradigms import published as published
