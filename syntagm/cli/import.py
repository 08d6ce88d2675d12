"""Import a published checkpoint of another program as a model folder.

KIND is one of these:

    grnn            an LSTM of Gulordava et al. 2018, or another of PyTorch's word language model:
                    the pickled module, and a vocabulary with one word per line
    transformer_xl  a Transformer-XL such as wt103, in the layout of transformers before 5.0:
                    pytorch_model.bin, config.json beside it, and vocab.bin
    jrnn            the LSTM of lm_1b (Jozefowicz et al. 2016), from an archive of its arrays, which
                    docs/guide/published.md tells to make

    syntagm import grnn hidden650_batch128_dropout0.2_lr20.0.pt --vocabulary vocab.txt --allow-pickle -o models/grnn
    syntagm run models/grnn --suite hu2020 -o runs/grnn

The first two are pickles, which can run arbitrary code when other programs load them. Here, a
restricted reader takes tensors and plain values from them, runs nothing, and refuses everything
else by name; it needs the permission --allow-pickle. Nothing is downloaded. The folder has the
weights as safetensors, the vocabulary, and a record with the hashes of the files. It is a model
like those of `syntagm train`.

The words of texts are split as the model expects (--tokens). This is part of every signature.
"""

import argparse
from pathlib import Path

from syntagm.cli import _files
from syntagm.core import registry


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kind", metavar="KIND", help=f"the kind of checkpoint: {', '.join(registry.names('checkpoints'))}"
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the file with the weights")
    parser.add_argument("--vocabulary", metavar="FILE", type=Path, required=True, help="the file with the vocabulary")
    parser.add_argument(
        "--tokens", metavar="KIND", default="", help="how texts are split into words, instead of what suits the model"
    )
    parser.add_argument("--allow-pickle", action="store_true", help="read pickles, without running any code in them")
    _files.add_output(parser, "DIR", "the folder for the model", required=True)


def run(arguments: argparse.Namespace) -> int:
    from syntagm.models import checkpoints

    summary = checkpoints.convert(
        arguments.kind, arguments.file, arguments.vocabulary, arguments.output, arguments.tokens, arguments.allow_pickle
    )
    print(f"{arguments.output}: {summary or 'imported already'}")
    return 0
