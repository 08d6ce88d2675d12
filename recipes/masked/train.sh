#!/bin/sh
# A small BERT in lower case (1.2 million parameters): two passes over 1.1 million words of public-domain books
# (mlschmitt/classic-books-markdown), one sentence a line, in a quarter of an hour of one processor core. It has learnt which words go
# together and little syntax; more text, layers and epochs make a better one.
# Usage: masked.sh CORPORA DIR, where CORPORA holds classics.1.txt and classics.valid.txt.
set -eu
corpora=$1 folder=$2
syntagm train masked \
    --corpus "$corpora/classics.1.txt" --valid "$corpora/classics.valid.txt" \
    --layers 2 --width 128 --heads 4 --positions 128 --vocabulary 6000 --lower --dropout 0 \
    --window 48 --batch 64 --mask-prob 0.3 --epochs 2 --every 500 \
    --optimiser adamw --lr 2e-3 --schedule cosine --warmup 200 --decay 0.01 --clip 1 --patience 0 \
    --seed 1 -o "$folder"
