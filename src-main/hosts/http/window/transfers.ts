import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CallResult } from '../../../../src-shared/contract/bridge.ts';
import type { Backup } from '../../../../src-shared/contract/app.ts';
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
export async function upload(
  request: IncomingMessage,
  response: ServerResponse,
  { query, places, api }: { query: URLSearchParams; places: UploadPlaces; api: Api },
): Promise<void> {
  const result = await received(request, query, places, api).catch((error: unknown): CallResult => ({
    ok: false,
    error: failureOf(receiveError(error, 'The upload could not be stored')),
  }));
  if (response.destroyed) return;
  response.writeHead(result.ok ? 200 : 422, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
  });
  response.end(JSON.stringify(result));
}

async function received(
  request: IncomingMessage,
  query: URLSearchParams,
  places: UploadPlaces,
  api: Api,
): Promise<CallResult> {
  const [library, path, model, backup] = ['library', 'path', 'model', 'backup'].map((key) => query.get(key));
  const body = bodyOf(request);
  const file = (name: string): IncomingFile => ({ name, bytes: announcedBytes(request), body });
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

/** `GET /download?backup=PATH`: a backup that the core lists, and no other file. False if there is none. */
export async function download(response: ServerResponse, path: string | null, api: Api): Promise<boolean> {
  const listed = await api.call('app.backups', {});
  const backup = listed.ok
    ? (listed.data as Backup[]).find((candidate) => candidate.path === path)
    : undefined;
  if (!backup) return false;
  const file = createReadStream(backup.path);
  await once(file, 'open');
  response.writeHead(200, {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(basename(backup.path))}`,
    'Cache-Control': 'no-store',
  });
  await pipeline(file, response);
  return true;
}
