"""Train the demo model: python3 train.py --until 02:58 (UTC) [--out DIR]; resumes from DIR/last.pt.

Besides the answers' cross-entropy two kinds of hints are learned, which steer the small model to the
circuit that the task needs and fade out before the end:
- owner hint: after layers 0, 1 and 2 a linear probe must tell, at pronouns and values of the context and
  at the end of a question, whose they are; this is the cross-chunk binding;
- look-up hint: at the end of the question some heads of layers 3 and 5 must attend to the value (layer
  3, of a two-hop question: to the person in between; of a person's name: to the surname).
The schedule follows the clock, so pauses cost tokens, not the final learning rate.
"""
import argparse
import datetime
import math
import os
import random
import time

import torch
import torch.nn.functional as F

import fast
import model as M
from batches import Alone, Maker
from bpe import Tokenizer
from optim import Optimizer

HERE = os.path.dirname(os.path.abspath(__file__))
LOOK, COPY = 3, 5  # layers with look-up hints
KEEP = 16           # every how many context tokens one is predicted
LM_WEIGHT = 0.03
SPARSE_WEIGHT = 0.3
SPARSE_SHARE = 0.5


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--until", help="UTC time HH:MM at which training ends")
    p.add_argument("--minutes", type=float, help="or how long it runs")
    p.add_argument("--out", default="/tmp/kvasir-demo-train")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--tokens", type=int, default=4500, help="tokens a step")
    p.add_argument("--adam", action="store_true", help="AdamW instead of Muon")
    p.add_argument("--plain", action="store_true", help="no mimetic initialisation")
    p.add_argument("--no-hints", action="store_true")
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--fixed-phase", type=float, default=None, help="hold the curriculum here (comparisons)")
    return p.parse_args()


def end_time(args):
    if args.minutes:
        return time.time() + 60 * args.minutes
    now = datetime.datetime.utcnow()
    h, m = map(int, args.until.split(":"))
    end = now.replace(hour=h, minute=m, second=0, microsecond=0)
    return time.time() + ((end - now).total_seconds() % 86400)


def plan(rng, phase):
    """Context budget in tokens, share of two-hop questions, share of copying batches."""
    low, top = 90 + 120 * phase, 170 + 650 * min(1.0, phase / 0.5)
    budget = int(low + (top - low) * rng.random() ** 1.3)
    return budget, (0.0 if phase < 0.08 else 0.25), (0.25 if phase < 0.05 else 0.0)


def schedule(phase, step):
    return min(1, (step + 1) / 60) * (1 if phase < 0.4 else 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (phase - 0.4) / 0.6)))


class Losses:
    def __init__(self, net, maker, hints):
        self.net, self.maker, self.hints = net, maker, hints
        self.probes = torch.nn.ModuleList(torch.nn.Linear(net.cfg.dim, net.cfg.dim, bias=False) for _ in range(2))
        for p in self.probes:
            torch.nn.init.eye_(p.weight)

    def owner(self, probe, x, labels):
        h = self.probes[probe](F.normalize(x, dim=-1))
        table = F.normalize(self.net.token_embd.weight[self.maker.owner_tokens], dim=-1)
        score = 16 * h @ table.t()
        return F.cross_entropy(score, labels), (score.argmax(-1) == labels).float().mean().item()

    def __call__(self, b, hint):
        base = int(b.start[-1])
        kept = torch.arange(random.randrange(KEEP), base - 1, KEEP)
        x, states, share = fast.forward(self.net, b, LOOK, COPY, kept)
        stats, rows = {}, b.weight > 0
        logits, target, weight = self.net.logits(x[len(kept):][rows]), b.target[rows], b.weight[rows]
        loss = (F.cross_entropy(logits, target, reduction="none") * weight).sum() / (weight == 1).sum()
        wrong = ((logits.argmax(-1) != target) & (weight == 1)).float()
        exact = torch.zeros(len(b.hops)).index_add_(0, b.question[rows], wrong) == 0
        for h, name in enumerate(("copy", "hop1", "hop2")):
            if (b.hops == h).any():
                stats[name] = exact[b.hops == h].float().mean().item()
        if b.hops.max() > 0:  # the context's own next tokens; a copying batch's are random
            lm = F.cross_entropy(self.net.logits(x[:len(kept)]), b.ids[kept + 1])
            loss, stats["lm"] = loss + LM_WEIGHT * lm, lm.item()
        if b.chunks and random.random() < SPARSE_SHARE:
            part, stats["dev"] = self.sparse(b, states[0])
            loss = loss + SPARSE_WEIGHT * part
        hint = hint if self.hints else 0
        return (loss + hint * self.hint(b, states, share, stats)) if hint else loss, stats

    def sparse(self, b, state):
        """What share of the deviation, at the values of layer 1, lies on tokens that hang on an owner:
        those must be recomputed after reuse, and no others should need it."""
        alone = Alone.of(b)
        block = self.net.blk[1]
        value = lambda x: block.attn_v(block.attn_norm(x))
        here, there = value(fast.first_layer(self.net, alone)[alone.rows]), value(state[alone.there])
        deviation = ((here - there).square().sum(1) + 1e-6).sqrt()
        hub = torch.zeros(len(b.ids))
        hub[b.hubs[:, 0]] = 1
        share = (deviation * hub[alone.there]).sum() / deviation.sum()
        return -share.log(), share.item()

    def hint(self, b, states, share, stats):
        total = 0
        if len(b.hubs):
            for layer, probe, weight in ((0, 0, 0.3), (1, 1, 0.5), (2, 1, 0.5)):
                part, stats[f"own{layer}"] = self.owner(probe, states[layer][b.hubs[:, 0]], b.hubs[:, 1])
                total = total + weight * part
        for layer, wanted, name in ((LOOK, b.first, "look"), (COPY, b.value, "find")):
            p = share[layer][wanted >= 0].mean(-1)
            if len(p):
                stats[name] = p.mean().item()
                total = total - 0.4 * (p + 1e-4).log().mean()
        return total


