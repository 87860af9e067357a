import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nativeLineProblems } from './native-lines.ts';

it('reports native source lines that are too long, in characters', () => {
  const root = mkdtempSync(join(tmpdir(), 'kvasir-lines-'));
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('native/engine/model.cc', `// short\n// ${'x'.repeat(118)}\n`);
  write('native/engine/deep/rows.inc', `// ${'·'.repeat(117)}\n`);
  write('native/CMakeLists.txt', `# ${'x'.repeat(119)}\n`);
  write('native/notes.md', 'x'.repeat(500));
  write('src-main/app.ts', 'x'.repeat(500));
  try {
    expect(nativeLineProblems(root).toSorted()).toEqual([
      'native/CMakeLists.txt:1 has 121 characters; a line of native/ has 120 at most.',
      'native/engine/model.cc:2 has 121 characters; a line of native/ has 120 at most.',
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
