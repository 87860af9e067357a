import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { DocumentViews } from '../../library/document-views.ts';
import { serveDocument } from './document-files.ts';

const BYTES = '%PDF-1.7 0123456789';

/** Document 1 is a file, document 2 a page. */
function someViews(): DocumentViews {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-files-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'a.pdf');
  writeFileSync(path, BYTES);
  const missing = (): never => {
    throw new KvasirError('NOT_FOUND', 'This document does not exist.');
  };
  const views: Pick<DocumentViews, 'file' | 'page'> = {
    file: async (id) => (id === '1' ? { path, format: 'pdf', bytes: BYTES.length } : missing()),
    page: async ({ id, part = 0 }) =>
      id === '2'
        ? { html: `<p>part ${part}</p>`, isMarked: false, isCut: false, parts: [], part }
        : missing(),
  };
  return views as DocumentViews;
}

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const request = new Request(`app://kvasir${path}`, { headers });
  return serveDocument(someViews(), new URL(request.url).pathname, request);
}

test('a file is given whole and in ranges, and may do nothing', async () => {
  const whole = await get('/document/1/file');
  expect([whole.status, await whole.text()]).toEqual([200, BYTES]);
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'content-type': 'application/pdf',
    'content-length': String(BYTES.length),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
  });
});

test.each([
  ['bytes=0-3', 206, '%PDF', 'bytes 0-3/19'],
  ['bytes=9-', 206, '0123456789', 'bytes 9-18/19'],
  ['bytes=-2', 206, '89', 'bytes 17-18/19'],
  ['bytes=9-1000', 206, '0123456789', 'bytes 9-18/19'],
  ['bytes=19-', 416, '', 'bytes */19'],
  ['bytes=5-2', 416, '', 'bytes */19'],
  ['bytes=0-1,4-5', 200, BYTES, null],
  ['lines=1-2', 200, BYTES, null],
])('the range %s gives %i', async (range, status, text, place) => {
  const response = await get('/document/1/file', { Range: range });
  expect([response.status, await response.text(), response.headers.get('content-range')]).toEqual([
    status,
    text,
    place,
  ]);
});

test('a page is for a frame of the window, with neither scripts nor network', async () => {
  const page = await get('/document/2/page?part=3');
  const policy = page.headers.get('content-security-policy') ?? '';
  const nonce = /'nonce-([\w-]+)'/.exec(policy)?.[1] ?? 'none';
  expect(policy.replace(nonce, 'N')).toBe(
    "default-src 'none'; img-src data:; style-src 'nonce-N'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox",
  );
  expect(page.headers.get('x-frame-options')).toBe('SAMEORIGIN');
  const html = await page.text();
  expect(html).toContain(`<style nonce="${nonce}">`);
  expect(html).toContain('<p>part 3</p>');
  expect(await (await get('/document/2/page?dark')).text()).toContain('<html class="dark">');
});

test.each([
  ['/document/9/file', 404],
  ['/document/9/page', 404],
  ['/document/2/file', 404],
  ['/document/1/../../etc/passwd', 404],
  ['/document/..%2f1/file', 404],
  ['/document/1/file/x', 404],
  ['/document/1', 404],
  ['/document/2/page?part=-1', 400],
  ['/document/2/page?start=x', 400],
])('%s gives %i and nothing else', async (path, status) => {
  const response = await get(path);
  expect([response.status, await response.text()]).toEqual([status, '']);
});
