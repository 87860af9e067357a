"""Reference of blending in PyTorch: stored keys and values of chunks, recomputed where they deviate.

A chunk is encoded alone behind BOS, whose own keys and values are dropped; keys are kept unrotated,
so that a chunk fits anywhere. `answer` decodes greedily from the blended context.
"""
import torch

from bpe import BOS, EOS


@torch.no_grad()
def encode(net, ids):
    """-> per layer (k, v), k not rotated, and the last hidden states"""
    x, pos, kv = net.token_embd(torch.tensor(ids)), torch.arange(len(ids)), []
    for b in net.blk:
        q, k, v = b.qkv(x)
        kv.append((k, v))
        x = b.ffn(b.attend(x, q, pos, k, v, pos))
    return kv, x


@torch.no_grad()
def store(net, chunks):
    """What the cache holds of the chunks, end to end behind BOS: per layer (k, v)."""
    alone = [encode(net, [BOS] + c)[0] for c in chunks]
    first = encode(net, [BOS])[0]
    return [tuple(torch.cat([first[l][i]] + [kv[l][i][1:] for kv in alone]) for i in (0, 1)) for l in range(len(net.blk))]


@torch.no_grad()
def blend(net, chunks, suffix, ratio=None, check=1, stored=None):
    """chunks: lists of ids; suffix: the question's ids. ratio None: full recompute; 0: full reuse;
    else CacheBlend: layers 0..check in full, after which only the ratio of context tokens whose value
    vectors of layer `check` deviate most goes on. Returns (kv, last hidden states, chosen)."""
    ids = [BOS] + sum(chunks, []) + suffix
    if ratio is None:
        kv, x = encode(net, ids)
        return kv, x, []
    stored = stored or store(net, chunks)
    n, pos = 1 + sum(map(len, chunks)), torch.arange(len(ids))
    rows = torch.arange(n, len(ids)) if ratio == 0 else pos
    x, out, chosen = net.token_embd(torch.tensor(ids))[rows], [], []
    for l, b in enumerate(net.blk):
        q, k, v = b.qkv(x)
        if ratio and l == check:
            deviation = (v[:n] - stored[l][1]).square().sum((1, 2))
            chosen = deviation.topk(round(ratio * (n - 1))).indices.sort().values
            keep = torch.cat((chosen, torch.arange(n, len(ids))))
            out.append((k, v))
            x, rows = b.attend(x[keep], q[keep], keep, k, v, pos), keep
            x = b.ffn(x)
            continue
        if len(rows) == len(ids):
            keys, values = k, v
        else:
            empty = torch.zeros(len(ids) - n, *k.shape[1:])
            keys, values = torch.cat((stored[l][0], empty)), torch.cat((stored[l][1], empty))
            keys[rows], values[rows] = k, v
        out.append((keys, values))
        x = b.ffn(b.attend(x, q, rows, keys, values, pos))
    return out, x, chosen


@torch.no_grad()
def answer(net, tok, kv, x, most=8):
    """Greedy decoding behind a context; returns the text without its leading space."""
    kv, at, out = [list(p) for p in kv], len(kv[0][0]), []
    while len(out) < most:
        token = int(net.logits(x[-1]).argmax())
        if token == EOS:
            break
        out.append(token)
        x, here = net.token_embd(torch.tensor([token])), torch.tensor([at])
        at += 1
        for l, b in enumerate(net.blk):
            q, k, v = b.qkv(x)
            kv[l] = [torch.cat((kv[l][0], k)), torch.cat((kv[l][1], v))]
            x = b.ffn(b.attend(x, q, here, *kv[l], torch.arange(at)))
    return tok.decode(out).strip()
