"""Batches for training: contexts of chunks with many questions behind each."""
from dataclasses import dataclass

import torch

import corpus
import lexicon as lex
from bpe import BOS, EOS

OWNERS = lex.SURNAMES + lex.PROJECTS + lex.PRODUCTS + lex.BUILDINGS + lex.TEAMS
PRONOUNS = [p + w for w in "She He It They Her His Its Their".split() for p in ("", " ")] + [" she", " he", " it", " they", " him", " her"]


@dataclass
class Batch:
    """Contexts and, behind each, questions that see the context and themselves. Rows: the tokens of
    all contexts, then those of all questions; no padding."""
    ids: torch.Tensor        # [N]
    position: torch.Tensor   # [N] in the context, or behind it
    start: torch.Tensor      # [B + 1] first row of each context; the last entry is the first question's
    ask: torch.Tensor        # [B + 1] first question row of each context
    own: torch.Tensor        # [N] first row of the question that the row belongs to (0 in contexts)
    # for the question rows, from start[-1] on:
    target: torch.Tensor     # [R] the next token
    weight: torch.Tensor     # [R] 1 where that belongs to an answer, else PROMPT_WEIGHT or 0
    value: torch.Tensor      # [R] where in its context the answer begins, at prompts' ends, or -1
    first: torch.Tensor      # [R] where in its context the first hop leads, at prompts' ends, or -1
    question: torch.Tensor   # [R] number of the question
    hops: torch.Tensor       # [questions] 1 or 2; 0 in a copying batch
    hubs: torch.Tensor       # [h, 2] row and owner index: tokens that hang on an owner
    chunks: list             # (first row, length) of each chunk of the contexts

    @property
    def tokens(self):
        return len(self.ids)


@dataclass
class Alone:
    """The chunks of a batch, each a context of its own behind BOS, as they are encoded for the cache."""
    ids: torch.Tensor
    position: torch.Tensor
    start: torch.Tensor
    ask: torch.Tensor
    own: torch.Tensor
    rows: torch.Tensor   # rows of the chunks' tokens here, without the BOS
    there: torch.Tensor  # and in the batch

    @classmethod
    def of(cls, batch):
        ids, position, start, rows, there = [], [], [], [], []
        for first, n in batch.chunks:
            start.append(len(ids))
            rows += range(len(ids) + 1, len(ids) + 1 + n)
            there += range(first, first + n)
            ids += [BOS] + batch.ids[first:first + n].tolist()
            position += range(n + 1)
        n = len(ids)
        ints = lambda x: torch.tensor(x, dtype=torch.int32)
        return cls(torch.tensor(ids), torch.tensor(position), ints(start + [n]), ints([n] * (len(start) + 1)), ints([0] * n),
                   torch.tensor(rows), torch.tensor(there))


PROMPT_WEIGHT = 0.0


