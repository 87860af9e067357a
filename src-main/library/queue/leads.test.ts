import { describe, expect, test } from 'vitest';
import { leadsOf } from './leads.ts';

const model = { tokenize: (text: string) => Int32Array.from(text, (c) => c.charCodeAt(0)) };

/** Chunks of 100 tokens, all different unless of the same seed. */
const chunksOf = (seeds: readonly number[]) =>
  seeds.map((seed) => ({
    tokens: Int32Array.from({ length: 100 }, (_, i) => 1000 + seed * 100 + i),
    above: ['Ships', `Part ${seed}`],
  }));

const count = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

const leads = (seeds: readonly number[], chunkTokens = 256): Int32Array[] => [
  ...leadsOf(chunksOf(seeds), { title: 'Ships', chunkTokens, model }),
];

/** Which chunks begin a group: the others are encoded after all that the one before them is, and that one. */
function borders(seeds: readonly number[], of = leads(seeds)): number[] {
  const chunks = chunksOf(seeds);
  return count(seeds.length).filter((i) => {
    const [before, chunk] = [of[i - 1], chunks[i - 1]];
    return !before || !chunk || String(of[i]) !== String(Int32Array.of(...before, ...chunk.tokens));
  });
}

describe('leads', () => {
  test('of small chunks are the headings above them', () => {
    expect(leads([1, 2], 128).map((lead) => String.fromCharCode(...lead))).toEqual([
      '',
      '# Ships\n## Part 2\n\n',
    ]);
  });

  test('of a group grow by its chunks, from its headings and the 512 tokens before it', () => {
    const all = leads(count(400));
    const starts = borders(count(400), all);
    expect(starts[0]).toBe(0);
    expect(all[0]).toHaveLength(0);
    for (const at of starts.slice(1)) {
      const lead = all[at] as Int32Array;
      const heading = model.tokenize(`# Ships\n## Part ${at}\n\n`);
      const text = chunksOf(count(at)).flatMap(({ tokens }) => [...tokens]);
      expect([...lead]).toEqual([...heading, ...text.slice(-512)]);
    }
    const sizes = starts.slice(1).map((at, i) => at - (starts[i] as number));
    expect(Math.min(...sizes.slice(1))).toBeGreaterThan(2);
    expect(400 / starts.length).toBeGreaterThan(4);
    expect(400 / starts.length).toBeLessThan(6);
  });

  test('change near an edit only', () => {
    const seeds = count(200);
    const before = new Set(leads(seeds).map(String));
    for (const edited of [seeds.with(100, 999), seeds.toSpliced(100, 0, 999), seeds.toSpliced(100, 1)]) {
      const after = leads(edited).map(String);
      expect(after.filter((lead) => !before.has(lead)).length).toBeLessThan(25);
      expect(after.slice(-60).every((lead) => before.has(lead))).toBe(true);
    }
  });

  test('of a text that repeats itself do not grow for ever', () => {
    const all = leads(count(300).map(() => 7));
    expect(Math.max(...all.map(({ length }) => length))).toBeLessThan(2048);
  });

  test('of the largest chunks hold the text before each', () => {
    expect(borders(count(20), leads(count(20), 2048))).toEqual(count(20));
  });
});
