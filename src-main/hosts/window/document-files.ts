import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { KvasirError } from '../../../src-shared/errors.ts';
import { DocumentPartSchema } from '../../../src-shared/contract/libraries.ts';
import type { DocumentViews } from '../../library/document-views.ts';
import { diskPath } from '../../platform/disk-path.ts';
import { framePage } from './frame-page.ts';
import { frameHeaders, newNonce, SECURITY_HEADERS } from './policy.ts';

const TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  bmp: 'image/bmp',
  avif: 'image/avif',
};

/**
 * `document/ID/file`: the bytes of a PDF or a picture, also in ranges. `document/ID/page?part=N&start=S&end=E&dark`: a document as a page,
 * for a frame. `path`: below the window's address. Documents are named by id: no path of a file comes from a request.
 */
export async function serveDocument(views: DocumentViews, path: string, request: Request): Promise<Response> {
  const [, id = '', what] = /^\/document\/(\d+)\/(file|page)$/.exec(path) ?? [];
  if (what === undefined) return refusal(404);
  try {
    const { searchParams } = new URL(request.url);
    return what === 'file'
      ? await serveFile(views, id, request.headers.get('range'))
      : await servePage(views, id, searchParams);
  } catch (error) {
    if (error instanceof KvasirError) return refusal(404);
    throw error;
  }
}

function refusal(status: number, headers: Record<string, string> = {}): Response {
  return new Response(null, { status, headers: { ...SECURITY_HEADERS, ...headers } });
}

async function servePage(views: DocumentViews, id: string, query: URLSearchParams): Promise<Response> {
  const number = (name: string): number | undefined =>
    query.has(name) ? Number(query.get(name)) : undefined;
  const input = { id, part: number('part'), start: number('start'), end: number('end') };
  const part = DocumentPartSchema.safeParse(input);
  if (!part.success) return refusal(400);
  const { html } = await views.page(part.data);
  const nonce = newNonce();
  return new Response(framePage(html, nonce, query.has('dark')), { headers: frameHeaders(nonce) });
}

async function serveFile(views: DocumentViews, id: string, range: string | null): Promise<Response> {
  const { path, format, bytes } = await views.file(id);
  const headers = {
    ...SECURITY_HEADERS,
    'Content-Type': TYPES[format] ?? 'application/octet-stream',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'no-store',
    'Accept-Ranges': 'bytes',
  };
  const asked = rangeOf(range, bytes);
  if (asked === 'outside') return refusal(416, { 'Content-Range': `bytes */${bytes}` });
  const { start, end } = asked ?? { start: 0, end: bytes };
  const stream = createReadStream(diskPath(path), { start, end: Math.max(start, end - 1) });
  const body = bytes === 0 ? null : (Readable.toWeb(stream) as ReadableStream);
  const length = { 'Content-Length': String(end - start) };
  if (!asked) return new Response(body, { headers: { ...headers, ...length } });
  const place = { 'Content-Range': `bytes ${start}-${end - 1}/${bytes}` };
  return new Response(body, { status: 206, headers: { ...headers, ...length, ...place } });
}

/** A single range (RFC 9110, 14.1.2), `end` excluded; others are ignored, as the standard allows. */
function rangeOf(
  header: string | null,
  bytes: number,
): { start: number; end: number } | 'outside' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  return start < end ? { start, end } : 'outside';
}
