from syntagm.models import (
    checkpoints as checkpoints,
    conformance as conformance,
    families as families,
    names as names,
    sweeps as sweeps,
)
from syntagm.models.answers import (
    Answers as Answers,
    Entry as Entry,
    Fill as Fill,
    Gap as Gap,
    InContext as InContext,
    Reductions as Reductions,
    Surprisals as Surprisals,
    entropy_reduction as entropy_reduction,
    frozen as frozen,
)
from syntagm.models.asking import Asking as Asking
from syntagm.models.causal.candidates import Speller as Speller, divides_at_blanks as divides_at_blanks
from syntagm.models.causal.forward import Forward as Forward, Head as Head
from syntagm.models.causal.model import Causal as Causal
from syntagm.models.causal.prefix_tree import Budget as Budget, Pack as Pack, batches as batches, plan as plan
from syntagm.models.checkpoints import Layout as Layout, Model as Model, renumbered as renumbered
from syntagm.models.conformance import CHECKS as CHECKS, TEXTS as TEXTS, Check as Check, failures as failures
from syntagm.models.contract import (
    QUERIES as QUERIES,
    Described as Described,
    LanguageModel as LanguageModel,
    Query as Query,
    Sees as Sees,
)
from syntagm.models.devices import FullPrecision as FullPrecision, checksum as checksum, device as device
from syntagm.models.family import (
    SURPRISAL as SURPRISAL,
    Choice as Choice,
    Family as Family,
    Fixed as Fixed,
    Option as Option,
    Scoring as Scoring,
    Value as Value,
)
from syntagm.models.hugging_face.checkpoint import (
    refuse_incomplete as refuse_incomplete,
    unused_weights as unused_weights,
)
from syntagm.models.hugging_face.loading import refuse_damaged as refuse_damaged
from syntagm.models.hugging_face.quantised import read_gguf as read_gguf
from syntagm.models.hugging_face.tokens import Encoded as Encoded, Entries as Entries, encode as encode, frame as frame
from syntagm.models.hugging_face.unsafe import (
    described as described,
    is_foreign as is_foreign,
    refuse_endless_tokenizer as refuse_endless_tokenizer,
    refuse_unsafe as refuse_unsafe,
)
from syntagm.models.hugging_face.weights import hash_folder as hash_folder
from syntagm.models.in_memory import (
    FastTokenizer as FastTokenizer,
    InTraining as InTraining,
    OwnModel as OwnModel,
    TransformersModel as TransformersModel,
    as_evaluated as as_evaluated,
    as_language_model as as_language_model,
    from_transformers as from_transformers,
    uncompiled as uncompiled,
)
from syntagm.models.jrnn.model import Jrnn as Jrnn, JrnnNetwork as JrnnNetwork, Letters as Letters
from syntagm.models.lstm.model import Lstm as Lstm, LstmNetwork as LstmNetwork
from syntagm.models.masked.forward import MaskedForward as MaskedForward, Row as Row
from syntagm.models.masked.masking import MASKINGS as MASKINGS, Masking as Masking
from syntagm.models.masked.model import Masked as Masked
from syntagm.models.multitask.model import (
    UNKNOWN as UNKNOWN,
    Multitask as Multitask,
    MultitaskNetwork as MultitaskNetwork,
    tag as tag,
)
from syntagm.models.names import load as load
from syntagm.models.ngram import arpa as arpa, folder as folder
from syntagm.models.ngram.model import BackOff as BackOff, KenLM as KenLM, Tokenisation as Tokenisation
from syntagm.models.ngram.ngrams import END as END, START as START, Ngrams as Ngrams
from syntagm.models.onlstm.model import (
    Dropout as Dropout,
    OnLstm as OnLstm,
    OnLstmNetwork as OnLstmNetwork,
    of_distances as of_distances,
)
from syntagm.models.openai.client import Client as Client
from syntagm.models.program.model import (
    Start as Start,
    refuse_unless_allowed as refuse_unless_allowed,
    sources as sources,
)
from syntagm.models.rank import likeliest as likeliest
from syntagm.models.recorded.model import Recorded as Recorded
from syntagm.models.recurrent.declaration import settings as settings
from syntagm.models.recurrent.model import (
    RecurrentModel as RecurrentModel,
    read_in_portions as read_in_portions,
    surprisals as surprisals,
)
from syntagm.models.recurrent.network import (
    AdaptiveSoftmax as AdaptiveSoftmax,
    Network as Network,
    Softmax as Softmax,
    State as State,
)
from syntagm.models.rnng.grammar import (
    NetworkGrammar as NetworkGrammar,
    RnngNetwork as RnngNetwork,
    lstm_step as lstm_step,
)
from syntagm.models.rnng.model import FORMAT as FORMAT, Rnng as Rnng
from syntagm.models.rnng.search import (
    MOST_IN_A_ROW as MOST_IN_A_ROW,
    MOST_OPEN as MOST_OPEN,
    OPEN as OPEN,
    REDUCE as REDUCE,
    SHIFT as SHIFT,
    Grammar as Grammar,
    Sizes as Sizes,
    search as search,
)
from syntagm.models.sweeps import coarse as coarse, label_part as label_part, largest as largest, several as several
from syntagm.models.toy.model import Toy as Toy
from syntagm.models.transformer_xl.model import (
    TransformerXl as TransformerXl,
    TransformerXlNetwork as TransformerXlNetwork,
)
from syntagm.models.words import splitting as splitting, vocabulary as vocabulary
from syntagm.models.words.splitting import between_blanks as between_blanks, leaf as leaf
from syntagm.models.words.vocabulary import (
    Vocabulary as Vocabulary,
    build as build,
    read as read,
    unknown_class as unknown_class,
)
