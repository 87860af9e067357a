import { execFileSync, fork } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Method } from './ours.ts';

/** A second witness of llama.cpp's speed: the package node-llama-cpp, as people install it from npm. */
const VERSION = '3.21.1';
const FOLDER = join(import.meta.dirname, '..', '..', 'build', 'witness');

export interface WitnessSettings {
  path: string;
  contextTokens: number;
  threads: number;
}

/** Installs the package into build/witness when it is not there, and runs it in a process of its own. */
export async function witness(settings: WitnessSettings): Promise<Method> {
  install();
  const child = fork(join(import.meta.dirname, 'witness-process.ts'), [FOLDER, JSON.stringify(settings)], {
    serialization: 'advanced',
  });
  const reply = () =>
    new Promise<number>((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`node-llama-cpp's process ended (${code}).`));
      child.once('exit', onExit);
      child.once('message', (ms: number) => {
        child.off('exit', onExit);
        resolve(ms);
      });
    });
  await reply();
  child.unref();
  child.channel?.unref();
  return {
    name: 'node-llama-cpp full prefill',
    run: async ({ ids }) => {
      child.channel?.ref();
      child.send(ids);
      const ms = await reply();
      child.channel?.unref();
      return { ms };
    },
  };
}

function install(): void {
  if (existsSync(join(FOLDER, 'node_modules', 'node-llama-cpp', 'package.json'))) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), JSON.stringify({ name: 'witness', private: true }));
  const binaries = `@node-llama-cpp/${process.platform}-${process.arch}@${VERSION}`;
  const flags = ['--prefix', FOLDER, '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...flags, `node-llama-cpp@${VERSION}`, binaries], { stdio: 'inherit' });
}
