import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Failure } from '../../src-shared/contract/common.ts';
import type { SharingInfo, SharingSecret, SharingStatus } from '../../src-shared/contract/sharing.ts';
import type { Sharing } from '../../src-shared/sharing.ts';
import type { SharedTier, SharedValue } from '../kvstore/shared-tier.ts';
import type { ChunkStore } from '../kvstore/store.ts';
import { throttled } from '../platform/event-bus.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Logger } from '../platform/logger.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import type { SettingsService } from '../platform/settings-service.ts';
import { offerStored } from './backlog.ts';
import { failureOfSharing } from './failures.ts';
import { openDriver, whereOf } from './open-driver.ts';
import { SharingSecrets } from './secrets.ts';
import { SharedCache } from './shared-cache.ts';
import { tryDriver } from './try-driver.ts';

interface SharingServiceOptions {
  settings: SettingsService;
  secrets: string;
  keyring?: Keyring | undefined;
  log: Logger;
  /** For tests. */
  probeMs?: number | undefined;
}

const CHANGED_MS = 1000;
/** Time in milliseconds that a command waits at its end for pending writes to the shared cache. */
const DRAIN_MS = 60_000;

/**
 * The configured shared cache: the store always has this one tier. A change of the settings or of a secret opens
 * another cache.
 */
export class SharingService implements SharedTier {
  readonly #options: SharingServiceOptions;
  readonly #secrets: SharingSecrets;
  readonly #listeners = new Set<() => void>();
  readonly #changed = throttled(CHANGED_MS, () => this.#tell());
  readonly #opening = new SerialQueue();
  readonly #unsubscribe: () => void;
  #opened: Promise<void> = Promise.resolve();
  #cache: SharedCache | undefined;
  /** Why the configuration cannot be used. */
  #wrong: Failure | undefined;
  #isOpening = false;
  /** The store whose chunks are offered, and the end of that. */
  #source: ChunkStore | undefined;
  #backlog = new AbortController();

