"""The model's forward and backward pass for training: BLAS products and the kernels of kernels.cpp.

The same function as model.Llama (test_fast.py holds one against the other), on batches without
padding and without eager elementwise passes, which took more time than the products.
"""
import ctypes
import os
import subprocess

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = 64  # head dimension the kernels are written for


def build(folder):
    source, target = os.path.join(HERE, "kernels.cpp"), os.path.join(folder, "kernels.so")
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        subprocess.check_call(["g++", "-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-fopenmp", "-shared", "-fPIC", "-o", target + ".part", source])
        os.replace(target + ".part", target)
    return ctypes.CDLL(target)


class Shape(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int) for n in ("contexts", "heads", "kv_heads")] + \
               [(n, ctypes.c_void_p) for n in ("start", "length", "from_", "to", "seen", "own", "owned", "wanted")]


def ptr(t):
    assert t.is_contiguous()
    return ctypes.c_void_p(t.data_ptr())


class Product:
    """Matrix products by oneDNN, on which Debian's torch depends anyway: a fifth to a quarter faster
    than its OpenBLAS on AVX-512 at these sizes. Without it torch's own."""
    flags, size = ctypes.c_char, ctypes.c_int64
    try:
        gemm = ctypes.CDLL("libdnnl.so.2").dnnl_sgemm
        gemm.argtypes = [flags, flags, size, size, size, ctypes.c_float, ctypes.c_void_p, size, ctypes.c_void_p, size, ctypes.c_float, ctypes.c_void_p, size]
    except (OSError, AttributeError):
        gemm = None


def mm(a, b, ta=False, tb=False, to=None):
    """a b, either transposed first; with `to`, added to that in place"""
    if Product.gemm is None:
        a, b = a.t() if ta else a, b.t() if tb else b
        return a @ b if to is None else to.addmm_(a, b)
    assert a.is_contiguous() and b.is_contiguous()
    k, m = a.shape if ta else a.shape[::-1]
    n = b.shape[0] if tb else b.shape[1]
    assert k == (b.shape[1] if tb else b.shape[0])
    out = torch.empty(m, n) if to is None else to
    if Product.gemm(b"T" if ta else b"N", b"T" if tb else b"N", m, n, k, 1.0, a.data_ptr(), a.shape[1], b.data_ptr(), b.shape[1],
                    0.0 if to is None else 1.0, out.data_ptr(), n):
        raise RuntimeError("oneDNN's product failed")
    return out


class Linear(torch.autograd.Function):
    """x w^T"""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return mm(x, w, tb=True)

    @staticmethod
    def backward(ctx, d):
        x, w = ctx.saved_tensors
        d = d.contiguous()
        return mm(d, w), mm(d, x, ta=True)


def linear(x, w):
    return Linear.apply(x.contiguous(), w.contiguous())


def logits(net, x):
    return linear(net.output_norm(x), net.token_embd.weight)


class Layer:
    """Which rows of a batch a layer computes: all of them, or (`rows`) some, in ascending order."""

    def __init__(self, batch, cfg, table, rows=None, wanted=None):
        base, start, ask = int(batch.start[-1]), batch.start, batch.ask
        chosen = torch.arange(len(batch.ids)) if rows is None else rows
        self.rows, self.cfg = rows, cfg
        self.table, self.query_table = table, table if rows is None else table[rows].contiguous()
        in_context = chosen < base
        length = (start[1:] - start[:-1])
        owner = torch.bucketize(chosen.int(), torch.cat((start[:-1], ask[:-1])), right=True) - 1
        owner = torch.where(in_context, owner, owner - len(length))
        seen = torch.where(in_context, chosen - start[owner] + 1, length[owner].long()).int()
        own = batch.own[chosen].contiguous()
        owned = torch.where(in_context, torch.zeros_like(chosen), chosen - own + 1).int()
        edges = torch.stack((torch.searchsorted(chosen, start[:-1].long()), torch.searchsorted(chosen, ask[:-1].long())), 1)
        ends = torch.stack((torch.searchsorted(chosen, start[1:].long()), torch.searchsorted(chosen, ask[1:].long())), 1)
        want = torch.full((len(chosen),), -1, dtype=torch.int32)
        if wanted is not None:
            want[len(chosen) - len(wanted):] = wanted
        self.kept = [start[:-1].contiguous(), length.int().contiguous(), edges.int().contiguous(), ends.int().contiguous(), seen, own, owned, want]
        self.shape = Shape(len(length), cfg.heads, cfg.kv_heads, *(t.data_ptr() for t in self.kept))


