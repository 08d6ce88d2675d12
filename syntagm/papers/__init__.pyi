from syntagm.papers import paper as paper
from syntagm.papers.experiment import hyperparameters as hyperparameters, overview as overview, record as record
from syntagm.papers.experiment.design import (
    Cell as Cell,
    Design as Design,
    finished_models as finished_models,
    state_of as state_of,
)
from syntagm.papers.experiment.experiment import (
    basis_of_estimates as basis_of_estimates,
    operations_per_second as operations_per_second,
    remaining_seconds as remaining_seconds,
)
from syntagm.papers.hu2020 import claims as claims, multiverse as multiverse
from syntagm.papers.hu2020.multiverse import Analysis as Analysis, Claim as Claim, View as View
from syntagm.papers.hu2020.raw import WORDS as WORDS, circuit_of as circuit_of
from syntagm.papers.hu2020.study import MODELS as MODELS, Study as Study
from syntagm.papers.paper import Experiment as Experiment, Outputs as Outputs, Paper as Paper, cited as cited
from syntagm.papers.warstadt2020.paradigms import published as published
