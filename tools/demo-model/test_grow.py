"""grow.py: the grown network's logits are the old one's, and everything new can learn. python3 test_grow.py [MODEL.gguf]"""
import os
import random
import sys

import torch

import export_gguf
import grow
import model as M
from bpe import BOS


def main():
    torch.manual_seed(0)
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(export_gguf.HERE, "../../resources/models/kvasir-demo.gguf")
    old, _ = export_gguf.load(path)
    layers, ffn = (12, 768) if old.cfg.layers == 6 else (old.cfg.layers, 2 * old.cfg.ffn)
    net = grow.grow(old, layers, ffn)
    assert (net.cfg.layers, net.cfg.ffn) == (layers, ffn)
    ids = torch.tensor([BOS] + [random.Random(1).randrange(3, old.cfg.vocab) for _ in range(200)])
    want = old.logits(old(ids))
    got = net.logits(net(ids))
    error = float((got - want).abs().max() / want.abs().max())
    print(f"logits differ by {error:.1e} of the largest")
    assert error < 1e-5
    torch.nn.functional.cross_entropy(got[:-1], ids[1:]).backward()
    still = [n for n, p in net.blk.named_parameters() if n.endswith(("attn_output.weight", "ffn_down.weight")) and not (p.grad.norm(dim=0) > 0).all()]
    assert not still, f"no gradient: {still}"
    with torch.no_grad():  # the test itself can fail
        net.blk[-1].ffn_down.weight[0, -1] = 1.0
        assert float((net.logits(net(ids)) - want).abs().max() / want.abs().max()) > 1e-5


if __name__ == "__main__":
    main()
