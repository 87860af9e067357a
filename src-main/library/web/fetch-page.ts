import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ownValue } from '../../../src-shared/own-value.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { get, statusOf, type Connect } from '../../platform/download/request.ts';
import { publicConnection } from '../../platform/download/public-address.ts';
import { formatBytes } from '../../platform/format-bytes.ts';
import { formatOf, isDocument } from '../formats/formats.ts';

/** A document at a web address. */
export interface FetchedPage {
  bytes: Buffer;
  /** File name extension, without the dot. */
  format: string;
}

export interface FetchLimits {
  maxBytes: number;
  /** For all of it. */
  timeoutMs: number;
  /** To the first byte of the answer, redirects included. */
  answerMs: number;
}

const LIMITS: FetchLimits = { maxBytes: 20_000_000, timeoutMs: 30_000, answerMs: 10_000 };

/** Media types that say less than the address does. */
const VAGUE = /^(?:text\/.*|(?:application|binary)\/octet-stream|)$/;
/** Formats by media type. */
const FORMATS = new Map(
  Object.entries({
    'text/html': 'html',
    'application/xhtml+xml': 'xhtml',
    'application/pdf': 'pdf',
    'text/markdown': 'md',
    'text/csv': 'csv',
    'text/tab-separated-values': 'tsv',
    'application/json': 'json',
    'application/ld+json': 'json',
    'application/xml': 'xml',
    'text/xml': 'xml',
    'application/epub+zip': 'epub',
    'application/rtf': 'rtf',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'application/vnd.oasis.opendocument.text': 'odt',
    'application/vnd.oasis.opendocument.spreadsheet': 'ods',
    'application/vnd.oasis.opendocument.presentation': 'odp',
  }),
);

const DECODERS: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Gets what is at a web address, without cookies, a referrer or scripts. PAGE_PRIVATE unless every redirect stays on the internet,
 * PAGE_UNREACHABLE, PAGE_UNSUPPORTED, DOCUMENT_TOO_LARGE; ABORTED.
 */
export async function fetchPage(
  address: string,
  signal?: AbortSignal,
  connect: Connect = publicConnection(),
  limits: Partial<FetchLimits> = {},
): Promise<FetchedPage> {
  const { maxBytes, timeoutMs, answerMs } = { ...LIMITS, ...limits };
  const { host } = new URL(address);
  const timeout = new AbortController();
  const give = (): void => timeout.abort();
  const timers = [setTimeout(give, answerMs), setTimeout(give, timeoutMs)];
  const stop = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal;
  try {
    const response = await get(address, { accept: 'text/html,*/*;q=0.8' }, stop, connect);
    clearTimeout(timers[0]);
    try {
      if (statusOf(response) !== 200)
        throw unreachable(`${host} answered with status ${statusOf(response)}.`);
      const { format, charset } = kindOf(response, address);
      return { bytes: inUtf8(await bodyOf(response, host, maxBytes), charset), format };
    } finally {
      response.destroy();
    }
  } catch (error) {
    if (signal?.aborted) throw new KvasirError('ABORTED', 'Fetching the page was stopped.');
    if (timeout.signal.aborted) throw unreachable(`${host} took too long: the request timed out.`);
    if (error instanceof KvasirError && error.code !== 'DOWNLOAD_FAILED') throw error;
    throw unreachable(
      error instanceof KvasirError ? error.message : `The connection to ${host} was lost.`,
      error,
    );
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

/** The format of the body, by its media type, and the encoding of its text; PAGE_UNSUPPORTED. */
function kindOf({ headers }: IncomingMessage, address: string): { format: string; charset: string } {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const media = type.trim();
  const isText = /^text\/|[/+](?:xml|json)$/.test(media);
  const charset = (isText && /charset\s*=\s*["']?([\w.:-]+)/.exec(parameters.join(';'))?.[1]) || '';
  const format = FORMATS.get(media) ?? (VAGUE.test(media) ? vagueFormat(media, address) : undefined);
  if (format !== undefined) return { format, charset };
  throw new KvasirError(
    'PAGE_UNSUPPORTED',
    `Kvasir does not read this kind of page: ${address} is of the type ${media}.`,
    'Open it in your browser, save it as PDF or HTML, and add the file.',
  );
}

/** By the address, which may end in the name of a file. */
function vagueFormat(media: string, address: string): string | undefined {
  const { pathname } = new URL(address);
  if (isDocument(pathname)) return formatOf(pathname);
  return media === '' ? 'html' : media.startsWith('text/') ? 'txt' : undefined;
}

async function bodyOf(response: IncomingMessage, host: string, maxBytes: number): Promise<Buffer> {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decoder = ownValue(DECODERS, encoding);
  if (encoding !== 'identity' && !decoder)
    throw unreachable(`${host} compressed the page in an unknown way (${encoding.slice(0, 20)}).`);
  // Some servers compress although they are asked not to. The limit is of what comes out.
  const body = decoder ? pipeline(response, decoder(), () => undefined) : response;
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes > maxBytes) throw tooLarge(host, maxBytes);
  }
  return Buffer.concat(parts);
}

/** The encoding of a text may be in its response alone: a file does not keep it, but for a byte-order mark. */
function inUtf8(bytes: Buffer, charset: string): Buffer {
  if (charset === '' || charset.startsWith('utf') || isUtf8(bytes)) return bytes;
  try {
    return Buffer.from(`\ufeff${new TextDecoder(charset).decode(bytes)}`);
  } catch {
    return bytes; // an encoding that nobody knows
  }
}

function tooLarge(host: string, maxBytes: number): KvasirError {
  return new KvasirError(
    'DOCUMENT_TOO_LARGE',
    `${host} sent more than ${formatBytes(maxBytes)}, the limit for pages by address.`,
    'Download the file in your browser and add it.',
  );
}

function unreachable(message: string, cause?: unknown): KvasirError {
  return new KvasirError(
    'PAGE_UNREACHABLE',
    message,
    'Check the address and the connection, then try again.',
    {
      cause,
    },
  );
}
