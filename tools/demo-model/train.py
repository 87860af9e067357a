"""Train the demo model: python3 train.py --from MODEL.gguf [--out DIR]; goes on from DIR/last.pt if that exists.

Besides the answers' cross-entropy two kinds of hints are learned, which steer the small model to the
circuit that the task needs and fade out (FADE):
- owner hint: after some of the first layers a linear probe must tell, at pronouns and values of the
  context and in an answer before each fact, whose they are; this is the cross-chunk binding;
- look-up hint: before each fact of an answer, and where it is decided whether there is one, some heads of
  two layers must attend to it in the context, or to BOS if it is not there.
For comparisons others stay, without which the model judges by chance:
- along one direction for each kind of number, the embeddings of its tokens lie in the numbers' order;
- before the winner's name, heads with look-up hints must attend to the value in the answer by which it wins, and to the
  name there.
All schedules go by tokens, so that pauses, restarts and busy hours change nothing but the time.

Every core has a process with one thread and batches of its own. They share the weights and meet twice
a step: threads that meet at every product wait for each other whenever another program has a core.
"""
import argparse
import ctypes
import datetime
import faulthandler
import json
import math
import multiprocessing
import os
import random
import signal
import time

import torch
import torch.nn.functional as F

import export_gguf
import fast
import grow
import lexicon as lex
import model as M
from batches import Maker
from bpe import Tokenizer
from optim import Optimizer

HERE = os.path.dirname(os.path.abspath(__file__))
OWN = ((0, 0, 0.3), (1, 1, 0.5), (3, 1, 0.5))  # layer, probe and weight of each owner hint
LOOK, COPY = 5, 8   # layers with look-up hints
KEEP = 16           # every how many context tokens one is predicted
LM_WEIGHT = 0.03
ORDERED = (lex.YEARS, lex.TENS, lex.SMALL)  # what comparisons compare
SPREAD = 0.8        # how far from the middle the least and the largest number lie; embeddings are about 1.6 long
LONGEST = ((0, 350), (2, 400), (3, 600), (6, 1200), (12, 1980))  # (million tokens, longest context), linear between
FADE = (5, 10)      # million tokens between which the hints go
WARM = 60           # steps in which the learning rate rises
AVERAGE = 200       # steps over which weights are averaged for evaluation
SAVE, EARLIER = 120, 1800  # seconds between checkpoints; age of the earlier one that is kept


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--from", dest="source", help="GGUF to start from (grown to the shape wanted), when there is no checkpoint; else from nothing")
    p.add_argument("--out", default="/var/tmp/kvasir-demo-train")
    p.add_argument("--layers", type=int, default=12)
    p.add_argument("--ffn", type=int, default=768)
    p.add_argument("--tokens", type=int, default=6000, help="tokens a step, of all workers")
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--anneal", type=float, help="let the learning rate fall to 2 %% over so many million tokens from here on, then end")
    p.add_argument("--again", action="store_true", help="go on behind an anneal that ended, with the full learning rate")
    p.add_argument("--until", type=float, default=math.inf, help="million tokens at which to end")
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


def between(table, x):
    """The piecewise linear function through `table` at x"""
    for (a, u), (b, v) in zip(table, table[1:]):
        if x < b:
            return u + (v - u) * max(0, x - a) / (b - a)
    return table[-1][1]


def budget(rng, millions):
    """Tokens of the contexts of a batch: all lengths up to the longest, long ones more often."""
    top = between(LONGEST, millions)
    return int(150 + (top - 150) * rng.random() ** 0.7)


