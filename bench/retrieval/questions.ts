import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalogue, ChunkRow } from '../../src-main/catalogue/catalogue.ts';
import { randomFrom } from '../../src-main/testing/random.ts';

export interface BenchQuestion {
  kind: 'sentence' | 'heading' | 'paraphrase';
  language: 'en' | 'de' | 'zh';
  text: string;
  /** Places of the answer: UTF-16 ranges in documents' texts. */
  places: { documentId: number; start: number; end: number }[];
  /** The sentence, normalised by `squeezed`; '' for headings. */
  sentence: string;
}

/** A manual comes in several formats; text that occurs more often does not identify one of them. */
const MAX_PLACES = 4;

const LANGUAGES = ['en', 'de', 'zh'] as const;
/** Half of the questions are English, a quarter each in the other languages. */
const SHARES = { en: 0.5, de: 0.25, zh: 0.25 };
/** The answer to a heading is expected within this many characters of its section. */
const SECTION_HEAD = 1500;

interface Text {
  documentId: number;
  language: BenchQuestion['language'];
  text: string;
}

/** Written by hand: [question, words of the passage that answers it]. They share few words. */
export function paraphrases(): BenchQuestion[] {
  const path = join(import.meta.dirname, 'paraphrases.json');
  const pairs = JSON.parse(readFileSync(path, 'utf8')) as [string, string][];
  return pairs.map(([text, passage]) => {
    return { kind: 'paraphrase', language: 'en', text, places: [], sentence: squeezed(passage) };
  });
}

/** Generates questions by the rule in bench/retrieval.ts, half of each kind. */
export function questionsFrom(
  catalogue: Catalogue,
  chunks: readonly ChunkRow[],
  count: number,
): BenchQuestion[] {
  const ids = [...new Set(chunks.map(({ documentId }) => documentId))];
  const texts = ids.map((documentId): Text => {
    const text = [...catalogue.texts.blocks(documentId)].join('');
    return { documentId, text, language: languageOf(text) };
  });
  const random = randomFrom(1);
  const kinds = [together(texts.flatMap(sentencesOf)), together(headingsOf(catalogue, texts))];
  return LANGUAGES.flatMap((language) =>
    kinds.flatMap((all) => {
      const some = all.filter((question) => question.language === language);
      const wanted = Math.round((count * SHARES[language]) / 2);
      for (let i = 0; i < Math.min(wanted, some.length); i++) {
        const other = i + Math.floor(random() * (some.length - i));
        [some[i], some[other]] = [some[other] as BenchQuestion, some[i] as BenchQuestion];
      }
      return some.slice(0, wanted);
    }),
  );
}

/** Returns a function that finds the chunks which answer a question. */
export function answersAmong(chunks: readonly ChunkRow[]): (question: BenchQuestion) => Set<number> {
  const texts = new Map(chunks.map(({ id, text }) => [id, squeezed(text)]));
  return ({ places, sentence }) => {
    const right = chunks.filter(
      (chunk) =>
        places.some(
          ({ documentId, start, end }) =>
            chunk.documentId === documentId && chunk.start < end && chunk.end > start,
        ) ||
        (sentence !== '' && texts.get(chunk.id)?.includes(sentence)),
    );
    return new Set(right.map(({ id }) => id));
  };
}

/** Merges questions of the same wording into one question with several places. */
function together(questions: readonly BenchQuestion[]): BenchQuestion[] {
  const groups = Map.groupBy(questions, ({ language, text }) => `${language} ${text.toLowerCase()}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const places = group.flatMap((each) => each.places);
    return first && places.length <= MAX_PLACES ? [{ ...first, places }] : [];
  });
}

function sentencesOf({ documentId, language, text }: Text): BenchQuestion[] {
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' });
  return text.split(/\n\s*\n/).reduce<{ at: number; found: BenchQuestion[] }>(
    ({ at, found }, paragraph) => {
      const start = text.indexOf(paragraph, at);
      for (const { segment, index } of segmenter.segment(paragraph.replaceAll('\n', ' '))) {
        const asked = thinned(segment.trim(), language);
        if (asked === undefined) continue;
        const from = start + index;
        const places = [{ documentId, start: from, end: from + segment.length }];
        found.push({ kind: 'sentence', language, text: asked, places, sentence: squeezed(segment) });
      }
      return { at: start + paragraph.length, found };
    },
    { at: 0, found: [] },
  ).found;
}

/** The sentence without every third word; undefined if it is too short, too long, or not a sentence. */
function thinned(sentence: string, language: BenchQuestion['language']): string | undefined {
  if (!/[.。!！?？]$/u.test(sentence)) return undefined;
  if (language === 'zh') {
    const characters = sentence.match(/\p{Script=Han}/gu) ?? [];
    if (characters.length < 16 || characters.length > 80) return undefined;
    const runs = characters.join('').match(/.{1,4}/gu) ?? [];
    return runs.filter((_, i) => i % 3 !== 2).join(' ');
  }
  const words = sentence.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu) ?? [];
  const letters = words.filter((word) => /^\p{L}+$/u.test(word)).length;
  if (words.length < 8 || words.length > 40 || letters < words.length * 0.8) return undefined;
  return words.filter((_, i) => i % 3 !== 2).join(' ');
}

function headingsOf(catalogue: Catalogue, texts: readonly Text[]): BenchQuestion[] {
  const all = texts.flatMap(({ documentId, language, text }) =>
    (catalogue.documents.headings(documentId) ?? []).map(([start, , title]): BenchQuestion => {
      const words = title.replace(/^(?:\d[\d.]*|[A-Z](?:\.\d+)*\.)\s+/u, '').trim();
      const places = [{ documentId, start, end: Math.min(text.length, start + SECTION_HEAD) }];
      return { kind: 'heading', language, text: words, places, sentence: '' };
    }),
  );
  return all.filter(({ text, language }) => {
    const length =
      language === 'zh' ? (text.match(/\p{Script=Han}/gu) ?? []).length / 2 : text.split(/\s+/).length;
    return length >= 2 && length <= 8;
  });
}

function squeezed(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

function languageOf(text: string): BenchQuestion['language'] {
  const head = text.slice(0, 20_000);
  if ((head.match(/\p{Script=Han}/gu) ?? []).length > head.length / 10) return 'zh';
  const german = (head.match(/\b(?:der|die|das|und|nicht|werden|ist|Sie)\b/g) ?? []).length;
  const english = (head.match(/\b(?:the|and|of|is|not|to|be|you)\b/g) ?? []).length;
  return german > english ? 'de' : 'en';
}
