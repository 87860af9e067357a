import { expect, test } from 'vitest';
import { subtitles } from './subtitles.ts';

const read = async (text: string): Promise<string> =>
  (await subtitles({ name: 'a.srt', bytes: Buffer.from(text) })).text;

test('SubRip: without numbers, times and styles; a pause begins a paragraph', async () => {
  expect(
    await read(
      '1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>Hello</i> there,\r\n{\\an8}my friend.\r\n\r\n2\r\n00:00:02,500 --> 00:00:04,000\r\n1984\r\n\r\n' +
        '3\r\n00:00:20,000 --> 00:00:22,000 X1:40\r\n- A & B < C\r\n\r\n- still\r\n\r\n4\r\n00:00:22,000 --> 00:00:23,000\r\n\r\n',
    ),
  ).toBe('Hello there, my friend.\n1984\n\n- A & B < C - still');
});

test('WebVTT: speakers, without notes, styles and names of cues', async () => {
  const source =
    'WEBVTT - The weir\n\nSTYLE\n::cue { color: red }\n\nNOTE a\nb\n\nintro\n00:01.000 --> 00:04.000 align:start\n<v Ida Voss>Weir &amp; <c.x>kiln</c>\n\n' +
    '00:04.000 --> 00:05.000\n<00:04.100><c>rolling</c> words\n\n00:05.000 --> 00:06.000\nrolling words\nnew line\n\nNOTE not said\n';
  expect(await read(source)).toBe('Ida Voss: Weir & kiln\nrolling words\nnew line');
  expect((await subtitles({ name: 'a.vtt', bytes: Buffer.from(source) })).title).toBe('The weir');
});

test.each(['', 'WEBVTT\n', 'just text\n'])('%j has no subtitles', async (source) => {
  await expect(read(source)).rejects.toMatchObject({ code: 'DOCUMENT_NO_TEXT' });
});

test('entities with names that every object has are text', async () => {
  const source = '1\n00:00:01,000 --> 00:00:02,000\n&amp; &constructor; &__proto__;\n';
  expect(await read(source)).toBe('& &constructor; &__proto__;');
});
