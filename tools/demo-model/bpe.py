"""Byte-level BPE as GPT-2 defines it: trainer, encoder, decoder.

The pre-split is the one libllama applies for `tokenizer.ggml.pre = "gpt-2"`, so that both tokenise
alike. A piece of text may be encoded alone and joined afterwards wherever the cut lies before a
single space and a word: such a cut is always a pre-split boundary.
"""
import collections
import json

import regex

PRE_SPLIT = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
BOS, EOS, PAD = 0, 1, 2
CONTROL = ["<|bos|>", "<|endoftext|>", "<|pad|>"]


def byte_alphabet():
    """GPT-2's printable stand-in for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {b: chr(b) for b in printable}
    for b in range(256):
        if b not in table:
            table[b] = chr(256 + len(table) - len(printable))
    return table


ALPHABET = byte_alphabet()
BYTES = {c: b for b, c in ALPHABET.items()}


def train(word_counts, size):
    """word_counts: {pre-split piece: count}; returns (tokens, merges) with at most `size` tokens."""
    words = [[ALPHABET[b] for b in w.encode()] for w in word_counts]
    counts = list(word_counts.values())
    tokens = CONTROL + [ALPHABET[b] for b in range(256)]
    known, merges = set(tokens), []
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for i, w in enumerate(words):
        for p in zip(w, w[1:]):
            pairs[p] += counts[i]
            where[p].add(i)
    while len(tokens) < size and pairs:
        best = max(pairs, key=lambda p: (pairs[p], p))
        if pairs[best] <= 0:
            break
        merges.append(best)
        joined = best[0] + best[1]
        if joined not in known:
            known.add(joined)
            tokens.append(joined)
        for i in where.pop(best):
            w = words[i]
            for p in zip(w, w[1:]):
                pairs[p] -= counts[i]
            j = 0
            while j < len(w) - 1:
                if (w[j], w[j + 1]) == best:
                    w[j:j + 2] = [joined]
                j += 1
            for p in zip(w, w[1:]):
                pairs[p] += counts[i]
                where[p].add(i)
        del pairs[best]
    return tokens, merges


class Tokenizer:
    def __init__(self, tokens, merges):
        self.tokens, self.merges = tokens, [tuple(m) for m in merges]
        self.ids = {t: i for i, t in enumerate(tokens)}
        self.rank = {m: i for i, m in enumerate(self.merges)}
        self._words, self._texts = {}, {}

    @classmethod
    def load(cls, path):
        with open(path) as f:
            return cls(**json.load(f))

    def save(self, path):
        with open(path, "w") as f:
            json.dump({"tokens": self.tokens, "merges": self.merges}, f)

    def _word(self, word):
        parts = [ALPHABET[b] for b in word.encode()]
        while len(parts) > 1:
            rank, i = min((self.rank.get(p, 1 << 30), i) for i, p in enumerate(zip(parts, parts[1:])))
            if rank == 1 << 30:
                break
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        return [self.ids[p] for p in parts]

    def encode(self, text):
        out = []
        for word in PRE_SPLIT.findall(text):
            ids = self._words.get(word)
            if ids is None:
                ids = self._words[word] = self._word(word)
            out += ids
        return out

    def piece(self, text):
        """encode() with a cache, for the corpus's recurring pieces."""
        ids = self._texts.get(text)
        if ids is None:
            ids = self._texts[text] = self.encode(text)
        return ids

    def decode(self, ids):
        data = bytes(BYTES[c] for i in ids if i >= len(CONTROL) for c in self.tokens[i])
        return data.decode("utf-8", "replace")
