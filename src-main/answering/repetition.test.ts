import { describe, expect, test } from 'vitest';
import { RepetitionWatch } from './repetition.ts';

/** How much text precedes the detection of a repetition; undefined when none is detected. Tokens are a few characters long. */
function endsAt(text: string, size = 4): number | undefined {
  const watch = new RepetitionWatch();
  for (let at = 0; at < text.length; at += size) if (watch.push(text.slice(at, at + size))) return at + size;
  return undefined;
}

const SENTENCE = 'The zebra barn costs 4,250 euros per year. ';

describe('a text that repeats itself', () => {
  test('is found when it says the same for the third time', () => {
    const end = endsAt(`It is a barn. ${SENTENCE.repeat(30)}`) ?? Infinity;
    expect(end).toBeGreaterThan(2 * SENTENCE.length);
    expect(end).toBeLessThan(5 * SENTENCE.length);
  });

  test.each([
    ['two sentences by turns', 'It lies in the north of the town. It was built by two brothers. '],
    [
      'a paragraph',
      `${'Every word of this paragraph tells something else about the long way. '.repeat(1)}It has ${Array.from({ length: 80 }, (_, i) => `word${i}`).join(' ')}.\n\n`,
    ],
    ['Chinese', '斑马谷仓每年的费用是四千二百五十欧元。'],
    ['Thai, without marks', 'โรงนาม้าลายมีค่าใช้จ่ายสี่พันสองร้อยห้าสิบยูโรต่อปี '],
    ['a short word', 'no '],
    ['a mark', '='],
  ])('%s', (_, run) => {
    expect(endsAt(`Well: ${run.repeat(Math.ceil(4000 / run.length))}`)).toBeDefined();
  });

  test('a list that counts on', () => {
    const lines = Array.from({ length: 40 }, (_, i) => `${i + 1}. The river runs through the old town.\n`);
    expect(endsAt(lines.join(''))).toBeDefined();
  });
});

describe('repeats for a reason', () => {
  const rows = (count: number): string =>
    Array.from({ length: count }, (_, i) => `| ${i} | not stated in the documents | yes |\n`).join('');
  test.each([
    ['a sentence said twice', SENTENCE.repeat(2)],
    ['a table', `| n | what | open |\n|---|---|---|\n${rows(60)}`],
    ['equal rows of a table', '| closed | closed | closed | closed |\n'.repeat(7)],
    ['short items of a list', '- yes\n'.repeat(20)],
    [
      'one answer under several headings',
      ['Oslo', 'Bergen', 'Tromsø', 'Bodø', 'Molde']
        .map((city) => `## ${city}\nThe documents say nothing about this city.\n`)
        .join('\n'),
    ],
    ['code', `\`\`\`ts\n${'await page.getByRole("button").click();\n'.repeat(6)}\`\`\`\n`],
    ['indented code', '    total = total + values[index]\n'.repeat(6)],
    ['a data table in code', `\`\`\`\n${'0, 0, 0, 0, 0, 0, 0, 0,\n'.repeat(7)}\`\`\`\n`],
    ['a ruler', `${'='.repeat(80)}\nTitle\n${'='.repeat(80)}\n`],
    [
      'a refrain',
      'Row, row, row your boat, gently down the stream. Merrily, merrily, merrily, merrily, life is but a dream. '.repeat(
        2,
      ),
    ],
    ['numbers', Array.from({ length: 200 }, (_, i) => `${i * 7}, `).join('')],
    ['short Chinese items', '- 是\n'.repeat(20)],
  ])('%s', (_, text) => {
    expect(endsAt(text)).toBeUndefined();
    expect(endsAt(text, 1)).toBeUndefined();
  });

  test('code may repeat a line three times, prose after it may not', () => {
    const code = `\`\`\`\n${'step one of the long way there\n'.repeat(5)}\`\`\`\n`;
    expect(endsAt(code)).toBeUndefined();
    expect(endsAt(`${code}${SENTENCE.repeat(5)}`)).toBeDefined();
  });
});
