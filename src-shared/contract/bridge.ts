import type { Failure } from './common.ts';
import type { KvasirEvent } from './events.ts';

/** A rejected promise loses its code on the way between processes, so failures travel as values. */
export type CallResult = { ok: true; data: unknown } | { ok: false; error: Failure };

/** expired: the core was started anew and no longer knows this window. */
export type Connection = 'open' | 'lost' | 'expired';

/**
 * What a host gives the window: Electron's preload sets `window.kvasir` to one; in a browser the client makes one from
 * a WebSocket. `F` is the browser's File, which this folder does not know.
 */
export interface Bridge<F = unknown> {
  call(name: string, input: unknown): Promise<CallResult>;
  /** Gives a function that ends the subscription. */
  onEvent(listener: (event: KvasirEvent) => void): () => void;
  /** Told when the connection to the core changes; Electron's never does. */
  onConnection(listener: (connection: Connection) => void): () => void;
  /** The path of a dropped or chosen file on this machine; undefined in a browser, where files are uploaded instead. */
  pathOf(file: F): string | undefined;
  /** Brings a file of the browser to the core; absent where files have paths. */
  upload?(file: F, options: UploadOptions): Promise<CallResult>;
}

export interface UploadOptions {
  /** A document of this library, under this relative path; a model; or a backup. The data of a success is its `path`, and a document's `documentId`. */
  target: { libraryId: string; path: string } | { model: true } | { backup: true };
  onProgress?: (fraction: number) => void;
  signal?: { readonly aborted: boolean; addEventListener(type: 'abort', listener: () => void): void };
}