class BlockFunction(torch.autograd.Function):
    lib = None

    @staticmethod
    def forward(ctx, x, lay, n1, wq, wk, wv, wo, n2, wg, wu, wd):
        c, lib, f = lay.cfg, BlockFunction.lib, ctypes.c_float
        n, d = x.shape
        h, inv1 = torch.empty_like(x), torch.empty(n)
        lib.rms(n, d, f(c.eps), ptr(x), ptr(n1), ptr(h), ptr(inv1))
        hq, xq = (h, x) if lay.rows is None else (h[lay.rows], x[lay.rows])
        q, k, v = mm(hq, wq, tb=True), mm(h, wk, tb=True), mm(h, wv, tb=True)
        m = len(q)
        lib.rope(m, c.heads, ctypes.c_long(q.shape[1]), ptr(q), ptr(lay.query_table), f(HEAD ** -0.5), f(1))
        lib.rope(n, c.kv_heads, ctypes.c_long(k.shape[1]), ptr(k), ptr(lay.table), f(1), f(1))
        o, lse, p = torch.empty_like(q), torch.empty(m, c.heads), torch.empty(m, c.heads // c.kv_heads)
        lib.attention(ctypes.byref(lay.shape), ptr(q), ptr(k), ptr(v), ptr(o), ptr(lse), ptr(p))
        x1 = mm(o, wo, tb=True, to=xq.clone() if lay.rows is None else xq)
        h2, inv2 = torch.empty_like(x1), torch.empty(m)
        lib.rms(m, d, f(c.eps), ptr(x1), ptr(n2), ptr(h2), ptr(inv2))
        wgu = torch.cat((wg, wu))
        gu = mm(h2, wgu, tb=True)
        y = torch.empty(m, c.ffn)
        lib.swiglu(m, c.ffn, ptr(gu), ptr(y))
        ctx.kept = (x, lay, n1, wq, wk, wv, wo, n2, wgu, wd, h, inv1, hq, q, k, v, o, lse, p, x1, h2, inv2, gu, y)
        return mm(y, wd, tb=True, to=x1.clone()), p

    @staticmethod
    def backward(ctx, dx2, dp):
        x, lay, n1, wq, wk, wv, wo, n2, wgu, wd, h, inv1, hq, q, k, v, o, lse, p, x1, h2, inv2, gu, y = ctx.kept
        ctx.kept = None
        c, lib, f = lay.cfg, BlockFunction.lib, ctypes.c_float
        n, d, m = len(x), x.shape[1], len(q)
        dx2, dp = dx2.contiguous(), dp.contiguous()
        dwd, dy = mm(dx2, y, ta=True), mm(dx2, wd)
        lib.swiglu_backward(m, c.ffn, ptr(gu), ptr(dy))
        dwgu, dh2 = mm(gu, h2, ta=True), mm(gu, wgu)
        dx1, dn2 = dx2.clone(), torch.zeros(2, d)
        lib.rms_backward(m, d, ptr(x1), ptr(n2), ptr(inv2), ptr(dh2), ptr(dx1), ptr(dn2))
        dwo, do = mm(dx1, o, ta=True), mm(dx1, wo)
        dq, dk, dv = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        lib.attention_backward(ctypes.byref(lay.shape), ptr(q), ptr(k), ptr(v), ptr(o), ptr(lse), ptr(p), ptr(do), ptr(dp), ptr(dq), ptr(dk), ptr(dv))
        lib.rope(m, c.heads, ctypes.c_long(q.shape[1]), ptr(dq), ptr(lay.query_table), f(HEAD ** -0.5), f(-1))
        lib.rope(n, c.kv_heads, ctypes.c_long(k.shape[1]), ptr(dk), ptr(lay.table), f(1), f(-1))
        dwq, dwk, dwv = mm(dq, hq, ta=True), mm(dk, h, ta=True), mm(dv, h, ta=True)
        dh = mm(dv, wv, to=mm(dk, wk))
        if lay.rows is None:
            mm(dq, wq, to=dh)
            dx = dx1
        else:
            dh.index_add_(0, lay.rows, mm(dq, wq))
            dx = torch.zeros_like(x).index_add_(0, lay.rows, dx1)
        dn1 = torch.zeros(2, d)
        lib.rms_backward(n, d, ptr(x), ptr(n1), ptr(inv1), ptr(dh), ptr(dx), ptr(dn1))
        return dx, None, dn1.sum(0), dwq, dwk, dwv, dwo, dn2.sum(0), dwgu[:c.ffn], dwgu[c.ffn:], dwd


def rotations(position, cfg):
    freq = cfg.theta ** (-torch.arange(0, HEAD, 2).float() / HEAD)
    angle = position.float()[:, None] * freq
    return torch.stack((angle.cos(), angle.sin()), -1).view(-1, HEAD).contiguous()


def block(b, x, layer):
    return BlockFunction.apply(x, layer, b.attn_norm.weight, b.attn_q.weight, b.attn_k.weight, b.attn_v.weight, b.attn_output.weight,
                               b.ffn_norm.weight, b.ffn_gate.weight, b.ffn_up.weight, b.ffn_down.weight)


def forward(net, batch, look, copy, kept):
    """Returns the last layer's states ([kept context rows + question rows]), every layer's states and
    what layers `look` and `copy` (indices) give to the tokens wanted there, [question rows, heads of
    a group]. kept: the context rows of the last layer that are computed."""
    c = net.cfg
    assert c.head_dim == HEAD
    table = rotations(batch.position, c)
    base = int(batch.start[-1])
    rows = torch.cat((kept, torch.arange(base, len(batch.ids))))
    layers = {None: Layer(batch, c, table), look: Layer(batch, c, table, wanted=batch.first)}
    layers[copy] = Layer(batch, c, table, rows if copy == c.layers - 1 else None, batch.value)
    if copy != c.layers - 1:
        layers[c.layers - 1] = Layer(batch, c, table, rows)
    x, states, probability = net.token_embd(batch.ids), [], {}
    for i, b in enumerate(net.blk):
        x, p = block(b, x, layers.get(i, layers[None]))
        states.append(x)
        if i in (look, copy):
            probability[i] = p[len(p) - (len(batch.ids) - base):]
    return x, states, probability