class Maker:
    def __init__(self, tok):
        self.tok = tok
        self.owner = {w: i for i, w in enumerate(OWNERS)}
        self.owner_tokens = torch.tensor([tok.encode(" " + w)[0] for w in OWNERS])
        self.pronouns = {tok.encode(p)[0] for p in PRONOUNS}

    def sample(self, rng, budget, asks, two_hop, easy):
        """One context of about `budget` tokens with `asks` questions."""
        one_kind = rng.choice(list(lex.KINDS)) if rng.random() < 0.25 else None
        long = rng.random() < (0.1 if easy else 0.4)
        size = 150 if long else 62
        count = max(1 if easy else 2, min(9, round(budget / size)))
        docs = corpus.world(rng, count, facts=(5, 9) if long else (2, 6), fillers=(1, 5) if long else (0, 1),
                            sizes=rng.choice([(1, 2), (1, 4), (4, 8), (5, 9)]), one_kind=one_kind, linked=rng.random() < 0.8)
        ids, place, hubs, chunks = [BOS], {}, [], []
        for d, doc in enumerate(docs):
            if len(ids) > budget:
                break
            heading = rng.choice(["# ", "# ", "# ", "= "])
            owner = self.owner[doc.entity.owner]
            orphan = len(doc.chunks) > 1 and d == 0 and rng.random() < 0.15  # its first chunk was not retrieved
            for chunk in doc.chunks[1 if orphan else 0:]:
                begin = len(ids)
                for text, fact in corpus.chunk_pieces(doc, chunk, heading, marks=True):
                    piece, at = self.tok.piece(text), len(ids)
                    if fact >= 0 and not orphan:
                        place[d, fact] = (at, len(piece))
                        hubs += [(at + i, owner) for i in range(len(piece))]
                    elif fact < 0 and not orphan:
                        hubs += [(at + i, owner) for i, t in enumerate(piece) if t in self.pronouns]
                    ids += piece
                chunks.append((begin, len(ids) - begin))
        one, two = corpus.questions(rng, docs)
        one, two = ([q for q in qs if all(p in place for p in q.path)] for qs in (one, two))
        want_two = min(len(two), round(asks * two_hop))
        chosen = two[:want_two] + one[:asks - want_two]
        if not chosen:
            return self.sample(rng, budget, asks, two_hop, easy)
        rng.shuffle(chosen)
        rows = [self.row(q, place, docs) for q in chosen]
        return ids, hubs, rows, chunks

    def row(self, q, place, docs):
        prompt, answer = self.tok.encode(corpus.prompt(q.text)), self.tok.encode(" " + q.answer)
        (start, _), (hop, width) = place[q.path[-1]], place[q.path[0]]
        first = hop + width - 1  # of a person's two names the surname: by that the second hop goes on
        return prompt, answer, start, first, self.owner[docs[q.path[0][0]].entity.owner], len(q.path)

    def batch(self, rng, budget, tokens, asks=18, two_hop=0.3, easy=False):
        """Contexts of about `budget` tokens each, about `tokens` tokens in all."""
        rows = max(2, round(tokens / (budget + 16 * asks)))
        return pack([self.sample(rng, budget, asks, two_hop, easy) for _ in range(rows)])

    def repeats(self, rng, rows, vocab, size=96):
        """Random tokens, pieces of them again: the shortest way to learn copying. Questions are the
        pieces; the context is the random text."""
        out = []
        for _ in range(rows):
            base = [rng.randrange(3, vocab) for _ in range(size)]
            qs = []
            for _ in range(24):
                i, k = rng.randrange(1, size - 9), rng.randint(1, 3)
                qs.append((base[i:i + k], base[i + k:i + k + 4], i + k + 1, i + k + 1, -1, 0))
            out.append(([BOS] + base, [], qs, []))
        return pack(out, eos=False)


def pack(samples, eos=True):
    """samples: [(context ids, [(position, owner)], [(prompt, answer, start, first, owner, hops)],
    [(position, length) of a chunk])]"""
    ids, position, start, hubs, chunks = [], [], [], [], []
    for context, marks, _, parts in samples:
        chunks += [(len(ids) + p, n) for p, n in parts]
        start.append(len(ids))
        hubs += [(len(ids) + p, o) for p, o in marks]
        ids += context
        position += range(len(context))
    base = len(ids)
    own, ask, rows, hops = [0] * base, [], [], []
    for context, _, questions, _ in samples:
        ask.append(len(ids))
        for prompt, answer, at, first, owner, count in questions:
            p, a, begin = len(prompt), len(answer), len(ids)
            both = prompt + answer if eos else prompt + answer[:-1]
            targets = both[1:] + ([EOS] if eos else answer[-1:])
            for i, t in enumerate(targets):
                answers = i >= p - 1
                rows.append((t, 1.0 if answers else PROMPT_WEIGHT if eos else 0.0, at if i == p - 1 else -1,
                             first if i == p - 1 else -1, len(hops)))
            ids += both
            position += range(len(context), len(context) + len(both))
            own += [begin] * len(both)
            hops.append(count)
            if owner >= 0:
                hubs.append((begin + p - 1, owner))
    target, weight, value, first, question = zip(*rows)
    ints = lambda x: torch.tensor(x, dtype=torch.int32)
    longs = lambda x: torch.tensor(x, dtype=torch.int64)
    return Batch(longs(ids), longs(position), ints(start + [base]), ints(ask + [len(ids)]), ints(own), longs(target),
                 torch.tensor(weight), ints(value), ints(first), longs(question), longs(hops), longs(hubs).view(-1, 2), chunks)
