"""Batches for training: contexts of chunks with many questions behind each."""
from dataclasses import dataclass

import torch

import answers
import corpus
import lexicon as lex
from bpe import BOS, EOS

OWNERS = lex.SURNAMES + lex.PROJECTS + lex.PRODUCTS + lex.BUILDINGS + lex.TEAMS
PRONOUNS = [p + w for w in "She He It They Her His Its Their".split() for p in ("", " ")] + [" she", " he", " it", " they", " him", " her"]
LIMIT = 96      # tokens a chunk, as the app cuts them
GLUE = 0.25     # weight of an answer's tokens that neither are a fact nor decide what is answered
SHARES = {"two hops": 0.25, "comparison": 0.2, "unanswerable": 0.15}  # of the questions; the rest are of one hop


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
    weight: torch.Tensor     # [R] of that in the loss: 0 where it belongs to the question
    value: torch.Tensor      # [R] where in its context the next token, part of a fact, stands, or that of a winner's name
                             # where the answer told of it, counted on from the context; else -1
    first: torch.Tensor      # [R] where in its context the end of the fact stands that begins next or is
                             # looked for (0, BOS, if it is not there); before the name of a comparison's winner
                             # that value of the answer by which it wins, counted on from the context; else -1
    verdict: torch.Tensor    # [R] whether the next token is part of the winner's name
    question: torch.Tensor   # [R] number of the question
    kind: torch.Tensor       # [questions] index into answers.KINDS
    hubs: torch.Tensor       # [h, 2] row and owner index: tokens that hang on an owner

    @property
    def tokens(self):
        return len(self.ids)


def cut(rng, tok, document):
    """Chunks of whole sentences of up to LIMIT tokens, as the app has them, or (one in four) fewer."""
    limit = LIMIT if rng.random() < 0.75 else rng.randint(40, LIMIT)
    size = [sum(len(tok.piece(p)) for p in s.pieces) for s in document.sentences]
    document.chunks, at = [[]], 8  # about what the title takes
    for i, n in enumerate(size):
        if document.chunks[-1] and at + n > limit:
            document.chunks.append([])
            at = 2
        document.chunks[-1].append(i)
        at += n + 1


def retrieved(rng, documents):
    """Which chunks of each document stand in the context: [(document index, chunks)]. Some have lost
    their end, one in the middle, or (orphans) the first. An orphan comes first or behind a document
    that its pronoun cannot mean; else nobody could tell that it is one."""
    out, before = [], None
    for i, d in enumerate(documents):
        chunks, r, n = d.chunks, rng.random(), len(d.chunks)
        if n > 1 and r < 0.12:
            chunks = chunks[:rng.randint(1, n - 1)]
        elif n > 2 and r < 0.18:
            chunks = chunks[:1] + chunks[2:]
        elif n > 1 and r < 0.28 and before != d.entity.pronoun:
            chunks = chunks[1:]
        out.append((i, chunks))
        before = d.entity.pronoun
    return out


