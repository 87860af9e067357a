"""fast.py against model.py: outputs and gradients of one small batch. python3 test_fast.py"""
import os
import random
import tempfile

import torch

import fast
import model as M
from batches import Maker
from bpe import Tokenizer


def main():
    torch.manual_seed(0)
    tok = Tokenizer.load(os.path.join(fast.HERE, "tokenizer.json"))
    batch = Maker(tok).batch(random.Random(2), 200, 1200, {"two hops": 0.25, "comparison": 0.4, "unanswerable": 0.1})
    net = M.Llama(M.Config(len(tok.tokens), layers=4))
    with tempfile.TemporaryDirectory() as folder:
        fast.BlockFunction.lib = fast.build(folder)
    base = int(batch.start[-1])
    assert batch.verdict.any()  # heads that look into their own question
    kept = torch.arange(3, base, 8)
    x, _, p = fast.forward(net, batch, 1, 3, kept)
    mix = torch.randn_like(x)
    ((x * mix).sum() + 50 * p[1].sum() + 50 * p[3].sum()).backward()
    got = {n: w.grad.clone() for n, w in net.blk.named_parameters()}
    net.zero_grad()

    want, shares, total = torch.zeros_like(x), {1: torch.zeros_like(p[1]), 3: torch.zeros_like(p[3])}, 0
    for c in range(len(batch.start) - 1):
        rows = torch.arange(int(batch.start[c]), int(batch.start[c + 1]))
        for q in range(int(batch.question.max()) + 1):
            asked = base + torch.nonzero(batch.question == q)[:, 0]
            if not int(batch.ask[c]) <= int(asked[0]) < int(batch.ask[c + 1]):
                continue
            ids = torch.cat((rows, asked))
            h, pos = net.token_embd(batch.ids[ids]), torch.arange(len(ids))
            for i, b in enumerate(net.blk):
                query, k, v = b.qkv(h)
                if i in (1, 3):
                    wanted = (batch.first if i == 1 else batch.value)[asked - base]
                    turned, keys = M.rotate(query, pos, net.cfg)[len(rows):, :2], M.rotate(k, pos, net.cfg)[:, 0]
                    s = torch.einsum("thd,sd->ths", turned, keys) * 0.125
                    s = s.masked_fill(pos[None, None] > pos[len(rows):, None, None], -1e9).softmax(-1)
                    part = s.gather(2, wanted.clamp(min=0).long()[:, None, None].expand(-1, 2, 1))[..., 0] * (wanted >= 0)[:, None]
                    shares[i][asked - base] = part.detach()
                    total = total + 50 * part.sum()
                h = b.ffn(b.attend(h, query, pos, k, v, pos))
            at = len(kept) + asked - base
            want[at] = h[len(rows):].detach()
            total = total + (h[len(rows):] * mix[at]).sum()
        mine = (kept >= rows[0]) & (kept <= rows[-1])
        h = net(batch.ids[rows])[kept[mine] - rows[0]]
        want[:len(kept)][mine] = h.detach()
        total = total + (h * mix[:len(kept)][mine]).sum()
    total.backward()
    error = lambda a, b: float((a - b).norm() / b.norm())
    print(f"states {error(x, want):.1e}, probabilities {error(p[1], shares[1]):.1e} {error(p[3], shares[3]):.1e}")
    worst = max((error(got[n], w.grad), n) for n, w in net.blk.named_parameters())
    print(f"gradients: worst {worst[0]:.1e} ({worst[1]})")
    assert error(x, want) < 1e-4 and worst[0] < 1e-3


if __name__ == "__main__":
    main()
