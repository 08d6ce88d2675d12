#!/bin/sh
# How the bundled model `demo` was trained: a GPT-2 of 4.8 million parameters, on public-domain books (mlschmitt/classic-books-markdown),
# one sentence a line, split by book into three parts, held-out and test text. First one pass over all 14 million words; then one over
# the first part, and among it 148,242 clauses out of all three, of which the last word alone is learnt: a verb that shows the number
# of its subject.
# Usage: demo.sh CORPORA DIR, where CORPORA holds classics.1.txt, classics.2.txt.gz, classics.3.txt.gz, classics.valid.txt; the model is
# in DIR/demo at the end. Some two hours of one processor core.
set -eu
corpora=$1 folder=$2
syntagm train gpt2 \
    --corpus "$corpora/classics.1.txt" "$corpora/classics.2.txt.gz" "$corpora/classics.3.txt.gz" \
    --valid "$corpora/classics.valid.txt" \
    --layers 4 --width 256 --heads 8 --positions 256 --vocabulary 6000 --dropout 0 \
    --window 128 --batch 16 --epochs 1 --every 1500 \
    --optimiser adamw --lr 1.5e-3 --schedule cosine --warmup 200 --decay 0.1 --clip 1 --patience 0 \
    --dtype bf16 --seed 1 --save-dtype f16 -o "$folder/first"
python -m recipes.demo.clauses \
    "$corpora/classics.1.txt" "$corpora/classics.2.txt.gz" "$corpora/classics.3.txt.gz" > "$folder/clauses.txt"
syntagm train gpt2 \
    --corpus "$corpora/classics.1.txt" --valid "$corpora/classics.valid.txt" \
    --cloze "$folder/clauses.txt" --lines 256 --init-from "$folder/first" \
    --layers 4 --width 256 --heads 8 --positions 256 --dropout 0 \
    --window 128 --batch 16 --epochs 1 --every 1500 \
    --optimiser adamw --lr 3e-4 --schedule cosine --warmup 100 --decay 0.1 --clip 1 --patience 0 \
    --dtype bf16 --seed 1 --save-dtype f16 -o "$folder/demo"
