/** From pages that are pictures to their text, with a stand-in for the process that recognises. */
import { expect, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import { pdfFile } from '../testing/pdf-file.ts';
import { ServiceFixture } from '../testing/library.ts';
import type { Parser } from './parser/parser-process.ts';

const PICTURE = { content: 'q 500 0 0 700 40 40 cm /Scan Do Q', resources: '/XObject << /Scan 10 0 R >>' };
const DOT = [
  '/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8',
  '0',
] as const;
/** A page of text, and two that are pictures. */
const SCAN = pdfFile(['BT /F 12 Tf 72 700 Td (The lighthouse was built in 1862.) Tj ET', PICTURE, PICTURE], {
  objects: [DOT],
});

type Recognise = Parser['recognise'];

/** A library with a scan and a note; `recognise` is called for each page. */
function scanned(recognise: Recognise) {
  const asked: number[] = [];
  const pictures: Parser = {
    parse: () => Promise.reject(new Error('it reads nothing')),
    recognise: (request, signal) => {
      asked.push(request.page);
      return recognise(request, signal);
    },
    close: () => undefined,
  };
  const fixture = new ServiceFixture({ 'note.txt': 'A note.', 'scan.pdf': SCAN }, { pictures });
  const scan = (id: string) => fixture.documents(id, 'scan')[0]!;
  const text = (id: string) => fixture.service.documents.text({ id: scan(id).id, offset: 0, limit: 1000 });
  return { fixture, asked, scan, text };
}

const found: Recognise = ({ page }) =>
  Promise.resolve({
    page: { text: `The keeper wrote page ${page + 1}.`, confidence: 91, words: [[0, 3, 1, 2, 3, 4]] },
  });

/** Never ends by itself. */
const endless: Recognise = (_, signal) =>
  new Promise((_resolve, reject) =>
    signal?.addEventListener('abort', () => reject(new KvasirError('ABORTED', 'stopped'))),
  );

test('a document is found by its own text, then by that of its pictures, which is marked', async () => {
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const { fixture, asked, scan, text } = scanned(async (request) => held.then(() => found(request)));
  const { id } = fixture.service.create('Docs');
  await fixture.service.addPaths({ id, paths: [fixture.root], watch: false });
  fixture.service.start();
  await fixture.service.rescan(id);
  await fixture.until(
    () =>
      fixture.documents(id, 'scan')[0]?.phase === 'recognising' &&
      fixture.documents(id, 'note')[0]?.phase === 'ready',
  );
  expect(scan(id)).toMatchObject({ chunks: 1, warnings: [expect.stringContaining('not recognised: 2, 3.')] });
  expect(fixture.service.queue.status()).toMatchObject({
    current: { phase: 'recognising', done: 0, total: 2 },
  });
  release?.();
  await fixture.idle();
  expect(asked).toEqual([1, 2]);
  expect(scan(id)).toMatchObject({ phase: 'ready', warnings: [] });
  const { text: whole, pages } = text(id);
  expect(whole).toBe(
    'The lighthouse was built in 1862.\n\nThe keeper wrote page 2.\n\nThe keeper wrote page 3.',
  );
  expect(pages.map(({ label }) => label)).toEqual(['1', '2 (OCR)', '3 (OCR)']);
});

test('killed, it goes on at the next page', async () => {
  const { fixture, asked, scan, text } = scanned((request, signal) =>
    request.page === 2 && asked.length === 2 ? endless(request, signal) : found(request, signal),
  );
  const { id } = fixture.service.create('Docs');
  await fixture.service.addPaths({ id, paths: [fixture.root], watch: false });
  fixture.service.start();
  await fixture.service.rescan(id);
  await fixture.until(() => asked.length === 2);
  await fixture.restart();
  await fixture.until(() => scan(id).phase === 'ready');
  expect(asked).toEqual([1, 2, 2]);
  expect(text(id).text).toContain('page 2.\n\nThe keeper wrote page 3.');
});

test('switched off, pages stay as they are, and say so, until it is switched on', async () => {
  const { fixture, asked, scan } = scanned(found);
  fixture.settings.update({ recognise: false });
  const { id } = await fixture.library();
  expect(scan(id)).toMatchObject({
    phase: 'ready',
    warnings: [expect.stringContaining('not recognised: 2, 3.')],
  });
  expect(asked).toEqual([]);
  fixture.settings.update({ recognise: true });
  await fixture.until(() => scan(id).phase === 'ready' && asked.length === 2);
  await fixture.idle();
  expect(scan(id).warnings).toEqual([]);
});

test('a page that cannot be recognised costs that page', async () => {
  const { fixture, scan, text } = scanned((request) =>
    request.page === 1
      ? Promise.reject(new KvasirError('DOCUMENT_TIMEOUT', 'It could not be read within 60 seconds.'))
      : found(request),
  );
  const { id } = await fixture.library();
  expect(scan(id)).toMatchObject({
    phase: 'ready',
    warnings: ['Text recognition found no text on these pages: 2.'],
  });
  expect(text(id).text).toMatch(/1862\.\n\nThe keeper wrote page 3\.$/);
});

test('a file that has changed meanwhile is read again', async () => {
  const { fixture, asked, scan, text } = scanned((request) => {
    if (asked.length > 1) return found(request);
    fixture.write('scan.pdf', pdfFile([PICTURE], { objects: [DOT] }));
    return Promise.resolve({});
  });
  const { id } = await fixture.library();
  expect(asked).toEqual([1, 0]);
  expect(scan(id)).toMatchObject({ phase: 'ready', pages: 1 });
  expect(text(id).text).toBe('The keeper wrote page 1.');
});
