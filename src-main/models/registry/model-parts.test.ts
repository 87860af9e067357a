import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { filesOf, partOf, partPath, stemOf } from './model-parts.ts';

function folderWith(...names: string[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-parts-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const name of names) writeFileSync(join(dir, name), 'x');
  return dir;
}

test('a part is known by its name, whatever its case', () => {
  expect(partOf('/m/qwen-00002-of-00011.gguf')).toEqual({ stem: '/m/qwen', part: 2, parts: 11 });
  expect(partOf('C:\\m\\Qwen-00001-OF-00002.GGUF')).toEqual({ stem: 'C:\\m\\Qwen', part: 1, parts: 2 });
  expect(partOf('qwen-2-of-3.gguf')).toBeUndefined();
  expect(partPath({ stem: '/m/qwen', parts: 11 }, 3)).toBe('/m/qwen-00003-of-00011.gguf');
  expect(stemOf('qwen-00001-of-00002.gguf')).toBe('qwen');
  expect(stemOf('qwen.gguf')).toBe('qwen');
});

test('the files of a model are those that are there', () => {
  const dir = folderWith('a-00001-of-00003.gguf', 'a-00003-of-00003.gguf', 'b.gguf');
  const files = (name: string) => filesOf(join(dir, name)).map((path) => path.slice(dir.length + 1));
  expect(files('a-00001-of-00003.gguf')).toEqual(['a-00001-of-00003.gguf', 'a-00003-of-00003.gguf']);
  expect(files('b.gguf')).toEqual(['b.gguf']);
  // A later part is not a model: it does not represent the others.
  expect(files('a-00003-of-00003.gguf')).toEqual(['a-00003-of-00003.gguf']);
});
