"""Benchmark of pseudo-log-likelihoods of a masked model: ours compared with minicons, on the sample of BLiMP.

Goal: three times the sentences per CPU-second of minicons at its best batch size.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path
from statistics import median

from benchmarks import DATA, STORE
from benchmarks.samples import SAMPLES
from benchmarks.scoring import Timing, program

LAYERS, WIDTH, HEADS, VOCABULARY, SEED = 4, 512, 8, 30_522, 20
BATCHES, GOAL, NEAR, SENTENCES = (1, 4, 16), 3.0, 1e-4, 400
SYMBOLS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def pll(rounds: int, cap: int | None) -> str:
    """Run the benchmark and return the results as Markdown."""
    if not (DATA / "blimp").is_dir():
        return "## Pseudo-log-likelihoods\n\nSkipped: the published data is not there.\n"
    sentences = SAMPLES["blimp"](cap).sentences[:: 1 if cap else 10][:SENTENCES]
    lines = [
        "## Pseudo-log-likelihoods", "",
        f"{len(sentences)} sentences of BLiMP; BERT-small's shape ({LAYERS} x {WIDTH}, {VOCABULARY:,} entries, random), float32; "
        f"medians of {rounds} rounds.", "",
        "| masking | | sentences / CPU-second | tokens evaluated | largest difference from minicons, nats | times minicons |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    reached = True
    for masking in ("token", "word"):
        timings = [_round(sentences, masking, number) for number in range(rounds)]
        best = min(BATCHES, key=lambda batch: median(timing[f"minicons, batch {batch}"].cpu for timing in timings))
        peer = f"minicons, batch {best}"
        for name in timings[0]:
            speed = median(len(sentences) / timing[name].cpu for timing in timings)
            ratios = sorted(timing[peer].cpu / timing[name].cpu for timing in timings)
            far = max(abs(a - b) for a, b in zip(timings[0][name].scores, timings[0][peer].scores, strict=True))
            spread = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            lines.append(f"| {masking} | {name} | {speed:.1f} | {timings[0][name].tokens:,} | {far:.1e} | {spread} |")
            if name == "syntagm":
                reached &= median(ratios) >= GOAL and far < NEAR
    return "\n".join([*lines, "", f"Goal {GOAL:g}, within {NEAR:g} nats: {'reached' if reached else '**missed**'}", ""])


def _round(sentences: list[str], masking: str, number: int) -> dict[str, Timing]:
    entrants = [("syntagm", 0), *(("minicons", batch) for batch in BATCHES)]
    shift = number % len(entrants)
    timings = {}
    for tool, batch in entrants[shift:] + entrants[:shift]:
        name = f"{tool}, batch {batch}" if batch else tool
        timings[name] = timed(tool, sentences, masking, batch)
        print(f"{masking}, round {number + 1}: {name} {timings[name].cpu:.1f} CPU-seconds", flush=True)
    return dict(sorted(timings.items(), key=lambda pair: pair[0] != "syntagm"))


def timed(tool: str, sentences: list[str], masking: str, batch: int, model: Path | None = None) -> Timing:
    """Time one program on some sentences, with a model folder (by default the random model of this benchmark)."""
    settings = {"model": str(model or folder()), "dtype": "float32", "sentences": sentences}
    with tempfile.TemporaryDirectory() as place:
        task = Path(place) / "task.json"
        task.write_text(json.dumps(settings | {"masking": masking, "batch": batch}), "utf-8")
        return Timing(**program(f"timed_{tool}_pll.py", str(task), peer=tool != "syntagm"))


def folder() -> Path:
    """Return the checkpoint's folder; write it on the first call, always with the same weights."""
    place = STORE / f"bert-small-shape-{SEED}"
    if not (place / "model.safetensors").exists():
        draft = place.with_name(f"{place.name}.{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        _write(draft)
        draft.rename(place)
    return place


def _write(place: Path) -> None:
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=SYMBOLS, show_progress=False)
    tokenizer.train([str(DATA / "corpora" / "brown.train.txt")], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(place / "tokenizer.json"))
    # Written by hand, because the peers' version of transformers knows no other class.
    named = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SYMBOLS, strict=True))
    (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **named}))
    torch.manual_seed(SEED)
    shape = BertConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH,
    )  # fmt: skip
    model = BertForMaskedLM(shape)
    with torch.no_grad():
        # With the usual standard deviation of 0.02, predictions are almost uniform, which would hide errors.
        for name, weights in model.named_parameters():
            if weights.dim() == 2 and "position" not in name:
                weights.mul_(2.0)
    model.save_pretrained(place)
