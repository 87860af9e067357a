import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { nativeRoot } from '../platform/root.ts';
import { Engine } from './engine.ts';

/** ggml's GPU backends that setup has installed, separate from the libraries that every start loads. */
export function packFiles(root = nativeRoot()): string[] {
  const folder = join(root, 'build', 'ggml', 'packs');
  try {
    const names = readdirSync(folder).filter((name) => /^(lib)?ggml-.*\.(so|dll|dylib)$/.test(name));
    return names.sort().map((name) => join(folder, name));
  } catch {
    return []; // none installed
  }
}

/**
 * Opens the engine with every installed pack, tested or not: for tools that take a device name. ENGINE_FAILED,
 * DEVICE_FAILED.
 */
export function openWithPacks(): Engine {
  const engine = Engine.open();
  for (const pack of packFiles()) engine.loadPack(pack);
  return engine;
}
