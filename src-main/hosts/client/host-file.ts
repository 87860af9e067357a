import { mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';

/** How to reach a data folder's owner: docs/formats/host.md. */
const HostFileSchema = z.object({
  version: z.literal(1),
  program: z.string(),
  pid: z.int(),
  /** Path of the socket, or name of the pipe. */
  socket: z.string(),
  /** The first thing a guest sends. */
  token: z.string(),
});

type HostFile = Omit<z.infer<typeof HostFileSchema>, 'version'>;

const FILE = 'host.json';
const SOCKET = 'host.sock';
/** Length in bytes of a socket path that every system supports. */
const LONGEST_PATH = 100;

/** undefined: there is none, or none in a format that this version knows. */
export function readHostFile(data: string): HostFile | undefined {
  try {
    return HostFileSchema.safeParse(JSON.parse(readFileSync(join(data, FILE), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Why no process accepted a command; more detailed than `failure` if the owner is known. */
export function ownerFailure(data: string, version: string, failure: KvasirError): KvasirError {
  const host = readHostFile(data);
  if (!host || !isRunning(host.pid)) return failure;
  const owner = `Kvasir (process ${host.pid})`;
  const [message, advice] =
    host.program === version
      ? [`${owner} has the data folder ${data} open, but does not answer.`, 'Wait until it does, or end it.']
      : [`${owner}, version ${host.program}, has the data folder ${data} open.`, 'Close it.'];
  return new KvasirError('STORE_IN_USE', message, `${advice} Then try again.`, { cause: failure });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Readable by its user only, like the folder. REQUIRES: this process holds the data folder's lock. */
export function writeHostFile(data: string, host: HostFile): void {
  writeFileSync(join(data, FILE), JSON.stringify({ version: 1, ...host }), { mode: 0o600 });
}

/**
 * Removes the file and its socket, which may belong to a killed process. REQUIRES: this process holds the data folder's
 * lock.
 */
export function removeHostFile(data: string): void {
  const left = readHostFile(data);
  rmSync(join(data, FILE), { force: true });
  rmSync(join(data, SOCKET), { force: true });
  if (left) removePrivateSocket(data, left.socket);
}

/** Removes a socket of socketPlaces() that is not in the data folder, with the folder that was made for it. */
export function removePrivateSocket(data: string, socket: string): void {
  const folder = dirname(socket);
  if (process.platform === 'win32' || !socket.endsWith(`/${SOCKET}`) || folder === data) return;
  rmSync(socket, { force: true });
  try {
    rmdirSync(folder); // created for it, and empty
  } catch {
    // Already removed.
  }
}

/**
 * Paths to listen on, best first: in the data folder if the path is short enough for a socket, else in a private
 * folder.
 */
export function* socketPlaces(data: string): Generator<string> {
  if (process.platform === 'win32') {
    yield `\\\\.\\pipe\\kvasir-${randomUUID()}`;
    return;
  }
  const beside = join(data, SOCKET);
  if (Buffer.byteLength(beside) <= LONGEST_PATH) yield beside;
  yield join(mkdtempSync(join(tmpdir(), 'kvasir-')), SOCKET);
}
