import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Engine } from '../engine/engine.ts';
import { isGpu } from './gpu.ts';

/** A source of GPUs: a pack, or the engine's built-in backend (Metal). */
export interface Source {
  /** The pack's file name, or BUILT_IN. */
  name: string;
  /** The pack's file; null if there is none to load. */
  pack: string | null;
  /** Changes whenever the source has to be tested again. */
  key: string;
}

export const BUILT_IN = 'built-in';

/** REQUIRES: no pack has been loaded yet. `version`: the program's, because it is part of what computes. */
export function sourcesOf(
  engine: Pick<Engine, 'devices'>,
  packs: readonly string[],
  version: string,
): Source[] {
  const built = engine.devices().filter(isGpu);
  const names = built.map(({ name, description }) => `${name} ${description}`);
  return [
    ...(built.length > 0 ? [{ name: BUILT_IN, pack: null, key: [version, ...names].join('; ') }] : []),
    ...packs.map((pack) => packSource(pack, version)),
  ];
}

export function packSource(pack: string, version: string): Source {
  return { name: basename(pack), pack, key: `${version}; ${identityOf(pack)}` };
}

function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.size} bytes of ${Math.trunc(stat.mtimeMs)}` : 'none';
}
