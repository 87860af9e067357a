import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { QueryResult } from '../../../src-shared/tables.ts';
import { askChild, type SpawnChild } from '../../platform/ask-child.ts';
import type { QueryReply, QueryRequest } from './protocol.ts';

/** Of loading the tables, at most a million cells, and running the statement. */
const LIMIT_MS = 10_000;
export const QUERY_MEMORY_BYTES = 512 * 1024 * 1024;

/** Runs a statement in a process of its own. TABLE_QUERY, TABLE_TIMEOUT, ABORTED. */
export type QueryTables = (request: QueryRequest, signal?: AbortSignal) => Promise<QueryResult>;

export function queryTablesIn(spawn: SpawnChild, limitMs = LIMIT_MS): QueryTables {
  return async (request, signal) => {
    const reply = await askChild<QueryReply>(spawn, request, { ended: exceeded, signal, limitMs });
    if ('result' in reply) return reply.result;
    const { code, message, advice } = reply.failure;
    throw new KvasirError(code, message, advice);
  };
}

/** Another Node process; it may load SQLite and read files, which SQLite needs for itself. */
export function spawnQuery(): ReturnType<SpawnChild> {
  return fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [String(QUERY_MEMORY_BYTES)], {
    execArgv: ['--permission', '--allow-addons', '--allow-fs-read=*', '--allow-worker'],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

function exceeded(how: string): KvasirError {
  return new KvasirError(
    'TABLE_TIMEOUT',
    `The statement took more than ${LIMIT_MS / 1000} seconds or ${QUERY_MEMORY_BYTES / 2 ** 20} MB of memory (${how}).`,
    'Write a simpler one.',
  );
}
