import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import SQLite from 'better-sqlite3';
import { App } from '../../../src-main/app.ts';
import { SCHEMAS } from '../../../src-main/databases.ts';
import type { ContractClient } from '../../../src-shared/contract/client.ts';
import { ask, clientOf, dataIn, downloaded, driveIn, settled, type Acceptance } from './contents.ts';
import { plugIn } from './flows.ts';
import { MODEL_SHA256, sha256 } from './model-server.ts';

/** What an undisturbed run leaves. */
export interface Clean {
  /** Checksums of chunk files by name, of every run so far. */
  chunks: Map<string, string>;
  /** The answer of a new store; undefined in the run that makes it. */
  answer?: string;
  /** Names of its files, without what differs between runs. */
  names?: Set<string>;
}

const ADOPTED_MS = 10_000;
const MAY_STAY = new Set([
  join('data', 'archive.zip.part'), // of an export, in a folder of people's choice: the next export replaces it
  join('data', 'libraries', '#', 'gone.txt'), // of a library that was to be deleted
]);

/** Opens a data folder for `work`, and closes it. Returns the milliseconds until it was open. */
export async function withApp(
  data: string,
  work: (app: App, client: ContractClient) => Promise<unknown>,
): Promise<number> {
  const begin = performance.now();
  const app = await App.open({ dataDir: data });
  const openMs = performance.now() - begin;
  try {
    await work(app, clientOf(app));
  } finally {
    await app.close();
  }
  return openMs;
}

/** Throws if something promised is lost below a round's folder, something wrong is served, or files are left. Completes `clean` where it lacks a value. */
export async function check(root: string, promised: readonly Acceptance[], clean: Clean): Promise<number> {
  const data = dataIn(root);
  plugIn(driveIn(root));
  requireWholeModels(data);
  const openMs = await withApp(data, async (app, client) => {
    const found = app.takeFound().filter(({ code }) => code !== 'DOCUMENTS_RECUT');
    if (found.length > 0) throw new Error(`found at start: ${found.map(({ message }) => message).join(' ')}`);
    app.start();
    await settled(client);
    await requirePromised(client, promised);
    await requireListedModels(client, data, promised);
    await requireSoundCache(client);
    let conversation = '';
    const answer = await ask(client, (each) => {
      if (each.kind === 'message') conversation = each.conversationId;
    });
    await client.call('chat.delete', { id: conversation });
    clean.answer ??= answer;
    if (answer !== clean.answer) throw new Error(`another answer: ${answer} instead of ${clean.answer}`);
    await app.store.idle();
    await requireListedChunks(client, root);
  });
  requireSameChunks(root, clean.chunks);
  for (const name of Object.keys(SCHEMAS)) requireSoundDatabase(join(data, name));
  const names = new Set(filesBelow(root).map((path) => withoutVarying(relative(root, path))));
  clean.names ??= names;
  const left = [...names].filter((name) => clean.names?.has(name) === false && !MAY_STAY.has(name));
  if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
  return openMs;
}

async function requirePromised(client: ContractClient, promised: readonly Acceptance[]): Promise<void> {
  const texts = new Map<string, string>();
  const { items } = await client.call('documents.list', { limit: 1000 });
  for (const { id, path } of items) texts.set(path, (await client.call('documents.text', { id })).text);
  const { memoryBudgetBytes } = await client.call('settings.get');
  const backups = (await client.call('app.backups')).map(({ path }) => basename(path));
  for (const each of promised) {
    if (each.kind === 'document' && texts.get(each.path)?.trim() !== each.text)
      throw new Error(`the document ${each.path} is lost`);
    if (each.kind === 'backup' && !backups.includes(basename(each.path)))
      throw new Error(`the backup ${each.path} is lost`);
    if (each.kind === 'setting' && memoryBudgetBytes < each.memoryBudgetBytes)
      throw new Error(`a setting is lost: ${memoryBudgetBytes} instead of ${each.memoryBudgetBytes}`);
    if (each.kind !== 'message') continue;
    const { messages } = await client.call('chat.get', { id: each.conversationId });
    if (!messages.some(({ text }) => text === each.text))
      throw new Error(`a message of conversation ${each.conversationId} is lost: ${each.text}`);
  }
}

