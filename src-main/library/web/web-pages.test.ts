import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { KvasirError } from '../../../src-shared/errors.ts';
import { ServiceFixture } from '../../testing/library.ts';
import { addressOf, pagePath } from './page-path.ts';
import type { FetchedPage } from './fetch-page.ts';

const ADDRESS = 'https://mill.example/news/rebuilt';
const STORY = 'The sluice of the mill was rebuilt after the flood, and it has held ever since. '.repeat(5);
const MENU = `<ul>${'<li><a href="/x">Another story</a></li>'.repeat(20)}</ul>`;

function pageWith(story: string): FetchedPage {
  const text = `<title>Mill rebuilt</title><div class="menu">${MENU}</div><div class="story"><p>${story}</p><p>${STORY}</p></div>`;
  return { bytes: Buffer.from(text), format: 'html' };
}

/** A service with a library, and a web whose pages the test sets; `asked` counts requests. */
function fixture() {
  const web = new Map<string, FetchedPage>([[ADDRESS, pageWith('It has four wheels.')]]);
  const asked: string[] = [];
  const service = new ServiceFixture(
    {},
    {
      fetchPage: async (address) => {
        asked.push(address);
        const page = web.get(address);
        if (!page) throw new KvasirError('PAGE_UNREACHABLE', 'It is gone.');
        return page;
      },
    },
  );
  const { id } = service.service.create('Docs');
  service.service.start();
  const textOf = (documentId: string): string =>
    service.service.documents.text({ id: documentId, offset: 0, limit: 10_000 }).text;
  return { web, asked, service, id, textOf };
}

test('a page becomes a document with its article, address and time', async () => {
  const { service, id, textOf, asked } = fixture();
  const before = Date.now();
  const { id: documentId } = await service.service.addAddress(id, `${ADDRESS}#wheels`);
  await service.idle();
  const document = service.service.documents.get(documentId);
  expect(document).toMatchObject({
    path: 'mill.example/rebuilt.html',
    title: 'Mill rebuilt',
    format: 'html',
    phase: 'ready',
    address: ADDRESS,
    warnings: [],
  });
  expect(document.fetchedMs).toBeGreaterThanOrEqual(before);
  expect(textOf(documentId)).toContain('four wheels');
  expect(textOf(documentId)).not.toContain('Another story');
  expect(asked).toEqual([ADDRESS]);
});

test('a page is fetched again on request only, and the same page is not read again', async () => {
  const { service, id, textOf, asked, web } = fixture();
  const { id: documentId, fetchedMs } = await service.service.addAddress(id, ADDRESS);
  await service.idle();
  web.set(ADDRESS, pageWith('It has five wheels.'));
  await service.service.rescan(id);
  await service.restart();
  await service.service.rescan(id);
  service.service.documents.retry([documentId]);
  await service.idle();
  expect(asked).toHaveLength(1);
  expect(textOf(documentId)).toContain('four wheels');

  const again = await service.service.refetch(documentId);
  await service.idle();
  expect([again.id, asked.length]).toEqual([documentId, 2]);
  expect(again.fetchedMs).toBeGreaterThan(fetchedMs ?? Infinity);
  expect(textOf(documentId)).toContain('five wheels');

  expect((await service.service.addAddress(id, ADDRESS)).id).toBe(documentId);
  expect(service.documents(id)).toHaveLength(1);
});

test('a page that cannot be fetched again stays as it was', async () => {
  const { service, id, textOf, web } = fixture();
  const { id: documentId } = await service.service.addAddress(id, ADDRESS);
  await service.idle();
  web.clear();
  await expect(service.service.refetch(documentId)).rejects.toMatchObject({ code: 'PAGE_UNREACHABLE' });
  expect(service.service.documents.get(documentId).phase).toBe('ready');
  expect(textOf(documentId)).toContain('four wheels');
});

