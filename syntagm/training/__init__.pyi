from syntagm.training import families as families, parsing as parsing, record as record
from syntagm.training.corpora import (
    bllip as bllip,
    brackets as brackets,
    corpus as corpus,
    nested as nested,
    trees as trees,
)
from syntagm.training.corpora.corpus import BUNDLED as BUNDLED, kind as kind, portions as portions
from syntagm.training.corpora.trees import Tree as Tree
from syntagm.training.gpt2.family import Gpt2Settings as Gpt2Settings, Gpt2Text as Gpt2Text
from syntagm.training.gpt2.train import Gpt2 as Gpt2
from syntagm.training.loop import AveragedSGD as AveragedSGD, Learner as Learner
from syntagm.training.lstm.family import LSTM as LSTM, LstmSettings as LstmSettings, Size as Size, Steps as Steps
from syntagm.training.lstm.train import Lstm as Lstm
from syntagm.training.masked.family import MaskedSettings as MaskedSettings, MaskedText as MaskedText
from syntagm.training.masked.train import Bert as Bert
from syntagm.training.multitask import categories as categories
from syntagm.training.multitask.family import MultitaskSettings as MultitaskSettings, Tagging as Tagging
from syntagm.training.multitask.train import Multitask as Multitask, tagged_sentences as tagged_sentences
from syntagm.training.ngram.family import NgramSettings as NgramSettings
from syntagm.training.onlstm.family import (
    OnLstmSettings as OnLstmSettings,
    OnLstmSize as OnLstmSize,
    Regularisation as Regularisation,
)
from syntagm.training.onlstm.train import OnLstm as OnLstm
from syntagm.training.recurrent import OnePass as OnePass
from syntagm.training.rnng import oracle as oracle
from syntagm.training.rnng.batch import batch as batch, nats as nats
from syntagm.training.rnng.family import RnngSettings as RnngSettings, TreeSteps as TreeSteps
from syntagm.training.rnng.oracle import Derivation as Derivation, Encoded as Encoded, encoded as encoded
from syntagm.training.rnng.train import Rnng as Rnng
from syntagm.training.settings import (
    MODEL as MODEL,
    Default as Default,
    Flag as Flag,
    Settings as Settings,
    TransformerSize as TransformerSize,
    Words as Words,
    changed as changed,
    option as option,
    options as options,
    part as part,
    rate_at as rate_at,
    warmup_steps as warmup_steps,
)
from syntagm.training.statistics import unseen_classes as unseen_classes, warning as warning
from syntagm.training.trainable import REACHED as REACHED, Trainable as Trainable, Work as Work
