import type { MiddlewareHandler } from 'hono';
import { Refusal } from '../errors.ts';

/**
 * Refuses bodies of more than `most` bytes (413). Hono's own limit creates a new Request from the given one, which Node
 * does not accept from the server's request class: a body without an announced length would fail.
 */
export function limitBody(most: number): MiddlewareHandler {
  const tooLarge = (): Refusal =>
    new Refusal(413, `A request may have ${most} bytes at most.`, { code: 'too_large' });
  return async (c, next) => {
    const { raw } = c.req;
    if (!raw.body) return next();
    const length = raw.headers.get('content-length');
    if (length !== null && !raw.headers.has('transfer-encoding')) {
      if (Number(length) > most) throw tooLarge();
      return next();
    }
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of raw.body as ReadableStream<Uint8Array>) {
      bytes += piece.length;
      if (bytes > most) throw tooLarge();
      pieces.push(piece);
    }
    const { url, method, headers, signal } = raw;
    c.req.raw = new Request(url, { method, headers, signal, body: Buffer.concat(pieces) });
    return next();
  };
}
