"""A Llama decoder (GGUF architecture `llama`) in plain PyTorch: the reference.

RMSNorm, rotary positions on interleaved pairs, grouped-query attention, SwiGLU, tied embeddings.
The parts (qkv, attend, ffn) are apart so that evaluate.py can put blended keys and values between.
"""
import math
from dataclasses import asdict, dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    vocab: int
    dim: int = 256
    layers: int = 6
    heads: int = 4
    kv_heads: int = 2
    ffn: int = 512
    theta: float = 10000.0
    eps: float = 1e-5
    context: int = 2048

    @property
    def head_dim(self):
        return self.dim // self.heads


class RMSNorm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight


def rotate(x, positions, cfg):
    """x [T, heads, head_dim] turned to `positions` [T], pair by neighbouring pair"""
    freq = cfg.theta ** (-torch.arange(0, cfg.head_dim, 2).float() / cfg.head_dim)
    angle = positions.float()[:, None, None] * freq
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()), -1).flatten(-2)


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d, kv = cfg.dim, cfg.kv_heads * cfg.head_dim
        self.cfg = cfg
        self.attn_norm, self.ffn_norm = RMSNorm(d, cfg.eps), RMSNorm(d, cfg.eps)
        self.attn_q, self.attn_k = nn.Linear(d, d, bias=False), nn.Linear(d, kv, bias=False)
        self.attn_v, self.attn_output = nn.Linear(d, kv, bias=False), nn.Linear(d, d, bias=False)
        self.ffn_gate, self.ffn_up = nn.Linear(d, cfg.ffn, bias=False), nn.Linear(d, cfg.ffn, bias=False)
        self.ffn_down = nn.Linear(cfg.ffn, d, bias=False)

    @torch.no_grad()
    def init(self, mimetic):
        c = self.cfg
        for w in (self.attn_q, self.attn_k, self.attn_v, self.ffn_gate, self.ffn_up):
            nn.init.normal_(w.weight, std=c.dim ** -0.5)
        nn.init.normal_(self.attn_output.weight, std=c.dim ** -0.5 / math.sqrt(2 * c.layers))
        nn.init.normal_(self.ffn_down.weight, std=c.ffn ** -0.5 / math.sqrt(2 * c.layers))
        if not mimetic:
            return
        # "Mimetic": queries begin alike to the keys of their group and output undoes value, so that
        # matching and copying are there from the first step.
        h, g = c.head_dim, c.heads // c.kv_heads
        for head in range(c.heads):
            kv, q = slice(head // g * h, head // g * h + h), slice(head * h, head * h + h)
            self.attn_q.weight[q] = 0.7 * self.attn_k.weight[kv] + 0.5 * self.attn_q.weight[q]
            self.attn_output.weight[:, q] += 0.4 * self.attn_v.weight[kv].t()

    def qkv(self, x):
        """x [T, D] -> q [T, H, hd], k and v [T, KV, hd], not yet rotated"""
        n, c = self.attn_norm(x), self.cfg
        return tuple(w(n).view(len(x), -1, c.head_dim) for w in (self.attn_q, self.attn_k, self.attn_v))

    def attend(self, x, q, at, k, v, positions):
        """Adds to x [T, D] the attention of q at `at` [T] on keys at `positions` [S], causal by position."""
        g = self.cfg.heads // self.cfg.kv_heads
        q = rotate(q, at, self.cfg).transpose(0, 1)                                        # [H, T, hd]
        k = rotate(k, positions, self.cfg).transpose(0, 1).repeat_interleave(g, 0)         # [H, S, hd]
        v = v.transpose(0, 1).repeat_interleave(g, 0)
        s = q @ k.transpose(-1, -2) * self.cfg.head_dim ** -0.5
        p = s.masked_fill(positions[None] > at[:, None], -1e9).softmax(-1)
        return x + self.attn_output((p @ v).transpose(0, 1).reshape(len(x), -1))

    def ffn(self, x):
        n = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(n)) * self.ffn_up(n))


class Llama(nn.Module):
    def __init__(self, cfg, mimetic=True):
        super().__init__()
        self.cfg = cfg
        self.token_embd = nn.Embedding(cfg.vocab, cfg.dim)
        self.blk = nn.ModuleList(Block(cfg) for _ in range(cfg.layers))
        self.output_norm = RMSNorm(cfg.dim, cfg.eps)
        nn.init.normal_(self.token_embd.weight, std=0.05)
        for b in self.blk:
            b.init(mimetic)

    def logits(self, x):
        return self.output_norm(x) @ self.token_embd.weight.t()

    def forward(self, ids):
        """ids [T] -> hidden states [T, D]"""
        x, pos = self.token_embd(ids), torch.arange(len(ids))
        for b in self.blk:
            q, k, v = b.qkv(x)
            x = b.ffn(b.attend(x, q, pos, k, v, pos))
        return x


def save(path, model, **more):
    torch.save({"config": asdict(model.cfg), "weights": model.state_dict(), **more}, path)


def load(path, average=False):
    """average: the mean of the weights over the last steps"""
    state = torch.load(path)
    model = Llama(Config(**state["config"]))
    model.load_state_dict(state["average" if average else "weights"])
    return model, state
