"""Program that trains a 5-gram model on a text, keeping every word, and writes its folder: `TEXT FOLDER`."""

import sys
from pathlib import Path

from syntagm.training import NgramSettings, Words
from syntagm.training.ngram.train import train

if __name__ == "__main__":
    train([sys.argv[1]], [], Path(sys.argv[2]), NgramSettings(words=Words("blanks", classes="none")))
