import { Agent } from 'node:https';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { Driver, ValueSource } from '../driver.ts';

interface S3Options {
  /** Empty: Amazon's endpoint for the region. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Puts the bucket in the path rather than in the host name, as most servers other than Amazon require. */
  pathStyle: boolean;
  /** Prefix of every key. */
  prefix: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Trusted CA certificates, PEM; default: the well-known ones. */
  authorities?: string[] | undefined;
}

const CONNECT_MS = 5000;
/** Part size of a multipart upload in bytes; it needs twice this much memory. */
const PART_BYTES = 8 * 2 ** 20;
const SIDE_BY_SIDE = 32;

/**
 * Values in a bucket, one object each. The client library is large, so this file is loaded only if a bucket is
 * configured.
 */
export class S3Driver implements Driver {
  readonly largestBytes = Infinity;
  readonly #options: S3Options;
  readonly #config: S3ClientConfig;
  #client: S3Client;

  constructor(options: S3Options) {
    this.#options = options;
    this.#config = configOf(options);
    this.#client = new S3Client(this.#config);
  }

  async sizes(names: readonly string[], signal: AbortSignal): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const ask = async (name: string): Promise<void> => {
      try {
        const { ContentLength = 0 } = await this.#client.send(new HeadObjectCommand(this.#object(name)), {
          abortSignal: signal,
        });
        found.set(name, ContentLength);
      } catch (error) {
        if (statusOf(error) !== 404) throw error;
      }
    };
    for (let start = 0; start < names.length; start += SIDE_BY_SIDE)
      await Promise.all(names.slice(start, start + SIDE_BY_SIDE).map(ask));
    return found;
  }

  async read(name: string, from: number, bytes: number, signal: AbortSignal): Promise<Uint8Array> {
    try {
      const { Body } = await this.#client.send(
        new GetObjectCommand({ ...this.#object(name), Range: `bytes=${from}-${from + bytes - 1}` }),
        { abortSignal: signal },
      );
      return (await Body?.transformToByteArray()) ?? new Uint8Array();
    } catch (error) {
      // Missing, or the value ends before the range.
      if ([404, 416].includes(statusOf(error) ?? 0) && (error as Error).name !== 'NoSuchBucket')
        return new Uint8Array();
      throw error;
    }
  }

  /** Always overwrites: many servers do not support conditions. Of two writers of equal values the last one wins. */
  async write(name: string, value: ValueSource, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#object(name), Body: Readable.from(value.pieces(), { objectMode: false }) },
      partSize: PART_BYTES,
      queueSize: 2,
    });
    const abort = (): void => void upload.abort();
    signal.addEventListener('abort', abort, { once: true });
    try {
      await upload.done();
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#object(name)), { abortSignal: signal });
  }

  reset(): void {
    this.#client.destroy();
    this.#client = new S3Client(this.#config);
  }

  #object(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#options.bucket, Key: this.#options.prefix + name };
  }
}

function configOf(options: S3Options): S3ClientConfig {
  const { endpoint, region, pathStyle, accessKeyId, secretAccessKey, authorities } = options;
  return {
    region,
    ...(endpoint !== '' && { endpoint }),
    forcePathStyle: pathStyle,
    credentials: { accessKeyId, secretAccessKey },
    // The circuit breaker decides when to retry.
    maxAttempts: 1,
    // Many servers do not support the newer checksums; chunk files include checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      httpsAgent: new Agent({ keepAlive: true, maxSockets: 2 * SIDE_BY_SIDE, ca: authorities }),
    },
  };
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;
}
