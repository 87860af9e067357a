import { expect, test, vi } from 'vitest';
import { FakeModel } from '../testing/fusion.ts';
import type { ParsedDocument } from './formats/format.ts';
import type { Parser } from './parser/parser-process.ts';
import { SentDocuments } from './sent-documents.ts';

const { signal: NEVER } = new AbortController();
const TEXT = 'The sea is cold in May. '.repeat(10);
const DOCUMENT: ParsedDocument = {
  text: `${TEXT}\n\nThe end.`,
  title: '',
  pages: [
    { label: 'i', start: 0, end: TEXT.length },
    { label: 'ii', start: TEXT.length + 2, end: TEXT.length + 10 },
  ],
  warnings: [],
};

function sent(
  parse: Parser['parse'] = () => parsed(),
  maxFileBytes = 1000,
  models = oneModel(),
  recognise = true,
) {
  const requests: Parameters<Parser['parse']>[0][] = [];
  const recognised: number[] = [];
  let closed = false;
  const parser: Parser = {
    parse: (request, signal) => {
      requests.push(request);
      return parse(request, signal);
    },
    recognise: ({ page }) => {
      recognised.push(page);
      return Promise.resolve({ page: { text: `Text of page ${page + 1}.`, confidence: 90, words: [] } });
    },
    close: () => void (closed = true),
  };
  const documents = new SentDocuments({
    parser,
    settings: { current: { maxFileBytes, recognise } },
    models,
  });
  const read = (bytes: string, signal = NEVER) =>
    documents.read({ bytes: Buffer.from(bytes), name: 'Notes', format: 'pdf' }, signal);
  return { documents, read, requests, recognised, isClosed: () => closed };
}

function oneModel() {
  const active = { model: new FakeModel(), chunkTokens: 30 };
  return { active, current: () => Promise.resolve(active) };
}

const parsed = () => Promise.resolve({ kind: 'parsed' as const, sha256: '', document: DOCUMENT });

test('a document is read with the limit of the settings, and cut for the model in use', async () => {
  const { read, requests } = sent();
  const { text, pages, chunks } = await read('x');
  expect(requests).toMatchObject([{ name: 'Notes', format: 'pdf', maxBytes: 1000 }]);
  expect([text, pages]).toEqual([DOCUMENT.text, DOCUMENT.pages]);
  expect(chunks.length).toBeGreaterThan(2);
  expect(chunks.join(' ').replaceAll(/\s+/g, ' ')).toBe(DOCUMENT.text.replaceAll(/\s+/g, ' '));
});

const PICTURES = {
  ...DOCUMENT,
  text: '',
  pages: Array.from({ length: 25 }, (_, i) => ({ label: String(i + 1), start: 0, end: 0, confidence: null })),
};
const scanned = () => Promise.resolve({ kind: 'parsed' as const, sha256: '', document: PICTURES });

test('of pages that are pictures, the first twenty are recognised', async () => {
  const { read, recognised } = sent(scanned);
  const { text, pages } = await read('x');
  expect(recognised).toEqual(Array.from({ length: 20 }, (_, i) => i));
  expect(text).toMatch(/^Text of page 1\.\n\nText of page 2\..*20\.$/s);
  expect(pages[1]).toEqual({ label: '2', start: 17, end: 32, confidence: 90 });
});

test('without text recognition, a document of pictures has no text', async () => {
  const { read, recognised } = sent(scanned, 1000, oneModel(), false);
  await expect(read('x')).rejects.toMatchObject({ code: 'DOCUMENT_NO_TEXT' });
  expect(recognised).toEqual([]);
});

test('a document is chunked again when the model has changed meanwhile, and the old one may be freed', async () => {
  const [first, second] = [oneModel().active, oneModel().active];
  let active = first;
  const before = vi.spyOn(first.model, 'tokenize').mockImplementation((text) => {
    active = second;
    return new FakeModel().tokenize(text);
  });
  const after = vi.spyOn(second.model, 'tokenize');
  const models = {
    get active() {
      return active;
    },
    current: () => Promise.resolve(active),
  };
  const { chunks } = await sent(() => parsed(), 1000, models).read('x');
  expect(chunks).toEqual((await sent().read('x')).chunks);
  const [last = NaN, next = NaN] = [
    before.mock.invocationCallOrder.at(-1),
    after.mock.invocationCallOrder[0],
  ];
  expect(last).toBeLessThan(next);
});

test('the same bytes are read once; those that cannot be read are tried again', async () => {
  const { read, requests } = sent();
  const first = await read('x');
  expect(await read('x')).toEqual(first);
  await read('y');
  expect(requests).toHaveLength(2);
  const failing = sent(() => Promise.reject(new Error('broken')));
  await expect(failing.read('x')).rejects.toThrow('broken');
  await expect(failing.read('x')).rejects.toThrow('broken');
  expect(failing.requests).toHaveLength(2);
});

test('more than sixteen do not wait, and those that did are read', async () => {
  const begun = Promise.withResolvers<undefined>();
  const { read } = sent(() => begun.promise.then(parsed));
  const reading = Array.from({ length: 16 }, (_, i) => read(String(i)));
  await expect(read('one more')).rejects.toMatchObject({ code: 'CONFLICT' });
  begun.resolve(undefined);
  await Promise.all(reading);
  await expect(read('one more')).resolves.toBeDefined();
});

test('nothing is read for whoever has gone, nor when it is closed', async () => {
  const { documents, read, requests, isClosed } = sent();
  await expect(read('x', AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' });
  documents.close();
  expect(isClosed()).toBe(true);
  await expect(read('x')).rejects.toMatchObject({ code: 'ABORTED' });
  expect(requests).toEqual([]);
});
