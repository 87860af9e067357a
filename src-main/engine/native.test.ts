/** Loads the addon and holds it against native.ts, with the demo model. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NativeAddon } from './native.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DEMO = join(ROOT, 'resources', 'models', 'kvasir-demo.gguf');
const FULL = { kind: 'full' } as const;
const ids = (n: number): Int32Array => Int32Array.from({ length: n }, (_, i) => 10 + i);

describe('the addon is what native.ts says', () => {
  const addon = createRequire(import.meta.url)(join(ROOT, 'build', 'native', 'kvasir.node')) as NativeAddon;
  addon.init(join(ROOT, 'build', 'ggml'));
  const methods = (object: object): string[] =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(object)).sort();

  test('functions', () => {
    const expected: Record<keyof NativeAddon, true> = {
      init: true,
      version: true,
      listDevices: true,
      readGguf: true,
      loadModel: true,
      readChunkHeader: true,
      verifyChunk: true,
      createAbort: true,
      loadReference: true,
      loadEmbedder: true,
    };
    expect(Object.keys(addon).sort()).toEqual(Object.keys(expected).sort());
  });

  test('classes', async () => {
    const native = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    const session = native.createSession(16);
    const chunk = await native.encodeChunk(ids(4), new Int32Array(0), 'f16', addon.createAbort());
    expect(methods(native)).toEqual(
      [
        'constructor',
        'createSession',
        'detokenize',
        'dispose',
        'encodeChunk',
        'info',
        'openChunk',
        'tokenize',
      ].sort(),
    );
    expect(methods(session)).toEqual(
      ['append', 'capacity', 'constructor', 'dispose', 'generate', 'length', 'logits', 'truncate'].sort(),
    );
    expect(methods(chunk)).toEqual(
      ['bytes', 'constructor', 'dispose', 'dtype', 'inMemory', 'pullIn', 'save', 'tokens'].sort(),
    );
    native.dispose();
  });

  test('misuse names the argument', async () => {
    const native = await addon.loadModel(DEMO, { threads: 1, device: 'cpu' });
    const session = native.createSession(16);
    const abort = addon.createAbort();
    expect(() => native.tokenize(5 as unknown as string, false, false)).toThrow(/text must be a string/);
    expect(() => native.createSession(0)).toThrow(/capacity/);
    expect(() => session.append([], { kind: 'blend' } as never, abort)).toThrow(/strategy\.kind/);
    expect(() => session.append([{ kind: 'compute', tokens: [1] as never }], FULL, abort)).toThrow(
      /segment\.tokens/,
    );
    expect(() => session.append([{ kind: 'chunk', chunk: {} as never }], FULL, abort)).toThrow(
      /chunk must come from/,
    );
    expect(() => session.append([], FULL, {} as never)).toThrow(/abort must come from/);
    native.dispose();
  });
});
