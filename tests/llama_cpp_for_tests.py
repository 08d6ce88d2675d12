"""llama.cpp's own server, and llama-cpp-python's, with a tiny model, in processes of their own.

python llama_cpp_for_tests.py MODEL.gguf
"""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


def write(path: Path, model: Any, tokenizer: Any, bos: bool = True) -> None:
    """Write a Llama model with a byte-level tokenizer as GGUF, in float32; `bos`: with a start symbol before texts."""
    import gguf

    config, writer = model.config, gguf.GGUFWriter(path, "llama")
    heads, rows = config.num_attention_heads, config.vocab_size
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(rows)
    parts, special = json.loads(tokenizer.backend_tokenizer.to_str()), set(tokenizer.all_special_ids)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([tokenizer.convert_ids_to_tokens(number) for number in range(rows)])
    kinds = [gguf.TokenType.CONTROL if number in special else gguf.TokenType.NORMAL for number in range(rows)]
    writer.add_token_types(kinds)
    writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in parts["model"]["merges"]])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_add_bos_token(bos)
    for name, weights in model.state_dict().items():
        values = weights.float().numpy()
        if "q_proj" in name or "k_proj" in name:
            # GGUF has the two halves of each head's rotation side by side.
            halves = values.reshape(heads, 2, -1, *values.shape[1:])
            values = np.ascontiguousarray(halves.swapaxes(1, 2).reshape(values.shape))
        writer.add_tensor(_named(name), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


_PARTS = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
}  # fmt: skip
_OTHERS = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def _named(name: str) -> str:
    stem = name.removesuffix(".weight")
    if stem in _OTHERS:
        return f"{_OTHERS[stem]}.weight"
    layer, part = stem.removeprefix("model.layers.").split(".", 1)
    return f"blk.{layer}.{_PARTS[part]}.weight"


@contextmanager
def serving(path: Path) -> Iterator[str]:
    """Serve a model; yield the address."""
    command = [sys.executable, __file__, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdin
        assert child.stdout
        try:
            yield child.stdout.readline().decode().strip()
        finally:
            child.stdin.close()
            child.terminate()
            child.wait(20)


@contextmanager
def serving_python(path: Path) -> Iterator[str]:
    """Serve a model with llama-cpp-python; yield the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = f"--host 127.0.0.1 --port {port} --logits_all true --type_k 0 --type_v 0 --n_ctx 512 --n_threads 1"
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(path), *options.split()]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr
        try:
            lines = []
            for line in child.stderr:
                lines.append(line)
                if "Uvicorn running" in line:
                    break
            else:
                raise AssertionError("".join(lines))
            threading.Thread(target=child.stderr.read, daemon=True).start()
            yield f"http://127.0.0.1:{port}"
        finally:
            child.terminate()
            child.wait(20)


def _serve(path: str) -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.hostnames, parameters.port = path, ["127.0.0.1"], 0
    parameters.n_ctx, parameters.n_parallel, parameters.warmup, parameters.cpuparams.n_threads = 512, 2, False, 1
    # Caches and attention in 32-bit floats: -ctk f32 -ctv f32 -fa off.
    parameters.cache_type_k = parameters.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve(sys.argv[1])
