import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as english } from '@orama/stemmers/english';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { dan, deu, eng, fin, fra, ita, nld, por, rus, spa, swe } from 'stopword';

/** The languages with stemming (Snowball), each with its function words. */
const LANGUAGES = {
  en: { stem: english, stop: eng },
  de: { stem: german, stop: deu },
  fr: { stem: french, stop: fra },
  es: { stem: spanish, stop: spa },
  it: { stem: italian, stop: ita },
  pt: { stem: portuguese, stop: por },
  nl: { stem: dutch, stop: nld },
  sv: { stem: swedish, stop: swe },
  da: { stem: danish, stop: dan },
  fi: { stem: finnish, stop: fin },
  ru: { stem: russian, stop: rus },
};

export type Language = keyof typeof LANGUAGES;

/** Words in most English questions and documents besides those in the list. */
const MORE_ENGLISH = `are does did don had hers if me ours should than theirs us whose whom why yours`.split(
  ' ',
);

const STOP = new Map(
  Object.entries(LANGUAGES).map(([language, { stop }]) => [
    language as Language,
    new Set(language === 'en' ? [...stop, ...MORE_ENGLISH] : stop),
  ]),
);

/** This many words are enough to detect a text's language. */
const SAMPLE = 200;
/** Stems cached per language: those of a document's common words. */
const REMEMBERED = 20_000;

/** A run of letters, digits and marks. */
export const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/** To be chosen over English, another language needs this many times English's function words, and at least this share of all words. */
const LEAD = 1.3;
const LEAST_SHARE = 0.15;

/** The language most of whose function words occur in a text; English when none is conclusive: code, tables and names belong to none. */
export function languageOf(text: string): Language {
  const head = text.slice(0, SAMPLE * 12).toLowerCase();
  const words = head.match(WORD)?.slice(0, SAMPLE) ?? [];
  const votes = (language: Language): number =>
    words.reduce((sum, word) => sum + Number(isStopWord(word, language)), 0);
  let best: Language = 'en';
  let most = Math.max(votes('en') * LEAD, words.length * LEAST_SHARE);
  for (const language of STOP.keys()) {
    const found = language === 'en' ? 0 : votes(language);
    if (found > most) [best, most] = [language, found];
  }
  return best;
}

/** Whether a word, in lower case, says little about the topic of a text in this language. */
export function isStopWord(word: string, language: Language): boolean {
  return STOP.get(language)?.has(word) ?? false;
}

const stems = new Map<Language, Map<string, string>>();

/** A word's stem; the word must be in lower case. */
export function stemOf(word: string, language: Language): string {
  let known = stems.get(language);
  if (!known || known.size >= REMEMBERED) stems.set(language, (known = new Map<string, string>()));
  let stem = known.get(word);
  if (stem === undefined) known.set(word, (stem = LANGUAGES[language].stem(word)));
  return stem;
}
