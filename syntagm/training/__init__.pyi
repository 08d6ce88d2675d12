from syntagm.training import families as families, parsing as parsing, record as record
from syntagm.training.corpora import brackets as brackets, corpus as corpus, nested as nested, trees as trees
from syntagm.training.corpora.corpus import BUNDLED as BUNDLED, kind as kind, portions as portions
from syntagm.training.duration import REACHED as REACHED, Work as Work
from syntagm.training.lstm.family import LSTM as LSTM
from syntagm.training.lstm.settings import LstmSettings as LstmSettings, Size as Size, Steps as Steps
from syntagm.training.lstm.train import Lstm as Lstm
from syntagm.training.ngram.settings import NgramSettings as NgramSettings
from syntagm.training.options import MODEL as MODEL, Flag as Flag, changed as changed
from syntagm.training.recurrent.softmax import OnePass as OnePass
from syntagm.training.rnng import oracle as oracle
from syntagm.training.rnng.batch import batch as batch, nats as nats
from syntagm.training.rnng.oracle import Derivation as Derivation, encoded as encoded
from syntagm.training.settings import Default as Default, Settings as Settings
from syntagm.training.statistics import unseen_classes as unseen_classes, warning as warning
from syntagm.training.trainable import Trainable as Trainable
from syntagm.training.words import Words as Words
