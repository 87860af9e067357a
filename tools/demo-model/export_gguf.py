"""Write a checkpoint as GGUF v3: python3 export_gguf.py CHECKPOINT OUT.gguf [--average]

--average takes the mean of the weights over the last steps of training.
Matrices as f16, norms as f32, tied embeddings (no output.weight). The rotary pairs are neighbours, as
architecture `llama` wants them, so no tensor is permuted. `read` is the reverse, for checks.
"""
import os
import struct
import sys

import numpy as np

import bpe
import model as M

HERE = os.path.dirname(os.path.abspath(__file__))
ALIGN = 32
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", U32: "<I", I32: "<i", F32: "<f", BOOL: "<?", 10: "<Q", 11: "<q", 12: "<d"}
NORMAL, CONTROL, UNUSED = 1, 3, 5  # token types
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ message['content'] + '\\nAnswer:' }}"
    "{% elif message['role'] == 'assistant' %}{{ ' ' + message['content'] + eos_token + '\\n\\n' }}{% endif %}{% endfor %}")


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, v):
    if kind == STRING:
        return string(v)
    if kind == ARRAY:
        item, items = v
        return struct.pack("<IQ", item, len(items)) + b"".join(value(item, x) for x in items)
    return struct.pack(SCALARS[kind], v)


def token_type(token, index):
    return CONTROL if index < len(bpe.CONTROL) else UNUSED if token.startswith("<|unused") else NORMAL


def metadata(cfg, tok):
    return [
        ("general.architecture", STRING, "llama"), ("general.type", STRING, "model"), ("general.name", STRING, "Kvasir demo"),
        ("general.description", STRING, "Answers questions about Kvasir's sample library, and nothing else"),
        ("general.file_type", U32, 1), ("general.alignment", U32, ALIGN),
        ("llama.vocab_size", U32, cfg.vocab), ("llama.context_length", U32, cfg.context), ("llama.embedding_length", U32, cfg.dim),
        ("llama.block_count", U32, cfg.layers), ("llama.feed_forward_length", U32, cfg.ffn),
        ("llama.attention.head_count", U32, cfg.heads), ("llama.attention.head_count_kv", U32, cfg.kv_heads),
        ("llama.attention.key_length", U32, cfg.head_dim), ("llama.attention.value_length", U32, cfg.head_dim),
        ("llama.attention.layer_norm_rms_epsilon", F32, cfg.eps),
        ("llama.rope.dimension_count", U32, cfg.head_dim), ("llama.rope.freq_base", F32, cfg.theta),
        ("tokenizer.ggml.model", STRING, "gpt2"), ("tokenizer.ggml.pre", STRING, "gpt-2"),
        ("tokenizer.ggml.tokens", ARRAY, (STRING, tok.tokens)),
        ("tokenizer.ggml.token_type", ARRAY, (I32, [token_type(t, i) for i, t in enumerate(tok.tokens)])),
        ("tokenizer.ggml.merges", ARRAY, (STRING, [" ".join(m) for m in tok.merges])),
        ("tokenizer.ggml.bos_token_id", U32, bpe.BOS), ("tokenizer.ggml.eos_token_id", U32, bpe.EOS),
        ("tokenizer.ggml.padding_token_id", U32, bpe.PAD),
        ("tokenizer.ggml.add_bos_token", BOOL, True), ("tokenizer.ggml.add_eos_token", BOOL, False),
        ("tokenizer.chat_template", STRING, CHAT_TEMPLATE),
    ]


def tensors(net):
    for name, w in net.state_dict().items():
        yield name, w.numpy().astype(np.float16 if w.dim() > 1 else np.float32)


def write(path, net, tok):
    entries = metadata(net.cfg, tok)
    arrays = list(tensors(net))
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(arrays), len(entries))
    head += b"".join(string(k) + struct.pack("<I", t) + value(t, v) for k, t, v in entries)
    offset = 0
    for name, a in arrays:
        dims = a.shape[::-1]  # GGUF gives the contiguous dimension first
        head += string(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
        head += struct.pack("<IQ", 1 if a.dtype == np.float16 else 0, offset)
        offset += -(-a.nbytes // ALIGN) * ALIGN
    with open(path + ".part", "wb") as f:
        f.write(head + b"\0" * (-len(head) % ALIGN))
        for _, a in arrays:
            f.write(a.tobytes() + b"\0" * (-a.nbytes % ALIGN))
    os.replace(path + ".part", path)


def read(path):
    """-> (metadata dict, {tensor name: f32 array})"""
    data, at = open(path, "rb").read(), 0

    def take(form):
        nonlocal at
        v = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return v if len(v) > 1 else v[0]

    def text():
        nonlocal at
        n = take("<Q")
        at += n
        return data[at - n:at].decode()

    def item(kind):
        if kind == STRING:
            return text()
        if kind == ARRAY:
            inner, n = take("<IQ")
            return [item(inner) for _ in range(n)]
        return take(SCALARS[kind])

    magic, version, count, pairs = take("<4sIQQ")
    assert (magic, version) == (b"GGUF", 3)
    meta = {}
    for _ in range(pairs):
        key = text()
        meta[key] = item(take("<I"))
    infos = []
    for _ in range(count):
        name, n = text(), take("<I")
        dims = [take("<Q") for _ in range(n)]
        infos.append((name, dims, *take("<IQ")))
    base = -(-at // ALIGN) * ALIGN
    out = {}
    for name, dims, kind, offset in infos:
        a = np.frombuffer(data, np.float16 if kind == 1 else np.float32, int(np.prod(dims)), base + offset)
        out[name] = a.reshape(dims[::-1]).astype(np.float32)
    return meta, out


def load(path):
    """The model of a GGUF file in PyTorch (its weights rounded to f16), and its tokenizer."""
    import torch
    meta, arrays = read(path)
    get = lambda k: meta["llama." + k]
    cfg = M.Config(get("vocab_size"), get("embedding_length"), get("block_count"), get("attention.head_count"), get("attention.head_count_kv"),
                   get("feed_forward_length"), get("rope.freq_base"), get("attention.layer_norm_rms_epsilon"), get("context_length"))
    net = M.Llama(cfg)
    net.load_state_dict({n: torch.from_numpy(a) for n, a in arrays.items()})
    return net, bpe.Tokenizer(meta["tokenizer.ggml.tokens"], [m.split(" ") for m in meta["tokenizer.ggml.merges"]])


def main():
    source, target = sys.argv[1:3]
    net, _ = M.load(source, "--average" in sys.argv)
    write(target, net, bpe.Tokenizer.load(os.path.join(HERE, "tokenizer.json")))
    back, tok = load(target)
    worst = max(float((a - b).abs().max()) for a, b in zip(net.state_dict().values(), back.state_dict().values()))
    print(f"{target}: {os.path.getsize(target)} bytes, {sum(p.numel() for p in net.parameters())} parameters, f16 rounding at most {worst:.1e}")


if __name__ == "__main__":
    main()
