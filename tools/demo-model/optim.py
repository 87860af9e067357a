"""Muon for the matrices (momentum made orthogonal by Newton-Schulz steps), AdamW for the rest."""
import torch

from fast import mm

# Of each step's polynomial a x + b x^3 + c x^5: the best ones in order (Amsel et al., "The Polar Express"),
# four of which do what five of Muon's fixed polynomial did.
STEPS = ((8.287212, -23.595887, 17.300387), (4.107059, -2.947850, 0.544843), (3.948691, -2.908902, 0.551819), (3.318420, -2.488488, 0.510049))


def orthogonal(g):
    """g [r, c] -> a nearly orthogonal matrix of the same row and column spaces. One matrix at a time: torch's
    batched product is its own loop where there is no MKL, at a twentieth of the speed."""
    flip = g.shape[0] > g.shape[1]
    x = (g.t() if flip else g).contiguous()
    x = x / (1.01 * x.norm() + 1e-7)
    for a, b, c in STEPS:
        s = mm(x, x, tb=True)
        x = mm(mm(s, s).mul_(c).add_(s, alpha=b), x, to=a * x)
    return x.t() if flip else x


class Muon:
    """Of the matrices of one shape, worker w of n takes every n-th."""

    def __init__(self, params, lr=0.02, momentum=0.95, decay=0.01):
        self.groups = {}
        for p in params:
            self.groups.setdefault(tuple(p.shape), []).append(p)
        self.buffers = {s: torch.zeros(len(ps), *s).share_memory_() for s, ps in self.groups.items()}
        self.lr, self.momentum, self.decay = lr, momentum, decay

    @torch.no_grad()
    def step(self, gradient, scale, worker, workers):
        for shape, params in self.groups.items():
            params, buf = params[worker::workers], self.buffers[shape][worker::workers]
            rate = self.lr * scale
            for p, b in zip(params, buf):
                g = gradient(p)
                b.mul_(self.momentum).add_(g)
                update = orthogonal(g.add(b, alpha=self.momentum)) * max(1, shape[0] / shape[1]) ** 0.5
                p.mul_(1 - rate * self.decay).add_(update, alpha=-rate)


class Optimizer:
    """Both, with one scale for the schedule. `gradient` gives a parameter's; the first worker does AdamW's part."""

    def __init__(self, named, lr=0.02):
        named = list(named)
        matrix = [p for n, p in named if p.dim() == 2 and n.startswith("blk.")]
        chosen = {id(p) for p in matrix}
        self.rest = [p for _, p in named if id(p) not in chosen]
        self.muon = Muon(matrix, lr)
        self.adam = torch.optim.AdamW([{"params": [p for p in self.rest if p.dim() > 1], "weight_decay": 0.01},
                                       {"params": [p for p in self.rest if p.dim() < 2], "weight_decay": 0.0}], betas=(0.9, 0.98))
        self.adam_lr, self.params = 0.15 * lr, [p for _, p in named]

    def step(self, gradient, scale, worker=0, workers=1):
        if worker == 0:
            for g in self.adam.param_groups:
                g["lr"] = self.adam_lr * scale
            for p in self.rest:
                p.grad = gradient(p)
            self.adam.step()
        self.muon.step(gradient, scale, worker, workers)

    def state(self):
        return {"adam": self.adam.state_dict(), "muon": self.muon.buffers}

    def load(self, state):
        self.adam.load_state_dict(state["adam"])
        for shape, b in state["muon"].items():
            self.muon.buffers[shape].copy_(b)
