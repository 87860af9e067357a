import { createHash } from 'node:crypto';
import { KvasirError } from '../../../../src-shared/errors.ts';
import type { GgufInfo } from '../../../engine/engine.ts';
import { isAborted } from '../../../platform/abort.ts';
import { RemoteClient, type RemotePiece, type RemoteRequest } from './client.ts';
import type { RemoteServer } from './server-address.ts';

/** Text is measured in estimated tokens of this many bytes of UTF-8. Most tokenizers make fewer tokens of it. */
const BYTES_PER_TOKEN = 3;

/** Identifies that measure, since the weights are unknown: documents chunked for one server suit all. */
const FINGERPRINT = createHash('sha256').update('kvasir: text in units of three bytes').digest('hex');

/** The outcome of a request to the server. */
export interface RemoteOutcome {
  /** From the request to the first token, in milliseconds; undefined if there was none. */
  ttftMs: number | undefined;
  /** undefined if the server did not count. */
  tokensPerSecond: number | undefined;
  failure: KvasirError | undefined;
}

interface ServerModelOptions {
  /** '' for none. */
  key: () => Promise<string>;
  /** Called after every request. */
  onOutcome?: ((outcome: RemoteOutcome) => void) | undefined;
}

/** A model on a server, which takes messages and returns text. Sends nothing until an answer is requested. */
export class ServerModel {
  readonly info: GgufInfo & { fingerprint: string; threads: number };
  readonly path: string;
  readonly server: RemoteServer;
  /** No passage's KV is computed here. */
  readonly blends = false;
  /** The server has its own queue. */
  readonly answersAtOnce = 8;
  readonly encodingPrefix = new Int32Array(0);
  readonly adapter = undefined;
  readonly #client: Pick<RemoteClient, 'complete'>;
  readonly #onOutcome: ServerModelOptions['onOutcome'];

  constructor(
    server: RemoteServer,
    { key, onOutcome }: ServerModelOptions,
    client: Pick<RemoteClient, 'complete'> = new RemoteClient({ address: server.address, key }),
  ) {
    this.server = server;
    this.info = { ...serverHeader(server), fingerprint: FINGERPRINT, threads: 0 };
    this.path = `${server.address}#${server.model}`;
    this.#client = client;
    this.#onOutcome = onOutcome;
  }

  /** As many zeros as the text is estimated to have tokens: its ids are unknown. */
  tokenize(text: string): Int32Array {
    return new Int32Array(Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN));
  }

  bytesPerToken(): number {
    return 0;
  }

  onDevice(): boolean {
    return false;
  }

  deviceTier(): null {
    return null;
  }

  setDeviceBudget(): void {
    // No device here holds its chunks.
  }

  /** Streams an answer; see RemoteClient.complete. */
  async *complete(request: RemoteRequest): AsyncGenerator<RemotePiece> {
    const started = performance.now();
    let firstAt: number | undefined;
    let answerTokens = 0;
    let failure: unknown;
    try {
      for await (const piece of this.#client.complete(this.server, request)) {
        if (piece.kind === 'end') answerTokens = piece.usage.answerTokens ?? 0;
        else firstAt ??= performance.now();
        yield piece;
      }
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      const seconds = firstAt === undefined ? 0 : (performance.now() - firstAt) / 1000;
      this.#onOutcome?.({
        ttftMs: firstAt === undefined ? undefined : firstAt - started,
        tokensPerSecond: answerTokens > 1 && seconds > 0 ? answerTokens / seconds : undefined,
        failure: failure instanceof KvasirError && !isAborted(failure) ? failure : undefined,
      });
    }
  }

  dispose(): void {
    // It holds nothing.
  }
}

/** A stand-in for a GGUF header: only the server's context length is known. */
export function serverHeader({ model, contextTokens }: RemoteServer): GgufInfo {
  return {
    architecture: 'remote',
    name: model,
    names: [],
    pooling: '',
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
    tokenizerModel: '',
    chatTemplate: '',
    sampling: {},
    embedding: false,
    reranker: false,
    engine: 'none',
    obstacle: 'remote',
    unsupportedReason: '',
    kvValuesPerToken: 0,
    stateValues: 0,
  };
}
