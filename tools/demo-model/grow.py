"""A deeper and wider network that computes what a trained one does, to train on from there.

New layers add nothing at first (attn_output and ffn_down are zero), nor do new neurons (their columns
of ffn_down are zero); all else of them is as at any beginning, so that they learn from the first step.
"""
from dataclasses import replace

import torch

import model as M

# Where the six layers go among twelve: new ones stand between the check layer (1) and the look-up
# (3), which work on whose a fact is, and behind the find (5), which turn what was found into words.
PLACES = {(6, 12): (0, 1, 3, 5, 7, 8)}


@torch.no_grad()
def grow(old, layers, ffn):
    """`old` itself if it has that shape, else a new Llama of the same function."""
    c = old.cfg
    if (c.layers, c.ffn) == (layers, ffn):
        return old
    places = range(layers) if layers == c.layers else PLACES[c.layers, layers]
    net = M.Llama(replace(c, layers=layers, ffn=ffn))
    net.token_embd.weight.copy_(old.token_embd.weight)
    net.output_norm.weight.copy_(old.output_norm.weight)
    for b in net.blk:
        b.attn_output.weight.zero_()
        b.ffn_down.weight.zero_()
    for place, source in zip(places, old.blk):
        target = dict(net.blk[place].named_parameters())
        for name, w in source.named_parameters():
            target[name][tuple(slice(n) for n in w.shape)] = w
    return net
