import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { traceOf } from './failure.ts';

test('a source map that a message names is not read', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-failure-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const map = { version: 3, file: 'a.js', sources: ['read.ts'], names: [], mappings: 'AAAA' };
  writeFileSync(join(dir, 'a.js.map'), JSON.stringify(map));
  const error = new Error(`no ${pathToFileURL(join(dir, 'a.js')).href}:1:1`);
  expect(traceOf(error)).toBe(error.stack);
});