test('a page that is of another kind now keeps its document', async () => {
  const { service, id, textOf, web } = fixture();
  const { id: documentId } = await service.service.addAddress(id, ADDRESS);
  await service.idle();
  web.set(ADDRESS, { bytes: Buffer.from('# Six wheels'), format: 'md' });
  expect(await service.service.refetch(documentId)).toMatchObject({
    id: documentId,
    path: 'mill.example/rebuilt.md',
  });
  await service.idle();
  await service.service.rescan(id);
  await service.idle();
  expect(service.documents(id).map(({ format }) => format)).toEqual(['md']);
  expect(textOf(documentId)).toContain('Six wheels');
});

test('a deleted page loses its file, and can be fetched again', async () => {
  const { service, id } = fixture();
  const { id: documentId, path } = await service.service.addAddress(id, ADDRESS);
  await service.idle();
  const file = join(service.info(id).roots[0]?.path ?? '', path);
  expect(readFileSync(file, 'utf8')).toContain('four wheels');
  await service.service.documents.delete([documentId]);
  expect(existsSync(file)).toBe(false);
  await service.service.addAddress(id, ADDRESS);
  await service.idle();
  expect(service.documents(id)).toMatchObject([{ phase: 'ready', address: ADDRESS }]);
});

test('a file that is uploaded in its place is no page any more, and read whole', async () => {
  const { service, id, textOf } = fixture();
  const { id: documentId, path } = await service.service.addAddress(id, ADDRESS);
  await service.idle();
  await service.service.receiveUpload(id, path, Readable.from([pageWith('It has four wheels.').bytes]));
  await service.idle();
  expect(service.service.documents.get(documentId)).toMatchObject({ address: null, fetchedMs: null });
  expect(textOf(documentId)).toContain('Another story');
  await expect(service.service.refetch(documentId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('an address in a catalogue that is none of the web is neither shown nor fetched', async () => {
  const { service, id, asked } = fixture();
  const { id: documentId } = await service.service.addAddress(id, ADDRESS);
  service.catalogue.documents.setAddress(Number(documentId), 'javascript:alert(1)', 0);
  expect(service.service.documents.get(documentId).address).toBe(null);
  await expect(service.service.refetch(documentId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(asked).toHaveLength(1);
});

test('a library that is deleted meanwhile gets no page', async () => {
  const { service, id } = fixture();
  const added = service.service.addAddress(id, ADDRESS);
  await service.service.delete(id);
  await expect(added).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

describe('the file of a page is named after its address', () => {
  const named = (url: string, taken: string[] = []): string =>
    pagePath(addressOf(url), 'html', (path) => !taken.includes(path));
  test.each([
    ['https://example.com', 'example.com/index.html'],
    ['https://example.com/a/B%20c.htm#part', 'example.com/b-c.html'],
    ['https://example.com/wiki/%E6%B0%B4%E8%BD%A6', 'example.com/水车.html'],
    ['https://xn--mhle-0ra.example/x/', 'mühle.example/x.html'],
    ['https://example.com/..%2f..%2fetc', 'example.com/etc.html'],
    ['https://example.com/%00%3A%3F', 'example.com/index.html'],
    ['https://example.com/~$a', 'example.com/a.html'],
  ])('%s: %s', (url, path) => expect(named(url)).toBe(path));

  test.each([
    'https://example.com/a?id=1',
    'https://con.com/',
    'https://example.com/nul',
    'https://example.com/%ff',
  ])('what would be no name, or another page’s, gets a number: %s', (url) => {
    expect(named(url)).toMatch(/^(?:example\.com\/)?[\w%]+(?:-[\da-f]{8})?\.html$/);
  });

  test('two addresses have two files', () => {
    const [one, two] = ['https://example.com/a?id=1', 'https://example.com/a?id=2'].map((url) => named(url));
    expect(one).not.toBe(two);
    expect(named('https://example.com/x/a', ['example.com/a.html'])).toMatch(
      /^example\.com\/a-[\da-f]{8}\.html$/,
    );
    expect(named(`https://example.com/${'水'.repeat(300)}`).length).toBeLessThan(80);
  });
});