def main():
    args = arguments()
    torch.set_num_threads(2)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    os.makedirs(args.out, exist_ok=True)
    tok = Tokenizer.load(os.path.join(HERE, "tokenizer.json"))
    maker = Maker(tok)
    fast.BlockFunction.lib = fast.build(args.out)
    cfg = M.Config(vocab=len(tok.tokens))
    net = M.Llama(cfg, not args.plain)
    losses = Losses(net, maker, not args.no_hints)
    opt = Optimizer([*net.named_parameters(), *losses.probes.named_parameters(prefix="probe")], not args.adam, args.lr)
    last, step, tokens, spent, start = os.path.join(args.out, "last.pt"), 0, 0, 0.0, time.time()
    if os.path.exists(last):
        state = torch.load(last)
        net.load_state_dict(state["weights"])
        losses.probes.load_state_dict(state["probes"])
        opt.load(state["opt"])
        step, tokens, start, spent = state["step"], state["tokens"], state["start"], state["spent"]
        rng.seed(args.seed + step)
        print(f"resumed at step {step}", flush=True)
    end, saved, mean = end_time(args), time.time(), {}
    while time.time() < end:
        began = time.time()
        phase = (began - start) / (end - start)
        budget, two, copy = plan(rng, phase if args.fixed_phase is None else args.fixed_phase)
        if rng.random() < copy:
            b = maker.repeats(rng, 24, cfg.vocab)
        else:
            b = maker.batch(rng, budget, args.tokens, two_hop=two, easy=phase < 0.15)
        loss, stats = losses(b, max(0.0, min(1.0, (0.85 - phase) / 0.25)))
        opt.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(opt.params, 2.0)
        if math.isfinite(float(norm)):
            opt.step(schedule(phase, step))
        step, tokens = step + 1, tokens + b.tokens
        spent += min(30.0, time.time() - began)  # a longer step was a pause
        for k, v in stats.items():
            mean[k] = v if k not in mean else 0.95 * mean[k] + 0.05 * v
        if step % 10 == 0:
            words = " ".join(f"{k} {v:.2f}" for k, v in sorted(mean.items()))
            print(f"{datetime.datetime.utcnow():%H:%M:%S} step {step} phase {phase:.3f} tokens {tokens / 1e6:.2f}M "
                  f"{tokens / spent:.0f}/s loss {loss.item():.3f} norm {float(norm):.2f} {words}", flush=True)
        if time.time() - saved > 120 or time.time() >= end:
            saved = time.time()
            M.save(last + ".part", net, probes=losses.probes.state_dict(), opt=opt.state(), step=step, tokens=tokens, start=start, spent=spent)
            os.replace(last + ".part", last)


if __name__ == "__main__":
    main()
