"""Writes logits.txt: logits of a small Llama by PyTorch, for tests/tensor/llama.rs, whose weights follow the same formula.

    pip install torch transformers gguf
    python tests/tensor/llama/reference.py

The model is LlamaForCausalLM of transformers, in float32. Packed weights are unpacked by the package gguf of llama.cpp, and
weights of 16 bits are rounded by NumPy; the model multiplies the resulting float32. Last run with torch 2.15.0,
transformers 5.24.0, gguf 0.19.0, on a CPU.
"""

from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize
from transformers import LlamaConfig, LlamaForCausalLM

HIDDEN, HEADS, KV_HEADS, WIDTH, VOCABULARY, LAYERS, TOKENS = 256, 8, 4, 512, 512, 3, 16
# Rows of logits that are written, and of each row every 16th element.
POSITIONS, STEP = [0, 5, 11, 12, 15], 16
# Bytes of a block, weights of a block, and bytes with fixed values, which keep the factors small.
PACKED = {
    "q4_k": (Type.Q4_K, 144, 256, {1: 0x0C, 3: 0x17}),
    "q8_0": (Type.Q8_0, 34, 32, {1: 0x14}),
}


def hashed(seed, n):
    """Returns 32 pseudorandom bits for each number below n."""
    x = np.arange(n, dtype=np.uint32) * np.uint32(0x9E3779B9) ^ np.uint32(seed * 0x85EBCA6B % 2**32)
    for shift, factor in [(16, 0x85EBCA6B), (13, 0xC2B2AE35)]:
        x = (x ^ x >> np.uint32(shift)) * np.uint32(factor)
    return x ^ x >> np.uint32(16)


def numbers(seed, n, scale):
    """Returns float32 from -scale to scale, a power of two, so that they are exact."""
    signed = (hashed(seed, n) >> np.uint32(8)).astype(np.int32) - (1 << 23)
    return signed.astype(np.float32) * np.float32(scale / (1 << 23))


def matrix(form, seed, outputs, inputs, scale):
    """Returns the values of a matrix that is stored in a form."""
    if form in PACKED:
        kind, block_bytes, block_len, fixed = PACKED[form]
        n_blocks = outputs * inputs // block_len
        blocks = (hashed(seed, n_blocks * block_bytes) >> np.uint32(24)).astype(np.uint8)
        blocks = blocks.reshape(n_blocks, block_bytes)
        for at, byte in fixed.items():
            blocks[:, at] = byte
        return dequantize(blocks.reshape(outputs, -1), kind).reshape(outputs, inputs)
    values = numbers(seed, outputs * inputs, scale).reshape(outputs, inputs)
    return values.astype(np.float16).astype(np.float32) if form == "f16" else values


def columns(seed):
    """Returns the weights of a norm."""
    return np.float32(1) + numbers(seed, HIDDEN, 0.25)


def logits(form):
    config = LlamaConfig(
        hidden_size=HIDDEN,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        intermediate_size=WIDTH,
        num_hidden_layers=LAYERS,
        vocab_size=VOCABULARY,
        rms_norm_eps=1e-5,
        rope_theta=10000.0,
        tie_word_embeddings=False,
    )
    kv = HIDDEN // HEADS * KV_HEADS
    values = {
        "model.embed_tokens.weight": numbers(1000, VOCABULARY * HIDDEN, 1).reshape(VOCABULARY, HIDDEN),
        "model.norm.weight": columns(1001),
        "lm_head.weight": matrix(form, 1002, VOCABULARY, HIDDEN, 1 / 16),
    }
    matrices = [
        ("self_attn.q_proj", HIDDEN, HIDDEN, 1 / 8),
        ("self_attn.k_proj", kv, HIDDEN, 1 / 8),
        ("self_attn.v_proj", kv, HIDDEN, 1 / 16),
        ("self_attn.o_proj", HIDDEN, HIDDEN, 1 / 16),
        ("mlp.gate_proj", WIDTH, HIDDEN, 1 / 16),
        ("mlp.up_proj", WIDTH, HIDDEN, 1 / 16),
        ("mlp.down_proj", HIDDEN, WIDTH, 1 / 16),
    ]
    for layer in range(LAYERS):
        for i, (name, outputs, inputs, scale) in enumerate(matrices):
            of_layer = matrix(form, 16 * layer + i, outputs, inputs, scale)
            values[f"model.layers.{layer}.{name}.weight"] = of_layer
        for i, name in [(7, "input_layernorm"), (8, "post_attention_layernorm")]:
            values[f"model.layers.{layer}.{name}.weight"] = columns(16 * layer + i)
    model = LlamaForCausalLM(config).eval()
    model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in values.items()})
    tokens = torch.from_numpy((hashed(2000, TOKENS) % np.uint32(VOCABULARY)).astype(np.int64))
    with torch.no_grad():
        found = model(tokens[None]).logits[0]
        exact = model.double()(tokens[None]).logits[0]
    print(f"{form}: deviation {found.std():.3f}, float64 differs by {(found - exact).abs().max():.1e}")
    return found


def main():
    lines = []
    for form in ["f32", "f16", *PACKED]:
        found = logits(form)
        for position in POSITIONS:
            row = " ".join(f"{x:.6f}" for x in found[position, ::STEP].tolist())
            lines.append(f"{form} {position} {row}\n")
    Path(__file__).with_name("logits.txt").write_text("".join(lines))


main()
