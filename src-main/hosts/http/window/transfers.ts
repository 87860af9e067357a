import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { CallResult } from '../../../../src-shared/contract/bridge.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import type { Api } from '../../../api/api.ts';
import { failureOf } from '../../../platform/failure.ts';
import { checkName, receiveError, receiveFile, type IncomingFile } from './receive-file.ts';

/** Destinations of files from a browser. */
export interface UploadPlaces {
  /** Receives a document into a library, under its relative path; returns its id. */
  receiveDocument(libraryId: string, path: string, body: Readable): Promise<string>;
  modelsDir: string;
  backupsDir: string;
}

/**
 * `PUT /upload?library=ID&path=REL`, `?model=NAME` or `?backup=NAME`: the response is a CallResult whose data has the
 * file's `path`, and a document's `documentId`.
 */
export async function upload(c: Context, places: UploadPlaces, api: Api): Promise<Response> {
  const result = await received(c, places, api).catch((error: unknown): CallResult => ({
    ok: false,
    error: failureOf(receiveError(error, 'The upload could not be stored')),
  }));
  return c.json(result, result.ok ? 200 : 422, { 'Cache-Control': 'no-store' });
}

async function received(c: Context, places: UploadPlaces, api: Api): Promise<CallResult> {
  const { library, path, model, backup } = c.req.query();
  const { incoming } = c.env as HttpBindings;
  incoming.socket.setTimeout(0); // the sender may read from a slow drive
  const body = bodyOf(incoming);
  const file = (name: string): IncomingFile => ({ name, bytes: announcedBytes(incoming), body });
  if (library && path) {
    const documentId = await places.receiveDocument(library, path, body);
    return { ok: true, data: { path, documentId } };
  }
  if (backup) {
    checkName(backup);
    // With another extension it would not be listed.
    const name = /\.zip$/i.test(backup) ? backup : `${backup}.zip`;
    return { ok: true, data: { path: await receiveFile(places.backupsDir, file(name)) } };
  }
  if (model) return importModel(api, await receiveFile(places.modelsDir, file(model)));
  throw new KvasirError('BAD_ARGUMENT', 'An upload names a library and a path, a model, or a backup.');
}

/**
 * The request's body as a separate stream. A consumer that stops reading destroys its stream, and destroying the
 * request itself would close the connection before the error could be sent. The rest of the body is discarded: browsers
 * read the response only after sending everything.
 */
function bodyOf(request: IncomingMessage): Readable {
  const body = new PassThrough();
  request.pipe(body);
  request.on('error', (error) => body.destroy(error));
  request.on('close', () => {
    if (!request.complete) body.destroy(Object.assign(new Error('cut'), { code: 'ECONNRESET' }));
  });
  body.on('close', () => request.unpipe(body).resume());
  body.on('error', () => undefined); // there may be no reader to notify
  return body;
}

/** Deletes a file that is not a usable model: its sender still has it. */
async function importModel(api: Api, path: string): Promise<CallResult> {
  const imported = await api.call('models.import', { path });
  if (imported.ok) return { ok: true, data: { path } };
  await rm(path, { force: true });
  return imported;
}

function announcedBytes({ headers }: IncomingMessage): number | undefined {
  const bytes = Number(headers['content-length']);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
