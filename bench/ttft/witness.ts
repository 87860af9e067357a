import { execFileSync, fork } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LlamaReply } from './llama-process.ts';
import type { Method, Run } from './ours.ts';
import type { Case } from './prompt.ts';

/** A second measurement of llama.cpp's speed: the package node-llama-cpp, as installed from npm. */
const VERSION = '3.21.1';
const FOLDER = join(import.meta.dirname, '..', '..', 'build', 'witness');

export interface WitnessSettings {
  path: string;
  contextTokens: number;
  threads: number;
}

interface Witness {
  method: Method;
  /** Peak of its process so far. */
  peakRssMiB: () => number;
}

/** Installs the package into build/witness if it is missing, and runs it in a separate process. */
export async function openWitness(settings: WitnessSettings): Promise<Witness> {
  install();
  const child = fork(join(import.meta.dirname, 'witness-process.ts'), [FOLDER, JSON.stringify(settings)], {
    serialization: 'advanced',
  });
  let peak = 0;
  const reply = () =>
    new Promise<LlamaReply>((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`node-llama-cpp's process ended (${code}).`));
      child.once('exit', onExit);
      child.once('message', (message: LlamaReply) => {
        child.off('exit', onExit);
        peak = Math.max(peak, message.peakRssMiB);
        if (message.error !== undefined) reject(new Error(message.error));
        else resolve(message);
      });
    });
  await reply();
  child.unref();
  child.channel?.unref();
  const run = async ({ ids }: Case): Promise<Run> => {
    child.channel?.ref();
    child.send(ids);
    const answer = await reply();
    child.channel?.unref();
    return answer;
  };
  return { method: { name: 'node-llama-cpp full prefill', run }, peakRssMiB: () => peak };
}

function install(): void {
  if (existsSync(join(FOLDER, 'node_modules', 'node-llama-cpp', 'package.json'))) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), JSON.stringify({ name: 'witness', private: true }));
  const binaries = `@node-llama-cpp/${process.platform}-${process.arch}@${VERSION}`;
  const flags = ['--prefix', FOLDER, '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', '--loglevel=error', ...flags, `node-llama-cpp@${VERSION}`, binaries], {
    stdio: 'inherit',
  });
}
