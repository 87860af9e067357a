import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomFrom } from '../../src-main/testing/random.ts';
import { zipf } from '../lib/draws.ts';

const VOCABULARY = 4000;
const SYLLABLES = 'ba ce di fo gu la me ni ro su ta ve zi ko pa re'.split(' ');
const SENTENCE_WORDS = 9;

/** Writes Markdown documents of made-up words, each about a subject that no other document names. */
export function writeLibrary(
  dir: string,
  { documents, characters, seed }: Record<'documents' | 'characters' | 'seed', number>,
): void {
  const random = randomFrom(seed);
  const pick = zipf(VOCABULARY, 0.8, random);
  mkdirSync(dir, { recursive: true });
  for (let i = 0; i < documents; i++) {
    const subject = `Subject${word(i)}`;
    let text = `# ${subject}\n\n`;
    while (text.length < characters) {
      const words = Array.from({ length: SENTENCE_WORDS }, () => word(VOCABULARY + pick()));
      text += `${subject} ${words.join(' ')}.\n`;
    }
    writeFileSync(join(dir, `${word(i)}.md`), text);
  }
}

/** A word for each number. */
function word(number: number): string {
  let text = '';
  for (let rest = number + SYLLABLES.length ** 2; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    text += SYLLABLES[rest % SYLLABLES.length] ?? '';
  return text;
}
