/**
 * The process that reads documents. They are untrusted, so parsers run isolated: a crash, a hang or excessive memory use costs one
 * document.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { KvasirError } from '../../../src-shared/errors.ts';
import { diskPath } from '../../platform/disk-path.ts';
import { failureOf } from '../../platform/failure.ts';
import { pageOf, parserOf, textKindOf } from '../formats/formats.ts';
import { viewPage } from '../formats/page/page.ts';
import { blank, broken, reasonOf, tooLarge, overLimit } from '../formats/errors.ts';
import { conflictOf, tidyTitle, titleOfPath } from '../formats/titles.ts';
import { confine } from './confine.ts';
import type {
  FileRequest,
  ParseRequest,
  RecogniseRequest,
  WorkReply,
  WorkResult,
  Works,
} from './protocol.ts';
import { readSheet, readTables } from './sheet-work.ts';
import { startWatchdog } from './watchdog.ts';

/** UTF-16 units of text in one message. */
const PART_UNITS = 262_144;
/** No book or table for people has more text than this. */
const MAX_TEXT_UNITS = 64 * 1024 * 1024;

/** Unix: 10; Windows: below normal. */
const LOW = constants.priority.PRIORITY_BELOW_NORMAL;

process.on('message', (request: Works[keyof Works]['request']) => void answer(request));
process.on('disconnect', () => process.exit(0));
// A promise that one document's parser left unhandled must not cost the next document.
process.on('unhandledRejection', () => undefined);
startWatchdog(Number(process.argv[2]));
confine();

async function answer(request: Works[keyof Works]['request']): Promise<void> {
  const { id } = request;
  try {
    const bytes = request.bytes ? sent(request, request.bytes) : readWhole(request);
    const work = WORKS[request.work] as (request: FileRequest, bytes: Buffer) => Promise<WorkResult>;
    send({ id, type: 'done', result: await work(request, bytes) });
  } catch (error) {
    const known = error instanceof KvasirError ? error : broken(request.name, reasonOf(error), error);
    send({ id, type: 'failed', failure: failureOf(known) });
  }
}

/** Each returns its result, after the text if there is one. */
const WORKS: {
  [W in keyof Works]: (request: Works[W]['request'], bytes: Buffer) => Promise<Works[W]['result']>;
} = {
  parse,
  recognise,
  view,
  sheet: readSheet,
  tables: (request, bytes) => readTables(request, bytes, (text) => sendText(request.id, text)),
};

async function parse(
  { id, name, format, knownSha256, article = false }: ParseRequest,
  bytes: Buffer,
): Promise<Works['parse']['result']> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 === knownSha256) return { sha256 };
  // Whatever its kind: damage of zeros is not damage of a format. Source code may be empty.
  if (textKindOf(format) === 'prose' && !bytes.some((byte) => byte !== 0)) throw blank(name, bytes);
  const read = await parserOf(format, article);
  const { text, headings, title, pages, warnings } = await read({ name, bytes });
  if (text.length > MAX_TEXT_UNITS) {
    throw tooLarge(name, `its text has more than ${MAX_TEXT_UNITS / 1024 / 1024} million characters`);
  }
  sendText(id, text.toWellFormed());
  const copy = conflictOf(name);
  const document = {
    // Two versions of a document have one title; their names tell them apart.
    title: (copy === undefined && tidyTitle(title)) || titleOfPath(name),
    ...(headings && { headings }),
    pages,
    warnings: copy === undefined ? warnings : [copy, ...warnings],
  };
  return { sha256, document };
}

async function view(
  { id, name, format, part, passage }: Works['view']['request'],
  bytes: Buffer,
): Promise<Works['view']['result']> {
  const { html, ...result } = await viewPage(await pageOf(format), { name, bytes }, part, passage);
  sendText(id, html.toWellFormed());
  return result;
}

function sendText(id: number, text: string): void {
  for (let start = 0; start < text.length; start += PART_UNITS)
    send({ id, type: 'text', part: text.slice(start, start + PART_UNITS) });
}

async function recognise(
  { path, name, format, page, sha256 }: RecogniseRequest,
  bytes: Buffer,
): Promise<Works['recognise']['result']> {
  if (sha256 !== '' && createHash('sha256').update(bytes).digest('hex') !== sha256) return {};
  // Seconds for every page: whatever else runs goes first. Somebody waits for a document that was sent.
  if (path !== '' && getPriority() < LOW) setPriority(LOW);
  const { recognisePage } = await import('../recognition/recognise.ts');
  return { page: await recognisePage({ name, bytes }, format, page) };
}

function sent({ name, maxBytes }: FileRequest, bytes: Uint8Array): Buffer {
  if (bytes.length > maxBytes) throw overLimit(name, maxBytes, bytes.length);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Checks the size of the opened file, which may differ from the size found by the scan. */
function readWhole({ path, name, maxBytes }: FileRequest): Buffer {
  const file = openFile(path, name);
  try {
    const { size } = fstatSync(file);
    if (size > maxBytes) throw overLimit(name, maxBytes, size);
    const bytes = Buffer.alloc(size);
    let length = 0;
    for (let n = -1; n !== 0 && length < size; length += n)
      n = readSync(file, bytes, length, size - length, length);
    return bytes.subarray(0, length);
  } catch (error) {
    throw error instanceof KvasirError ? error : unreadable(name, error);
  } finally {
    closeSync(file);
  }
}

function openFile(path: string, name: string): number {
  try {
    return openSync(diskPath(path), 'r');
  } catch (error) {
    throw unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): KvasirError {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  return new KvasirError(
    'DOCUMENT_UNREADABLE',
    `${name} cannot be read (${code}).`,
    'Check that the file exists and is readable.',
  );
}

function send(reply: WorkReply): void {
  process.send?.(reply);
}
