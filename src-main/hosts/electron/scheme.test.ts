import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DocumentViews } from '../../library/document-views.ts';
import { TestDesktop } from './desktop.test-support.ts';

describe('the scheme', () => {
  async function answering(): Promise<{
    desktop: TestDesktop;
    get: (path: string, method?: string) => Promise<Response>;
  }> {
    const desktop = new TestDesktop();
    const renderer = join(desktop.dir, 'renderer');
    mkdirSync(join(renderer, 'assets'), { recursive: true });
    writeFileSync(join(renderer, 'index.html'), '<meta name="csp-nonce" content="%KVASIR_NONCE%">');
    writeFileSync(join(renderer, 'assets', 'a-1.js'), 'script');
    writeFileSync(join(desktop.dir, 'secret.txt'), 'treasure');
    const { registerScheme, serveWindow } = await import('./scheme.ts');
    const views: Pick<DocumentViews, 'page'> = {
      page: async () => ({ html: '<p>A page</p>', isMarked: false, isCut: false, parts: [], part: 0 }),
    };
    registerScheme();
    serveWindow(renderer, views as DocumentViews);
    const answer = desktop.standIn.protocols.get('app')!;
    const get = (path: string, method = 'GET') =>
      answer(new Request(path.startsWith('/') ? `app://kvasir${path}` : path, { method }));
    return { desktop, get };
  }

  test('is like the web: standard and secure, and does not get around the policy', async () => {
    const { desktop } = await answering();
    expect(desktop.standIn.schemes).toEqual([
      { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
    ]);
  });

  test('gives the page with the policy and a nonce of its own', async () => {
    const { get } = await answering();
    const [first, second] = [await get('/'), await get('/index.html')];
    const policy = first.headers.get('content-security-policy') ?? '';
    const nonce = /'nonce-([\w-]+)'/.exec(policy)?.[1] ?? 'none';
    expect(await first.text()).toContain(`content="${nonce}"`);
    expect(await second.text()).not.toContain(nonce);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(policy).toContain("connect-src 'self'; ");
    expect(first.headers.get('cache-control')).toBe('no-store');
    expect(first.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('gives files of the window', async () => {
    const { get } = await answering();
    const file = await get('/assets/a-1.js');
    expect(await file.text()).toBe('script');
    expect(file.headers.get('cache-control')).toContain('immutable');
    expect(file.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('gives documents by id, for a frame', async () => {
    const { get } = await answering();
    const page = await get('/document/1/page');
    expect(await page.text()).toContain('<p>A page</p>');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'self'; sandbox");
  });

  test.each([
    '/document/secret.txt',
    '/document/1/..%2f..%2fsecret.txt',
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/%2e%2e%2fsecret.txt',
    '/..%5csecret.txt',
    '/assets/a-1.js%00',
    '/%',
    '/assets',
    '/nothing.js',
    'app://other/index.html',
    'app://kvasir.evil/',
  ])('%s is not found', async (path) => {
    const { get } = await answering();
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('');
  });

  test('takes nothing', async () => {
    const { get } = await answering();
    expect((await get('/', 'POST')).status).toBe(404);
  });
});
