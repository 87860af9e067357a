/**
 * Reference results from llama.cpp's own llama_decode. Run as a program, it is the process for one prefill on a device: llama.cpp may crash
 * there because of the driver (Mesa's lavapipe, docs/decisions/0230). Reads {path, ids, options} as JSON from stdin and writes the logits.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Engine } from '../../src-main/engine/engine.ts';
import { openWithPacks } from '../../src-main/engine/packs.ts';

interface Options {
  threads: number;
  flashAttention: boolean;
  device: string;
  adapter?: string | undefined;
}

/** Logits after the last of `ids`, and the greedy tokens that follow. */
export async function reference(
  engine: Engine,
  path: string,
  ids: Int32Array,
  { wanted = 0, ...options }: Options & { wanted?: number },
): Promise<{ logits: Float32Array; tokens: Int32Array }> {
  const contextTokens = ids.length + wanted + 64;
  const llama = await engine.loadReference(path, { ...options, contextTokens, ubatch: 512 });
  try {
    const { logits } = await llama.prefill(ids);
    const { tokens } = wanted > 0 ? await llama.decode(wanted) : { tokens: new Int32Array(0) };
    return { logits, tokens };
  } finally {
    llama.dispose();
  }
}

const TRIES = 10;

/** Computes the logits in a separate process; undefined if every attempt crashed. */
export function logitsElsewhere(path: string, ids: Int32Array, options: Options): Float32Array | undefined {
  const input = JSON.stringify({ path, ids: [...ids], options });
  for (let i = 0; i < TRIES; i++) {
    const { status, stdout } = spawnSync(process.execPath, [import.meta.filename], { input, maxBuffer: 1e9 });
    if (status === 0 && stdout.length > 0) return new Float32Array(new Uint8Array(stdout).buffer);
  }
  return undefined;
}

if (import.meta.main) {
  const { path, ids, options } = JSON.parse(readFileSync(0, 'utf8')) as {
    path: string;
    ids: number[];
    options: Options;
  };
  const { logits } = await reference(openWithPacks(), path, Int32Array.from(ids), options);
  process.stdout.write(new Uint8Array(logits.buffer, logits.byteOffset, logits.byteLength));
}
