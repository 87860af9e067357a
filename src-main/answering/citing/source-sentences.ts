import { formsIn, termsOf, type Term } from './terms.ts';

/** A text that may support sentences of an answer. */
export interface SourceText {
  text: string;
  /** What it is about: the titles above it, and the text before it in its passage. Decides between equal statements about different things. */
  context: string;
}

/** A figure or a name identifies a statement more than a word that is as rare. */
const FACT_WEIGHT = 2;
/** Of a term that a source or its context contains besides those that it is chosen for. */
const AGREEMENT = 0.65;
/** The best source, with its context, contains at least this share of a sentence, by weight. */
const LEAST_SHARE = 0.3;
/** The same for a sentence without names and figures, whose words may occur anywhere. */
const LEAST_SHARE_OF_WORDS = 0.6;
/** The same where words are not separated: half of its pairs of characters are no words. */
const LEAST_SHARE_OF_PAIRS = 0.35;
/** Further sources score at least this share of the best. */
const LEAST_SCORE = 0.5;
/** Further sources contain terms that weigh at least this share of the most telling one. */
const LEAST_GAIN = 0.5;
/** Sources whose score is this close to the best say the same: all of them are named. */
const NEARLY = 0.98;
/** A sentence rarely has more facts. */
const MOST_SOURCES = 4;

interface IndexedSource {
  forms: ReadonlySet<string>;
  context: ReadonlySet<string>;
}

interface WeighedTerm extends Term {
  weight: number;
}

/** Finds the source sentences that carry what a sentence of an answer says: by words and figures, of which rare ones count most. */
export class SourceSentences {
  readonly #texts: readonly SourceText[];
  readonly #asked: ReadonlySet<string>;
  #indexed: readonly IndexedSource[] | undefined;

  constructor(sources: readonly SourceText[], question: string) {
    this.#texts = sources;
    this.#asked = formsIn(question);
  }

  /** Made for the first sentence, so that the first token need not wait for it. */
  get #sources(): readonly IndexedSource[] {
    return (this.#indexed ??= this.#texts.map(({ text, context }) => ({
      forms: formsIn(text),
      context: formsIn(context),
    })));
  }

  /**
   * Indices of the sources of a sentence, best first; none when none contains enough of it. `among`: the sources to choose from, however
   * little they share with it.
   */
  of(sentence: string, among?: (index: number) => boolean): number[] {
    const terms = this.#weighed(termsOf(sentence));
    const telling = terms.filter(({ forms }) => !forms.some((form) => this.#asked.has(form)));
    let left = telling.length > 0 ? telling : terms;
    const most = Math.max(0, ...left.map(({ weight }) => weight));
    const found: number[] = [];
    let enough = among ? 0 : leastShare(terms) * weightOf(terms);
    while (left.length > 0 && found.length < MOST_SOURCES) {
      const { score, gain, sources } = this.#best(left, terms, among);
      if (gain === 0 || score < enough || (found.length > 0 && gain < most * LEAST_GAIN)) break;
      found.push(...sources);
      enough = Math.max(enough, LEAST_SCORE * score);
      left = left.filter((term) => !sources.some((source) => this.#holds(source, term)));
    }
    return found.slice(0, MOST_SOURCES);
  }

  /** The sources that contain most of these terms, and with their context most of all terms. */
  #best(left: readonly WeighedTerm[], all: readonly WeighedTerm[], among?: (index: number) => boolean) {
    const best = { score: 0, gain: 0, sources: [] as number[] };
    for (const [index, { forms, context }] of this.#sources.entries()) {
      if (among && !among(index)) continue;
      const gained = left.filter((term) => holds(forms, term));
      if (gained.length === 0) continue;
      const others = all.filter(
        (term) => !gained.includes(term) && (holds(forms, term) || holds(context, term)),
      );
      const gain = weightOf(gained);
      const score = gain + AGREEMENT * weightOf(others);
      if (score * NEARLY > best.score) Object.assign(best, { score, gain, sources: [index] });
      else if (score >= best.score * NEARLY) best.sources.push(index);
    }
    return best;
  }

  #holds(source: number, term: Term): boolean {
    const known = this.#sources[source];
    return known !== undefined && holds(known.forms, term);
  }

  #weighed(terms: readonly Term[]): WeighedTerm[] {
    return terms.map((term) => {
      const containing = this.#sources.filter(({ forms }) => holds(forms, term)).length;
      const rarity = Math.log(1 + this.#sources.length / Math.max(1, containing));
      return { ...term, weight: term.isFact ? FACT_WEIGHT * rarity : rarity };
    });
  }
}

function leastShare(terms: readonly Term[]): number {
  if (terms.some(({ isFact }) => isFact)) return LEAST_SHARE;
  return terms.some(({ isPair }) => isPair) ? LEAST_SHARE_OF_PAIRS : LEAST_SHARE_OF_WORDS;
}

function holds(texts: ReadonlySet<string>, { forms }: Term): boolean {
  return forms.some((form) => texts.has(form));
}

function weightOf(terms: readonly WeighedTerm[]): number {
  return terms.reduce((total, { weight }) => total + weight, 0);
}