/** Nothing incomplete has a model's name. */
function requireWholeModels(data: string): void {
  for (const path of modelFiles(data))
    if (sha256(readFileSync(path)) !== MODEL_SHA256) throw new Error(`${path} is incomplete`);
}

/** Imported models are in the list, downloads become models, and every file belongs to one of them. */
async function requireListedModels(
  client: ContractClient,
  data: string,
  promised: readonly Acceptance[],
): Promise<void> {
  for (const { id, url, state } of await client.call('models.downloads')) {
    if (state === 'failed') await client.call('models.resumeDownload', { id });
    await downloaded(client, url);
  }
  const models = await client.call('models.list');
  for (const each of promised) {
    if (each.kind === 'model' && !models.some(({ path }) => path === each.path))
      throw new Error(`the model ${each.path} is lost`);
    if (each.kind === 'download' && !models.some(({ origin }) => origin === 'downloaded'))
      throw new Error(`the download of ${each.url} is lost`);
  }
  requireWholeModels(data);
  const unlisted = await unlistedFiles(client, data);
  if (unlisted.length > 0) throw new Error(`no model has the file ${unlisted.join(', ')}`);
}

/** Files that no model has. A start adds files that the list lacks in the background. */
async function unlistedFiles(client: ContractClient, data: string): Promise<string[]> {
  for (const end = performance.now() + ADOPTED_MS; ;) {
    const models = await client.call('models.list');
    const unlisted = modelFiles(data).filter((file) => !models.some(({ path }) => path === file));
    if (unlisted.length === 0 || performance.now() > end) return unlisted;
    await sleep(20);
  }
}

function modelFiles(data: string): string[] {
  const folder = join(data, 'models');
  return existsSync(folder) ? filesBelow(folder).filter((path) => path.endsWith('.gguf')) : [];
}

async function requireSoundCache(client: ContractClient): Promise<void> {
  const { corrupt, missing, newerFormat } = await client.call('cache.verify');
  const { quarantine } = await client.call('cache.stats');
  if (corrupt.length + missing.length + newerFormat.length + quarantine.files > 0)
    throw new Error(`chunks: ${JSON.stringify({ corrupt, missing, newerFormat, quarantine })}`);
}

/** No folder has a chunk file that the cache does not list there: nobody would ever delete it. */
async function requireListedChunks(client: ContractClient, root: string): Promise<void> {
  const { folders } = await client.call('cache.folders');
  for (const dir of [join(dataIn(root), 'cache'), driveIn(root)]) {
    const files = chunkFiles(dir).length;
    const { chunks = 0, state = 'removed' } = folders.find(({ path }) => path === dir) ?? {};
    if (files !== chunks || (files > 0 && state !== 'ready'))
      throw new Error(`${dir} (${state}) has ${files} chunk files, and ${chunks} are listed`);
  }
}

/** The same key always has the same bytes. */
function requireSameChunks(root: string, known: Map<string, string>): void {
  for (const path of chunkFiles(root)) {
    const sum = sha256(readFileSync(path));
    const name = basename(path);
    if ((known.get(name) ?? sum) !== sum) throw new Error(`the chunk ${name} has other bytes`);
    known.set(name, sum);
  }
}

function requireSoundDatabase(path: string): void {
  const database = new SQLite(path, { readonly: true });
  const found = database.pragma('integrity_check', { simple: true });
  database.close();
  if (found !== 'ok') throw new Error(`${path} is damaged: ${String(found)}`);
}

function chunkFiles(folder: string): string[] {
  return existsSync(folder) ? filesBelow(folder).filter((path) => path.endsWith('.kvc')) : [];
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

const VARYING = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|(?<=chunks\/)[0-9a-f]{2}|\d+/g;

/** A file's path without random names, times and numbers. */
export function withoutVarying(path: string): string {
  return path.split(sep).join('/').replaceAll(VARYING, '#');
}
