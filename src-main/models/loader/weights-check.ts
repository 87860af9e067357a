import { createHash, type Hash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { isAborted, throwIfAborted } from '../../platform/abort.ts';
import type { Gate } from '../../platform/gate.ts';
import type { Logger } from '../../platform/logger.ts';
import { filesOf } from '../registry/model-parts.ts';
import type { WeightsTable } from './weights-table.ts';

/** Bytes read and hashed before yielding to other work: about a millisecond. */
const SLICE = 1 << 20;

/** Placeholder hash of a missing file: it equals no real hash. */
const UNKNOWN = '';

/** The fields of a loaded model that are checked. */
interface Weights {
  path: string;
  model: { info: { fingerprint: string } };
}

interface WeightsCheckOptions<M extends Weights> {
  table: WeightsTable;
  gate: Gate;
  log: Logger;
  /** Deletes all KV computed with a model's weights; false if some of it could not be deleted. */
  forgetKv: (active: M) => Promise<boolean>;
}

/**
 * KV belongs to weights. Their fingerprint covers the file's header and the ends of each tensor, which is quick; but a
 * file damaged in the middle has the same fingerprint as the sound one that later replaces it. So all bytes of a
 * model's file are hashed once, in the background, and KV computed under this fingerprint with other bytes is deleted.
 */
export class WeightsCheck<M extends Weights> {
  readonly #options: WeightsCheckOptions<M>;
  readonly #closing = new AbortController();
  #tail: Promise<void> = Promise.resolve();

  constructor(options: WeightsCheckOptions<M>) {
    this.#options = options;
  }

  /** A model has come into use. Resolves once its file is hashed; never rejects. */
  check(active: M): Promise<void> {
    const loaded = identityOf(active.path); // attach now: earlier checks may take minutes
    loaded.catch(() => undefined);
    this.#tail = this.#tail
      .then(async () => this.#check(active, await loaded))
      .catch((error: unknown) => {
        if (!isAborted(error)) this.#options.log.warn('weights-not-checked', { error: String(error) });
      });
    return this.#tail;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#tail;
  }

  async #check(active: M, loaded: string): Promise<void> {
    const { table, gate, log, forgetKv } = this.#options;
    throwIfAborted(this.#closing.signal);
    const { fingerprint } = active.model.info;
    const same = (await identityOf(active.path)) === loaded;
    const sha256 = same ? await this.#sha256Of(active.path) : UNKNOWN;
    const known = table.sha256(fingerprint);
    if (known !== undefined && known !== sha256) {
      log.warn('weights-changed', { path: active.path, fingerprint });
      if (!(await gate.foreground(() => forgetKv(active)))) return; // retried the next time
    }
    table.put(fingerprint, sha256);
  }

  /** Hash of all files of a model; files unchanged since they were last hashed are not read again. */
  async #sha256Of(path: string): Promise<string> {
    const { table } = this.#options;
    const identity = await identityOf(path);
    const known = table.fileSha256(path, identity);
    if (known !== undefined) return known;
    const hash = createHash('sha256');
    for (const file of filesOf(path)) await this.#hashFile(file, hash);
    const sha256 = hash.digest('hex');
    // Written to meanwhile: the hash matches neither the old file nor the new one.
    if ((await identityOf(path)) === identity) table.putFile(path, identity, sha256);
    return sha256;
  }

  async #hashFile(path: string, hash: Hash): Promise<void> {
    const file = await open(path);
    try {
      const buffer = Buffer.allocUnsafe(SLICE);
      let at = 0;
      // A question interrupts hashing, which then resumes.
      await this.#options.gate.background(async (signal) => {
        for (let read = -1; read !== 0; at += read) {
          throwIfAborted(signal);
          read = (await file.read(buffer, 0, SLICE, at)).bytesRead;
          hash.update(buffer.subarray(0, read));
        }
      }, this.#closing.signal);
    } finally {
      await file.close();
    }
  }
}

/** Changes whenever the bytes of a model's files may have changed. */
export async function identityOf(path: string): Promise<string> {
  const files = await Promise.all(filesOf(path).map((file) => stat(file, { bigint: true })));
  return files
    .map(({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(' '))
    .join(' ');
}
