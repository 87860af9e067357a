import { isAbbreviated } from '../answering/citing/sentences.ts';
import { SourceSentences, type SourceText } from '../answering/citing/source-sentences.ts';

/** A part of a client's document that may support sentences of an answer. */
export interface Source extends SourceText {
  /** Number of its document, from 1, as used in marks such as [1]. */
  document: number;
}

/** A sentence of an answer, with the white space after it, and its sources. */
export interface CitedSentence<S extends Source> {
  text: string;
  sources: S[];
}

/**
 * The end of a sentence: its last punctuation, closing marks, citation marks, and the white space up to the next sentence, which begins
 * with anything but such a mark. Or the end of a line.
 */
const END =
  /(?:[.!?]+["'”’)\]]*(?:\s*\[\d+\])*\s+|[。！？]+[”’」』）]*(?:\s*\[\d+\])*\s*|\n\s*)(?=[^\s[”’」』）。！？])/gu;
const MARK = /\s*\[(\d+)\]/g;

/** Splits a stream into sentences, and finds the sources of each: those of the documents it names, or those that carry what it says. */
export class CitedSentences<S extends Source> {
  readonly #sources: readonly S[];
  readonly #index: SourceSentences;
  /** A repeated sentence is cited only at its first occurrence. */
  readonly #said = new Set<string>();
  #held = '';

  constructor(sources: readonly S[], question: string) {
    this.#sources = sources;
    this.#index = new SourceSentences(sources, question);
  }

  push(text: string): CitedSentence<S>[] {
    const sentences: CitedSentence<S>[] = [];
    this.#held += text;
    let from = 0;
    for (const { 0: end, index } of this.#held.matchAll(END)) {
      const sentence = this.#held.slice(from, index + end.length);
      if (isAbbreviated(sentence) && !end.includes('\n')) continue;
      sentences.push(this.#cited(sentence));
      from += sentence.length;
    }
    this.#held = this.#held.slice(from);
    return sentences;
  }

  /** The remaining text at the end of the stream. */
  flush(): CitedSentence<S>[] {
    const rest = this.#held;
    this.#held = '';
    return rest === '' ? [] : [this.#cited(rest)];
  }

  /** Removes marks that led to a source. */
  #cited(text: string): CitedSentence<S> {
    const marked = new Set([...text.matchAll(MARK)].map(([, number]) => Number(number)));
    const named = new Set(
      this.#sources.map(({ document }) => document).filter((document) => marked.has(document)),
    );
    const plain = text.replaceAll(MARK, (mark, number) => (named.has(Number(number)) ? '' : mark));
    // A document that the model names is trusted: the nearest of its texts, however little they share.
    const isNamed = (index: number): boolean => named.has(this.#sources[index]?.document ?? 0);
    const found = this.#index.of(plain, named.size > 0 ? isNamed : undefined);
    const sources = found.flatMap((index) => this.#sources[index] ?? []);
    if (sources.length === 0) return { text, sources };
    const again = this.#said.has(plain.trim());
    this.#said.add(plain.trim());
    return { text: plain, sources: again ? [] : sources };
  }
}
