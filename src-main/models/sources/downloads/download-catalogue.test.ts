import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readCatalogue } from './download-catalogue.ts';
import { serve } from '../../../testing/download-server.ts';

const ENTRY = {
  ...{ id: 'a', name: 'A', description: '', role: 'chat', parameterCount: 1, quantization: 'q8_0' },
  ...{ bytes: 5, sha256: 'ab', url: 'https://models.example.org/a.gguf', license: 'MIT' },
};

function fileWith(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-list-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'list.json');
  writeFileSync(path, text);
  return path;
}

test('without a list nothing is offered', async () => {
  expect(await readCatalogue(' ')).toEqual([]);
});

test('a list in a file, or on the web behind a redirect', async () => {
  const text = JSON.stringify({ version: 1, models: [{ ...ENTRY, later: 'ignored' }] });
  expect(await readCatalogue(fileWith(text))).toEqual([ENTRY]);
  const server = await serve((request, response, n) =>
    n === 0 ? void response.writeHead(302, { location: '/list' }).end() : void response.end(text),
  );
  expect(await readCatalogue(server.url)).toEqual([ENTRY]);
});

test.each([
  ['{', /not JSON/],
  ['{"version": 2, "models": []}', /version/],
  [JSON.stringify({ version: 1, models: [{ ...ENTRY, url: 'no address' }] }), /models\.0\.url/],
])('%s is refused', async (text, message) => {
  await expect(readCatalogue(fileWith(text))).rejects.toMatchObject({
    code: 'BAD_ARGUMENT',
    message: expect.stringMatching(message) as string,
  });
});

test('a list that is not there, or endless, or not handed out', async () => {
  await expect(readCatalogue('/none/list.json')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const endless = await serve((_, response) => {
    const more = (): void => {
      if (!response.destroyed) response.write(' '.repeat(65_536), more);
    };
    more();
  });
  await expect(readCatalogue(endless.url)).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  const forbidden = await serve((_, response) => void response.writeHead(403).end());
  await expect(readCatalogue(forbidden.url)).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
});