class Losses:
    def __init__(self, net, maker):
        self.net, self.maker = net, maker
        self.probes = torch.nn.ModuleList(torch.nn.Linear(net.cfg.dim, net.cfg.dim, bias=False) for _ in range(2))
        for p in self.probes:
            torch.nn.init.eye_(p.weight)
        tok = maker.tok
        self.numbers = [(torch.tensor([tok.encode(" " + n)[0] for n in ns]), torch.linspace(-SPREAD, SPREAD, len(ns))) for ns in ORDERED]
        directions = torch.randn(len(ORDERED), net.cfg.dim, generator=torch.Generator().manual_seed(1))
        self.directions = torch.linalg.qr(directions.t())[0].t()

    def order(self):
        """Mean squared distance of the numbers' embeddings from their place along their kind's direction."""
        return sum(F.mse_loss(self.net.token_embd.weight[ids] @ d, place) for (ids, place), d in zip(self.numbers, self.directions))

    def owner(self, probe, x, labels):
        h = fast.linear(F.normalize(x, dim=-1), self.probes[probe].weight)
        table = F.normalize(self.net.token_embd.weight[self.maker.owner_tokens], dim=-1)
        score = 16 * fast.linear(h, table)
        return F.cross_entropy(score, labels), (score.argmax(-1) == labels).float().mean().item()

    def __call__(self, b, hint):
        base = int(b.start[-1])
        kept = torch.arange(random.randrange(KEEP), base - 1, KEEP)
        x, states, share = fast.forward(self.net, b, LOOK, COPY, kept)
        stats, rows = {}, b.weight > 0
        logits, target, weight = fast.logits(self.net, x[len(kept):][rows]), b.target[rows], b.weight[rows]
        loss = (F.cross_entropy(logits, target, reduction="none") * weight).sum() / weight.sum()
        wrong = (logits.argmax(-1) != target).float()
        exact = torch.zeros(len(b.kind)).index_add_(0, b.question[rows], wrong) == 0
        for kind, name in enumerate(("one", "two", "compare", "unknown")):
            if (b.kind == kind).any():
                stats[name] = exact[b.kind == kind].float().mean().item()
        facts = (b.value[rows] >= 0) & ~b.verdict[rows]
        stats["fact"] = 1 - wrong[facts].mean().item()
        lm = F.cross_entropy(fast.logits(self.net, x[:len(kept)]), b.ids[kept + 1])
        order = self.order()
        stats["lm"], stats["order"] = lm.item(), order.item()
        for layer, name in ((LOOK, "win"), (COPY, "name")):
            p = share[layer][b.verdict]
            if len(p):
                stats[name] = p.mean().item()
                # Of each head: two that always look at one side each would have a good mean.
                order = order - 0.2 * (p + 1e-6).log().mean()
        if b.verdict.any():
            stats["verdict"] = (logits.argmax(-1) == target)[b.verdict[rows]].float().mean().item()
        return loss + LM_WEIGHT * lm + order + (hint * self.hint(b, states, share, stats) if hint else 0), stats

    def hint(self, b, states, share, stats):
        total = 0
        for layer, probe, weight in OWN:
            part, stats[f"own{layer}"] = self.owner(probe, states[layer][b.hubs[:, 0]], b.hubs[:, 1])
            total = total + weight * part
        for layer, wanted, name in ((LOOK, (b.first >= 0) & ~b.verdict, "look"), (COPY, (b.value >= 0) & ~b.verdict, "find")):
            p = share[layer][wanted].mean(-1)
            stats[name] = p.mean().item()
            total = total - 0.4 * (p + 1e-4).log().mean()
        return total


