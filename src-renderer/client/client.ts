import type { Bridge, Connection, UploadOptions } from '../../src-shared/contract/bridge.ts';
import { ContractClient, unwrap } from '../../src-shared/contract/client.ts';

export type FileBridge = Bridge<File>;

/** The window's client, which also passes files. */
export class Client extends ContractClient {
  readonly #bridge: FileBridge;

  constructor(bridge: FileBridge) {
    super(bridge);
    this.#bridge = bridge;
  }

  onConnection(listener: (connection: Connection) => void): () => void {
    return this.#bridge.onConnection(listener);
  }

  pathOf(file: File): string | undefined {
    return this.#bridge.pathOf(file);
  }

  /** Whether files from the browser must be uploaded to reach the core. */
  get uploads(): boolean {
    return this.#bridge.upload !== undefined;
  }

  /** Resolves with the file's path on the core's machine and the document id. */
  async upload(file: File, options: UploadOptions): Promise<{ path: string; documentId?: string }> {
    if (!this.#bridge.upload) throw new TypeError('upload: this host takes paths');
    return unwrap(await this.#bridge.upload(file, options)) as { path: string; documentId?: string };
  }
}