class Maker:
    def __init__(self, tok):
        self.tok = tok
        self.owner = {w: i for i, w in enumerate(OWNERS)}
        self.owner_tokens = torch.tensor([tok.encode(" " + w)[0] for w in OWNERS])
        self.pronouns = {tok.encode(p)[0] for p in PRONOUNS}

    def documents(self, rng, budget):
        one_kind = rng.choice(list(lex.KINDS)) if rng.random() < 0.3 else None
        linked, rich, long = rng.random() < 0.8, rng.random() < 0.75, rng.random() < 0.3 + 0.4 * min(1, budget / 1000)
        if not long:
            return corpus.world(rng, max(2, min(24, round(budget / 62))), (2, 6), (0, 1), rng.choice([(1, 2), (1, 4), (4, 8)]), one_kind, linked, rich)
        docs = corpus.world(rng, max(2, min(20, round(budget / 150) + 1)), (5, 10), (1, 6), (5, 9), one_kind, linked, rich)
        for d in docs:
            cut(rng, self.tok, d)
        return docs

    def passages(self, rng, docs, budget):
        """-> [ids] of the chunks, {(document, fact): (position, length)} of what they state and hubs as in
        Batch, positions behind BOS."""
        chunks, at, place, hubs = [], 1, {}, []
        for d, kept in retrieved(rng, docs):
            doc, heading = docs[d], rng.choice(["# ", "# ", "# ", "= "])
            orphan = kept[0][0] != 0
            owner = self.owner[doc.entity.owner]
            for chunk in kept:
                pieces = [(self.tok.piece(text), fact) for text, fact in corpus.chunk_pieces(doc, chunk, heading, marks=True)]
                if chunks and at + sum(len(p) for p, _ in pieces) > budget:
                    return chunks, place, hubs
                for piece, fact in pieces:
                    if fact >= 0 and not orphan:
                        place[d, fact] = (at, len(piece))
                        hubs += [(at + i, owner) for i in range(len(piece))]
                    elif fact < 0 and not orphan:
                        hubs += [(at + i, owner) for i, t in enumerate(piece) if t in self.pronouns]
                    at += len(piece)
                chunks.append(sum((p for p, _ in pieces), []))
        return chunks, place, hubs

    def sample(self, rng, budget, asks, shares):
        """One context of at most about `budget` tokens with `asks` questions."""
        docs = self.documents(rng, budget)
        chunks, place, hubs = self.passages(rng, docs, budget)
        pools = answers.world_questions(rng, docs, place.keys())
        chosen = []
        for kind, share in shares.items():
            chosen += pools[kind][:round(asks * share)]
        chosen += pools["one hop"][:asks - len(chosen)]
        if not place or len(chosen) < 3:
            return self.sample(rng, budget, asks, shares)
        rng.shuffle(chosen)
        return [BOS] + sum(chunks, []), hubs, [self.row(q, place) for q in chosen]

    def row(self, q, place):
        """-> prompt ids, answer ids, kind, [(index in the answer, position, length, owner)] of its facts,
        the subject's owner, [(index in the answer, position)] where it is decided whether a fact is known:
        the position of that fact's end, or 0 (BOS) if it is not, and of a comparison (index in the answer of the
        winner's name as the verdict, its length, which of the facts wins, index of the name where that fact is told)"""
        prompt, answer, facts = self.tok.encode(corpus.prompt(q.text)), [], []
        for s in q.steps:
            if s.place:
                facts.append((len(answer), *place[s.place], self.owner[s.owner.owner]))
            answer += self.tok.piece(s.text) if s.text else []
        ends = [sum(place[p]) - 1 for p in q.path] + [0] * (q.kind == "unanswerable")
        decided = [(0, ends[0])]
        if len(facts) and len(ends) > 1 and q.kind != "comparison":
            decided.append((facts[0][0] + facts[0][2] + 1, ends[1]))  # ", who" or ", but"
        return prompt, answer, answers.KINDS.index(q.kind), facts, self.owner[q.subject.owner], decided, self.verdict(q, answer)

    def verdict(self, q, answer):
        if q.kind != "comparison":
            return None
        last, winner = q.steps[-1].text, q.winner.name
        begin = last.index(" " + winner)
        first = q.winner is q.subject
        told = 0 if first else sum(len(self.tok.piece(s.text)) for s in q.steps[:3] if s.text) + len(self.tok.piece(" and"))
        return (len(answer) - len(self.tok.piece(last[begin:])), len(self.tok.piece(" " + winner)), int(not first), told)

    def batch(self, rng, budget, tokens, shares=SHARES):
        """Contexts of about `budget` tokens each, about `tokens` tokens in all."""
        asks = max(20, min(90, budget // 16))
        rows = max(1, round(tokens / (budget + 22 * asks)))
        return pack([self.sample(rng, budget, asks, shares) for _ in range(rows)])


def pack(samples):
    """samples: [(context ids, [(position, owner)], [Maker.row])]"""
    ids, position, start, hubs = [], [], [], []
    for context, marks, _ in samples:
        start.append(len(ids))
        hubs += [(len(ids) + p, o) for p, o in marks]
        ids += context
        position += range(len(context))
    base = len(ids)
    own, ask, kinds = [0] * base, [], []
    target, weight, value, first, verdicts, question = [], [], [], [], [], []
    for context, _, rows in samples:
        ask.append(len(ids))
        for prompt, answer, kind, facts, owner, decided, verdict in rows:
            begin, end, both = len(ids), len(prompt) - 1, prompt + answer
            n = len(both)
            here = ([0.0] * end + [GLUE] * (n - end), [-1] * n, [-1] * n, [False] * n)  # weight, value, first, verdict
            for at, where in decided:
                here[0][end + at], here[2][end + at] = 1.0, where
            hubs.append((begin + end, owner))
            for at, where, length, whose in facts:
                hubs.append((begin + end + at, whose))
                here[2][end + at] = where + length - 1  # of a person's two names the surname: by that the next hop goes on
                for i in range(length):
                    here[0][end + at + i], here[1][end + at + i] = 1.0, where + i
                here[0][min(n - 1, end + at + length)] = 1.0  # whether the sentence goes on behind the fact
            if kind == 2:  # the verdict
                here[0][end + facts[-1][0] + facts[-1][2]:] = [1.0] * (n - end - facts[-1][0] - facts[-1][2])
                name, length, wins, told = verdict
                answer_at = len(context) + len(prompt)
                for i in range(length):
                    row = end + name + i
                    here[1][row], here[2][row], here[3][row] = answer_at + told + i, answer_at + facts[wins][0], True
            weight += here[0]
            value += here[1]
            first += here[2]
            verdicts += here[3]
            target += both[1:] + [EOS]
            question += [len(kinds)] * n
            kinds.append(kind)
            ids += both
            position += range(len(context), len(context) + n)
            own += [begin] * n
    ints = lambda x: torch.tensor(x, dtype=torch.int32)
    longs = lambda x: torch.tensor(x, dtype=torch.int64)
    return Batch(longs(ids), longs(position), ints(start + [base]), ints(ask + [len(ids)]), ints(own), longs(target),
                 torch.tensor(weight), ints(value), ints(first), torch.tensor(verdicts), longs(question), longs(kinds), longs(hubs).view(-1, 2))