class Run:
    """What a checkpoint holds and how it is written."""

    def __init__(self, args, tok):
        self.args, self.last = args, os.path.join(args.out, "last.pt")
        self.step = self.tokens = 0
        self.warm = 0         # the step from which the learning rate rises
        self.anneal = None    # [tokens at which it begins to fall, over how many]
        state = torch.load(self.last) if os.path.exists(self.last) else None
        if state:
            self.net = M.Llama(M.Config(**state["config"]))
            self.net.load_state_dict(state["weights"])
        elif args.source:
            net, theirs = export_gguf.load(args.source)
            assert theirs.tokens == tok.tokens, "another tokenizer"
            self.net = grow.grow(net, args.layers, args.ffn)
        else:
            self.net = M.Llama(M.Config(len(tok.tokens), layers=args.layers, ffn=args.ffn))
        self.losses = Losses(self.net, Maker(tok))
        self.opt = Optimizer([*self.net.named_parameters(), *self.losses.probes.named_parameters(prefix="probe")], lr=args.lr)
        self.average = [p.detach().clone() for p in self.net.parameters()]
        if state:
            self.losses.probes.load_state_dict(state["probes"])
            self.opt.load(state["opt"])
            self.step, self.tokens, self.anneal = state["step"], state["tokens"], state["anneal"]
            self.average = list(state["average"].values())
            self.warm = self.step - WARM
        if args.again:
            self.anneal = None
        if args.anneal and not self.anneal:
            self.anneal = [self.tokens, args.anneal * 1e6]
        self.share()

    def share(self):
        """Puts what workers have in common into memory that they share."""
        for t in [*self.opt.params, *self.average]:
            t.data.share_memory_()
        self.place = {id(p): i for i, p in enumerate(self.opt.params)}
        self.grads = [[torch.zeros_like(p).share_memory_() for p in self.opt.params] for _ in range(self.args.workers)]
        self.counts = torch.zeros(self.args.workers, dtype=torch.int64).share_memory_()  # tokens of the step
        self.control = torch.zeros(2, dtype=torch.float64).share_memory_()  # scale of the learning rate, millions of tokens
        self.meet = multiprocessing.Barrier(self.args.workers)

    def scale(self):
        """Of the learning rate; None when the training is over."""
        if self.tokens >= self.args.until * 1e6:
            return None
        rise = min(1, (self.step - self.warm + 1) / WARM)
        if not self.anneal:
            return rise
        x = (self.tokens - self.anneal[0]) / self.anneal[1]
        return None if x >= 1 else rise * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * x)))

    def gradient(self, p):
        i = self.place[id(p)]
        return sum(g[i] for g in self.grads) / len(self.grads)

    def advance(self, worker, rng):
        """One step of one worker; returns its losses."""
        scale, millions = self.control.tolist()
        b = self.losses.maker.batch(rng, budget(rng, millions), self.args.tokens / self.args.workers)
        loss, stats = self.losses(b, 1 - between(((FADE[0], 0.0), (FADE[1], 1.0)), millions))
        for p in self.opt.params:
            p.grad = None
        loss.backward()
        norm = float(torch.nn.utils.clip_grad_norm_(self.opt.params, 2.0))
        for g, p in zip(self.grads[worker], self.opt.params):
            if p.grad is None or not math.isfinite(norm):
                g.zero_()
            else:
                g.copy_(p.grad)
        self.counts[worker] = b.tokens
        self.meet.wait()
        self.opt.step(self.gradient, scale, worker, self.args.workers)
        self.step += 1
        for a, p in list(zip(self.average, self.net.parameters()))[worker::self.args.workers]:
            a.lerp_(p.detach(), 1 / min(AVERAGE, self.step))
        stats["loss"], stats["norm"] = loss.item(), norm
        return stats

    def save(self):
        earlier = os.path.join(self.args.out, "earlier.pt")
        if os.path.exists(self.last) and (not os.path.exists(earlier) or time.time() - os.path.getmtime(earlier) > EARLIER):
            os.replace(self.last, earlier)
        names = [n for n, _ in self.net.named_parameters()]
        M.save(self.last + ".part", self.net, average=dict(zip(names, self.average)), probes=self.losses.probes.state_dict(),
               opt=self.opt.state(), step=self.step, tokens=self.tokens, anneal=self.anneal)
        os.replace(self.last + ".part", self.last)


def work(run, worker):
    """A worker other than the first. It ends when the first says so, or dies with it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    rng = random.Random(run.args.seed + run.step + 7919 * worker)
    random.seed(worker)
    while True:
        run.meet.wait()
        if run.control[0] < 0:
            return
        run.advance(worker, rng)


def main():
    faulthandler.enable()
    args = arguments()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    os.makedirs(args.out, exist_ok=True)
    fast.BlockFunction.lib = fast.build(args.out)
    run = Run(args, Tokenizer.load(os.path.join(HERE, "tokenizer.json")))
    parameters = sum(p.numel() for p in run.net.parameters())
    print(f"{run.net.cfg.layers} layers, {parameters} parameters, step {run.step}, {json.dumps(vars(args))}", flush=True)
    others = [multiprocessing.Process(target=work, args=(run, w), daemon=True) for w in range(1, args.workers)]
    for o in others:
        o.start()
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    signal.signal(signal.SIGCHLD, lambda *_: any(o.exitcode for o in others) and os._exit(1))
    rng = random.Random(args.seed + run.step)
    saved, mean, speed = time.time(), {}, []
    while True:
        scale = None if ended else run.scale()
        run.control[0], run.control[1] = -1 if scale is None else scale, run.tokens / 1e6
        run.meet.wait()  # from here to the next meeting nobody changes the weights
        if scale is None or time.time() - saved > SAVE:
            run.save()
            saved = time.time()
        if scale is None:
            break
        began = time.time()
        for k, v in run.advance(0, rng).items():
            n, m = mean.get(k, (0, 0.0))
            mean[k] = (n + 1, m + (v - m) / min(n + 1, 20))
        tokens = int(run.counts.sum())
        run.tokens += tokens
        speed = speed[-9:] + [(tokens, time.time() - began)]
        if run.step % 10 == 0:
            words = " ".join(f"{k} {v:.3f}" for k, (_, v) in sorted(mean.items()))
            rate = sum(n for n, _ in speed) / sum(t for _, t in speed)
            print(f"{datetime.datetime.utcnow():%d %H:%M:%S} step {run.step} tokens {run.tokens / 1e6:.2f}M {rate:.0f}/s lr {args.lr * scale:.4f} {words}", flush=True)
    print(f"ended at step {run.step}, {run.tokens} tokens", flush=True)


if __name__ == "__main__":
    main()
