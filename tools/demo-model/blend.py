"""Reference of blending in PyTorch: stored keys and values of chunks, recomputed where they deviate.

A chunk is encoded alone behind BOS, whose own keys and values are dropped; keys are kept unrotated,
so that a chunk fits anywhere. `answer` decodes greedily behind a context.
"""
import torch

from bpe import BOS, EOS


@torch.no_grad()
def encode(net, ids):
    """-> per layer (k, v), k not rotated"""
    x, pos, kv = net.token_embd(torch.tensor(ids)), torch.arange(len(ids)), []
    for b in net.blk:
        q, k, v = b.qkv(x)
        kv.append((k, v))
        x = b.ffn(b.attend(x, q, pos, k, v, pos))
    return kv


@torch.no_grad()
def store(net, chunks):
    """What the cache holds of the chunks, end to end behind BOS: per layer (k, v)."""
    alone = [encode(net, [BOS] + c) for c in chunks]
    first = encode(net, [BOS])
    return [tuple(torch.cat([first[l][i]] + [kv[l][i][1:] for kv in alone]) for i in (0, 1)) for l in range(len(net.blk))]


@torch.no_grad()
def blend(net, chunks, ratio=None, check=1, stored=None):
    """chunks: lists of ids. ratio None: full recompute; 0: full reuse; else CacheBlend: layers 0..check
    in full, after which only the ratio of tokens whose value vectors of layer `check` deviate most
    goes on. Returns the context's (k, v) per layer and the tokens chosen. What is asked comes behind the
    context and changes nothing in it."""
    ids = [BOS] + sum(chunks, [])
    if ratio is None:
        return encode(net, ids), []
    stored = stored or store(net, chunks)
    if ratio == 0:
        return stored, []
    pos = rows = torch.arange(len(ids))
    x, out, chosen = net.token_embd(torch.tensor(ids)), [], []
    for l, b in enumerate(net.blk):
        q, k, v = b.qkv(x)
        if l == check:
            deviation = (v - stored[l][1]).square().sum((1, 2))
            chosen = rows = deviation.topk(round(ratio * (len(ids) - 1))).indices.sort().values
            out.append((k, v))
            x = b.ffn(b.attend(x[rows], q[rows], rows, k, v, pos))
            continue
        keys, values = k, v
        if l > check:
            keys, values = stored[l][0].clone(), stored[l][1].clone()
            keys[rows], values[rows] = k, v
        out.append((keys, values))
        x = b.ffn(b.attend(x, q, rows, keys, values, pos))
    return out, chosen


@torch.no_grad()
def extend(net, kv, ids):
    """Runs ids behind a context: -> (k, v) per layer, last hidden states"""
    at = len(kv[0][0])
    here, x, out = torch.arange(at, at + len(ids)), net.token_embd(torch.tensor(ids)), []
    for (keys, values), b in zip(kv, net.blk):
        q, k, v = b.qkv(x)
        out.append((torch.cat((keys, k)), torch.cat((values, v))))
        x = b.ffn(b.attend(x, q, here, *out[-1], torch.arange(at + len(ids))))
    return out, x


@torch.no_grad()
def answer(net, tok, kv, ids, most=48):
    """Greedy decoding behind a context and `ids`; returns the text without its leading space."""
    out = []
    while len(out) < most:
        kv, x = extend(net, kv, ids)
        token = int(net.logits(x[-1]).argmax())
        if token == EOS:
            break
        out.append(token)
        ids = [token]
    return tok.decode(out).strip()
