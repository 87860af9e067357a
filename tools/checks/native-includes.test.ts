import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nativeIncludeProblems } from './native-includes.ts';

it('reports N-API includes in the engine only', () => {
  const root = mkdtempSync(join(tmpdir(), 'kvasir-includes-'));
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('native/engine/model.cc', '#include "model.h"\n#include <napi.h>\n');
  write('native/engine/deep/graph.h', '  #  include "addon/handles.h"\n');
  write('native/models/llama.cc', '// no #include <napi.h> here\n#include "ggml.h"\n');
  write('native/addon/addon.cc', '#include <napi.h>\n');
  try {
    expect(nativeIncludeProblems(root).toSorted()).toEqual([
      'native/engine/deep/graph.h:1 includes addon/handles.h; only native/addon may, the engine knows nothing of JavaScript.',
      'native/engine/model.cc:2 includes napi.h; only native/addon may, the engine knows nothing of JavaScript.',
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
