/** A shared tier over a plain folder, as slow and as faulty as a test wants it. What it does it counts. */
import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { KvasirError } from '../../src-shared/errors.ts';
import type { SharedTier, SharedValue } from '../kvstore/store.ts';

export class FolderTier implements SharedTier {
  available = true;
  writable = true;
  /** Of the line that all readers share; 0: as fast as it goes. */
  bytesPerSecond = 0;
  /** From asking for a range to its first byte. */
  latencyMs = 0;
  /** Called before a range is read; what it throws the reader gets, and what it gives back is given in place of the range. */
  onRead: ((key: string, from: number, range: Uint8Array) => Uint8Array | Promise<Uint8Array>) | undefined;
  readonly asked: string[][] = [];
  readonly opened: string[] = [];
  readonly offered: string[] = [];
  readonly corrupt: string[] = [];
  readonly #dir: string;
  /** When the line is free again. */
  #freeAt = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  path(key: string): string {
    return join(this.#dir, `${key}.kvc`);
  }

  has(keys: readonly string[]): Promise<Set<string>> {
    this.asked.push([...keys]);
    return Promise.resolve(new Set(keys.filter((key) => this.#isThere(key))));
  }

  open(key: string): Promise<SharedValue | undefined> {
    this.opened.push(key);
    if (!this.#isThere(key)) return Promise.resolve(undefined);
    return Promise.resolve({
      bytes: statSync(this.path(key)).size,
      read: (from: number, bytes: number) => this.#read(key, from, bytes),
      close: () => undefined,
    });
  }

  offer(key: string, path: string): void {
    this.offered.push(key);
    copyFileSync(path, this.path(key));
  }

  reportCorrupt(key: string): void {
    this.corrupt.push(key);
  }

  #isThere(key: string): boolean {
    return !this.corrupt.includes(key) && existsSync(this.path(key));
  }

  async #read(key: string, from: number, bytes: number): Promise<Uint8Array> {
    if (this.bytesPerSecond > 0) {
      const now = performance.now();
      this.#freeAt = Math.max(now, this.#freeAt) + (bytes / this.bytesPerSecond) * 1000;
      await new Promise((resolve) => setTimeout(resolve, this.#freeAt - now));
    }
    if (this.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.latencyMs));
    const range = readFileSync(this.path(key)).subarray(from, from + bytes);
    return this.onRead ? this.onRead(key, from, range) : range;
  }
}

/** What a driver's timeout or a cut connection looks like. */
export function cut(): never {
  throw new KvasirError('SHARED_TIER_FAILED', 'The shared cache was cut off.');
}
