/**
 * Runs a packed app's bundle on an Electron double, as the app would start: argv has the extracted archive's folder and the data folder.
 * Asks a question about the sample library, and reads a folder of documents; prints the results as one line of JSON.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Conversation } from '../../src-shared/contract/chat.ts';
import { FakeElectron } from '../../src-main/hosts/electron/fake-electron.test-support.ts';
import { viewerOf } from '../../src-shared/viewing.ts';
import { formatOf } from '../../src-main/library/formats/formats.ts';
import { startBundle } from './bundle-on-fake-electron.ts';

const PORT = join(import.meta.dirname, 'parser-port.ts');
const QUESTION = 'Where does Project Polaris run?';

/** A real Node process that behaves like Electron's utility process. */
class Utility extends EventEmitter {
  readonly stderr: ChildProcess['stderr'];
  readonly #child: ChildProcess;

  constructor(path: string, args: string[]) {
    super();
    this.#child = fork(path, args, { execArgv: ['--import', PORT], serialization: 'advanced', silent: true });
    this.stderr = this.#child.stderr;
    this.#child.on('message', (message) => this.emit('message', message));
    this.#child.on('exit', (code) => this.emit('exit', code ?? 1));
  }
  postMessage(message: object): void {
    this.#child.send(message);
  }
  kill(): boolean {
    return this.#child.kill();
  }
}

const [, , root = '', dataDir = '', documents = ''] = process.argv;
const standIn = new FakeElectron();
standIn.app.isPackaged = true;
const electron = {
  ...standIn.module,
  utilityProcess: { fork: (path: string, args: string[]) => new Utility(path, args) },
};
const bundle = await startBundle(standIn, { root, argv: ['kvasir', '--data', dataDir], electron });

async function call<T>(name: string, input?: unknown): Promise<T> {
  const reply = (await bundle.call(name, input)) as { ok: boolean; data: T };
  const { ok, data } = reply;
  if (!ok) throw new Error(JSON.stringify(reply));
  return data;
}

let library: { chunks: number; pending: number } | undefined;
while (!library || library.chunks === 0 || library.pending > 0) {
  await sleep(100);
  [library] = await call<{ chunks: number; pending: number }[]>('libraries.list');
}
const { id } = await call<Conversation>('chat.create');
const { answerId } = await call<{ answerId: string }>('chat.send', { conversationId: id, text: QUESTION });
let answer: Conversation['messages'][number] | undefined;
while (!answer || ['waiting', 'prefilling', 'streaming'].includes(answer.state)) {
  await sleep(50);
  answer = (await call<Conversation>('chat.get', { id })).messages.find((message) => message.id === answerId);
}
const { id: libraryId } = await call<{ id: string }>('libraries.create', { name: 'Kinds' });
await call('libraries.addPaths', { id: libraryId, paths: [documents], watch: false });
interface Listed {
  id: string;
  path: string;
  phase: string;
  failure: object | null;
}
/** A scanned document is recognised after its other text, if any, was chunked and indexed. */
const UNREAD = ['waiting', 'reading', 'chunking', 'indexing', 'recognising'];
let list: Listed[] = [];
while (list.length === 0 || list.some(({ phase }) => UNREAD.includes(phase))) {
  await sleep(100);
  list = (await call<{ items: Listed[] }>('documents.list', { libraryId, offset: 0, limit: 100 })).items;
}
const read: Record<string, unknown> = {};
for (const { id: documentId, path, failure } of list)
  read[path] = failure ?? (await call<{ text: string }>('documents.text', { id: documentId })).text;
const shown: Record<string, unknown> = {};
for (const { id: documentId, path } of list)
  if (viewerOf(formatOf(path)) === 'page') shown[path] = await call('documents.page', { id: documentId });
const seen = { read, shown, errors: standIn.errors, page: await bundle.page(), library, answer };
await bundle.quit();
process.stdout.write(JSON.stringify({ ...seen, ended: standIn.app.ended }));