  constructor(options: SharingServiceOptions) {
    this.#options = options;
    this.#secrets = new SharingSecrets(options.secrets, options.keyring);
    this.#unsubscribe = options.settings.onChange((now, before) => {
      if (!isDeepStrictEqual(placeOf(now.sharing), placeOf(before.sharing))) this.#reopen();
    });
    if (this.#sharing.kind !== 'off') this.#reopen();
  }

  get available(): boolean {
    return this.#cache?.available ?? this.#isOpening;
  }

  get writable(): boolean {
    return this.#cache?.writable ?? (this.#isOpening && !this.#sharing.readOnly);
  }

  async has(keys: readonly string[]): Promise<Set<string>> {
    await this.#opened;
    return this.#cache?.has(keys) ?? new Set();
  }

  async open(key: string, signal?: AbortSignal): Promise<SharedValue | undefined> {
    await this.#opened;
    return this.#cache?.open(key, signal);
  }

  offer(key: string, path: string): void {
    void this.#opened.then(() => this.#cache?.offer(key, path));
  }

  reportCorrupt(key: string): void {
    this.#cache?.reportCorrupt(key);
  }

  /** From now on, and after every change of the settings, offers the store's chunks in the background. */
  shareStored(store: ChunkStore): void {
    this.#source = store;
    this.#startBacklog();
  }

  status(): SharingStatus {
    const cache = this.#cache;
    const { written, bytesWritten, read, bytesRead, corrupt, latencyMs, bytesPerSecond } =
      cache?.figures ?? NONE;
    return {
      state: this.#state(),
      where: whereOf(this.#sharing),
      writable: this.writable,
      encrypted: cache?.encrypted ?? false,
      retryMs: cache?.outUntilMs ?? null,
      waiting: cache?.waiting ?? 0,
      ...{ written, bytesWritten, read, bytesRead, corrupt },
      latencyMs: latencyMs ?? null,
      bytesPerSecond: bytesPerSecond ?? null,
      failure: this.#wrong ?? cache?.failure ?? null,
    };
  }

  async info(): Promise<SharingInfo> {
    return {
      status: this.status(),
      secrets: this.#secrets.state(),
      keeps: await this.#secrets.keeps(),
      secretsFile: this.#secrets.path,
    };
  }

  /** BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async setSecret(name: SharingSecret, secret: string): Promise<SharingInfo> {
    await this.#secrets.set(name, secret);
    if (name === 'encryptionKey') this.#noteEncrypted(secret !== '');
    this.#reopen();
    await this.#opened;
    return this.info();
  }

  /** Tests the configuration: writes, reads and deletes a small value. Never rejects. */
  async test(): Promise<{ sharing: Sharing; failure: Failure | null; where: string; ms: number }> {
    const sharing = this.#sharing;
    const where = whereOf(sharing);
    const started = performance.now();
    try {
      await this.#secrets.ofTeam(sharing);
      await tryDriver(sharing, (name) => this.#secrets.get(name));
      return { sharing, failure: null, where, ms: performance.now() - started };
    } catch (error) {
      return { sharing, failure: failureOfSharing(error, where), where, ms: performance.now() - started };
    }
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves when pending writes have arrived if no later start would send them; at the latest after a minute, or on
   * abort.
   */
  async sent(signal: AbortSignal): Promise<void> {
    await this.#opened;
    if (this.#source || !this.#cache || signal.aborted) return;
    const patience = wait(DRAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    await Promise.race([this.#cache.settled(), patience]);
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#backlog.abort();
    await this.#opened;
    this.#changed.cancel();
    this.#listeners.clear();
    this.#cache?.close();
  }

  get #sharing(): Sharing {
    return this.#options.settings.current.sharing;
  }

  #state(): SharingStatus['state'] {
    if (this.#sharing.kind === 'off') return 'off';
    if (this.#isOpening) return 'opening';
    if (this.#wrong) return 'wrong';
    return this.#cache?.available ? 'ready' : 'out';
  }

  #reopen(): void {
    this.#isOpening = this.#sharing.kind !== 'off';
    this.#opened = this.#opening.run(() => this.#open());
  }

  async #open(): Promise<void> {
    const { log, probeMs } = this.#options;
    const sharing = this.#sharing;
    const where = whereOf(sharing);
    this.#cache?.close();
    this.#cache = undefined;
    this.#wrong = undefined;
    try {
      if (sharing.kind !== 'off') {
        const driver = await openDriver(sharing, (name) => this.#secrets.get(name));
        const { salt, key } = await this.#secrets.ofTeam(sharing);
        if (key) this.#noteEncrypted(true);
        const onChange = this.#changed;
        this.#cache = new SharedCache({
          driver,
          where,
          writable: !sharing.readOnly,
          salt,
          key,
          log,
          onChange,
          probeMs,
        });
      }
    } catch (error) {
      this.#wrong = failureOfSharing(error, where);
      log.warn('shared-cache-not-opened', { ...this.#wrong.values, message: this.#wrong.message });
    }
    this.#isOpening = false;
    this.#changed();
    this.#startBacklog();
  }

  /**
   * Called after the key was stored or removed: if setting and key differ, values are encrypted or nothing is shared.
   */
  #noteEncrypted(encrypted: boolean): void {
    const sharing = this.#sharing;
    if (sharing.encrypted !== encrypted)
      this.#options.settings.update({ sharing: { ...sharing, encrypted } });
  }

  #startBacklog(): void {
    const [source, cache, { log }] = [this.#source, this.#cache, this.#options];
    this.#backlog.abort();
    this.#backlog = new AbortController();
    if (!source || !cache?.writable) return;
    offerStored(source, cache, this.#backlog.signal).catch((error: unknown) =>
      log.warn('stored-chunks-not-offered', { error: String(error) }),
    );
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

const NONE = {
  written: 0,
  bytesWritten: 0,
  read: 0,
  bytesRead: 0,
  corrupt: 0,
  latencyMs: undefined,
  bytesPerSecond: undefined,
};

/** The settings whose change opens another cache; a change of the key does so separately. */
function placeOf(sharing: Sharing): Sharing {
  return { ...sharing, encrypted: false };
}
