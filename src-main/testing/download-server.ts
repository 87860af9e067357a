import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Answer = (request: IncomingMessage, response: ServerResponse, n: number) => void;

export interface TestServer {
  url: string;
  /** Range headers of the requests so far; '' for none. */
  ranges: string[];
  /** Sets the answers from here on and restarts the request count. */
  answers: Answer;
  closeConnections: () => void;
}

/** A local web server on a free port that answers as a test defines; `n` counts requests from 0. */
export async function serve(answer: Answer): Promise<TestServer> {
  const closeConnections = (): void => server.closeAllConnections();
  const state: TestServer = { url: '', ranges: [], answers: answer, closeConnections };
  const server = createServer((request, response) => {
    state.ranges.push(request.headers.range ?? '');
    state.answers(request, response, state.ranges.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/models/tiny.gguf`;
  return state;
}

/** Bytes of the file that the client under test has received; set by the test. */
export const arrived = { bytes: (): number => Infinity };

interface FileAnswer {
  etag?: string;
  ranges?: boolean;
  /** Closes the connection after the client has received this many bytes of the body. */
  cutAfter?: number;
  length?: boolean;
}

/** Responds like a file server, with optional faults. */
export function sendFile(
  bytes: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
  { etag = `"${sha256(bytes).slice(0, 16)}"`, ranges = true, cutAfter, length = true }: FileAnswer = {},
): void {
  const wanted = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
  const same = !request.headers['if-range'] || request.headers['if-range'] === etag;
  const start = wanted && ranges && same ? Number(wanted[1]) : 0;
  const headers: Record<string, string> = etag === '' ? {} : { etag };
  if (start >= bytes.length) {
    response.writeHead(416, { ...headers, 'content-range': `bytes */${bytes.length}` }).end();
    return;
  }
  const body = bytes.subarray(start);
  if (length) headers['content-length'] = String(body.length);
  if (start > 0) headers['content-range'] = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
  response.writeHead(start > 0 ? 206 : 200, headers);
  if (cutAfter === undefined) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, cutAfter));
  // Not before they have arrived: a client loses unread data when the connection breaks.
  const timer = setInterval(() => {
    if (arrived.bytes() < start + cutAfter) return;
    clearInterval(timer);
    response.destroy();
  }, 5);
  response.on('close', () => clearInterval(timer));
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
