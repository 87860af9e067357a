import { createHash } from 'node:crypto';
import { Model } from '../model.ts';
import type { NativeGgufInfo, NativeModel, NativeModelInfo, NativeSession } from '../native.ts';
import { RemoteClient } from './client.ts';
import { MESSAGES_TEMPLATE } from './messages.ts';
import { RemoteAbort, RemoteSession, type RemoteOutcome } from './remote-session.ts';
import type { RemoteServer } from './server-address.ts';
import { decode, encode, markOf } from './text-units.ts';

interface RemoteOptions {
  /** '' for none. */
  key: () => Promise<string>;
  /** Called after every request. */
  onOutcome?: ((outcome: RemoteOutcome) => void) | undefined;
}

/** Identifies the units that text is counted in, since the weights are unknown: chunks cut for one server suit all. */
const FINGERPRINT = createHash('sha256').update('kvasir: text in units of three bytes').digest('hex');

/** A stand-in for a GGUF header: only the server's context length is known. */
export function remoteHeader({ model, contextTokens }: RemoteServer): NativeGgufInfo {
  return {
    architecture: 'remote',
    name: model,
    fileBytes: 0,
    parameterCount: 0,
    tensorCount: 0,
    tensorTypes: {},
    layers: 0,
    kvLayers: 0,
    embeddingLength: 0,
    heads: 0,
    kvHeads: 0,
    headDims: [],
    feedForwardLength: 0,
    contextTrain: contextTokens ?? 0,
    vocabSize: 0,
    ropeBase: 0,
    ropeScaling: '',
    windows: [],
    unrotatedLayers: 0,
    experts: 0,
    expertsUsed: 0,
    expertFeedForwardLength: 0,
    tokenizerModel: 'text units',
    chatTemplate: MESSAGES_TEMPLATE,
    sampling: {},
    embedding: false,
    reranker: false,
    engine: 'remote',
    obstacle: 'remote',
    unsupportedReason: '',
    kvValuesPerToken: 0,
    stateValues: 0,
  };
}

/** A server's model as an implementation of the engine interface. Sends nothing until an answer is requested. */
export function remoteModel(server: RemoteServer, options: RemoteOptions): Model {
  const client = new RemoteClient({ address: server.address, key: options.key });
  const native = new RemoteNative(server, client, options.onOutcome);
  return new Model({ createAbort: () => new RemoteAbort() }, native, `${server.address}#${server.model}`);
}

class RemoteNative implements NativeModel {
  readonly info: NativeModelInfo;
  readonly #server: RemoteServer;
  readonly #client: RemoteClient;
  readonly #onOutcome: RemoteOptions['onOutcome'];

  constructor(server: RemoteServer, client: RemoteClient, onOutcome: RemoteOptions['onOutcome']) {
    this.#server = server;
    this.#client = client;
    this.#onOutcome = onOutcome;
    this.info = {
      ...remoteHeader(server),
      fingerprint: FINGERPRINT,
      prefixRoot: FINGERPRINT,
      kvDtype: 'f16',
      kvBlockTokens: 64,
      bosToken: -1,
      eosToken: -1,
      addBos: false,
      bosText: '',
      eosText: '',
      buffers: {},
      layerDevices: [],
      threads: 0,
      loadMs: 0,
    };
  }

  tokenize(text: string, _addSpecial: boolean, parseSpecial: boolean): Int32Array {
    return encode(text, parseSpecial);
  }

  /** `special`: marks around thoughts become text, as models write them. */
  detokenize(tokens: Int32Array, special: boolean): string {
    if (!special) return decode(tokens);
    const written = { think: '<think>', thought: '</think>' } as const;
    return [...tokens]
      .map((id) => {
        const mark = markOf(id);
        return mark === 'think' || mark === 'thought' ? written[mark] : decode([id]);
      })
      .join('');
  }

  createSession(capacity: number): NativeSession {
    const options = { client: this.#client, server: this.#server, onOutcome: this.#onOutcome };
    return new RemoteSession({ ...options, capacity });
  }

  kvUsage() {
    return Promise.resolve({ blocks: 0, used: 0, evictable: 0 });
  }

  setKvBudget(): void {}

  onDevice(): boolean {
    return false;
  }

  deviceTier(): null {
    return null;
  }

  setDeviceBudget(): void {}

  exportPrefix(): Promise<null> {
    return Promise.resolve(null);
  }

  encodeChunk(): Promise<never> {
    return noKv();
  }

  openChunk(): Promise<never> {
    return noKv();
  }

  receiveChunk(): never {
    throw new TypeError(NO_KV);
  }

  openPrefix(): Promise<never> {
    return noKv();
  }

  importPrefix(): Promise<never> {
    return noKv();
  }

  dispose(): void {}
}

const NO_KV = 'a model on a server has no KV here';

function noKv(): Promise<never> {
  return Promise.reject(new TypeError(NO_KV));
}
