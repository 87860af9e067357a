/**
 * Runs a packed app's bundle on a stand-in for Electron, as the app would be started: argv has the folder that stands for the archive
 * and the data folder. Asks a question about the sample library; prints what came of it as one line of JSON.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Conversation } from '../../src-shared/contract/chat.ts';
import { CALL_CHANNEL } from '../../src-main/hosts/electron/channels.ts';
import { StandIn } from '../../src-main/hosts/electron/stand-in.test-support.ts';

const PORT = join(import.meta.dirname, 'parser-port.mjs');
const ELECTRON = 'kvasir-stand-in:electron';
const QUESTION = 'Where does Project Polaris run?';

/** A utility process that is one: Node's, with what Electron gives its own. */
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

const [, , root = '', dataDir = ''] = process.argv;
const standIn = new StandIn();
standIn.app.isPackaged = true;
const electron = {
  ...standIn.module,
  utilityProcess: { fork: (path: string, args: string[]) => new Utility(path, args) },
};
Object.assign(globalThis, { standInForElectron: electron });
const source = Object.keys(electron)
  .map((name) => `export const ${name} = globalThis.standInForElectron.${name};`)
  .join('\n');
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: ELECTRON, shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    url === ELECTRON ? { format: 'module', source, shortCircuit: true } : next(url, context),
});

process.argv = ['kvasir', '--data', dataDir];
await import(pathToFileURL(join(root, 'out', 'main', 'main.js')).href);
while (standIn.windows.length === 0 && standIn.app.ended.length === 0) await sleep(20);

const { webContents } = standIn.window;
async function call<T>(name: string, input: unknown = {}): Promise<T> {
  const reply = await standIn.invoke(CALL_CHANNEL, webContents, webContents.mainFrame, name, input);
  const { ok, data } = reply as { ok: boolean; data: T };
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
const page = await standIn.protocols.get('app')?.(new Request('app://kvasir/'));
const seen = { errors: standIn.errors, page: await page?.text(), library, answer };
standIn.app.emit('will-quit', { preventDefault: () => undefined });
while (standIn.app.ended.length === 0) await sleep(20);
process.stdout.write(JSON.stringify({ ...seen, ended: standIn.app.ended }));
