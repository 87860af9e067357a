/** The thread of a SearchThread: answers one request at a time from a connection that only reads. */
import { parentPort, workerData } from 'node:worker_threads';
import { VectorTable } from '../catalogue/vector-table.ts';
import { WordTable } from '../catalogue/word-table.ts';
import { openForReading } from '../platform/database.ts';
import { failureOf } from '../platform/failure.ts';
import { Searcher } from './searcher.ts';
import type { SearchReply, SearchRequest } from './search-thread.ts';

const database = openForReading((workerData as { path: string }).path);
const searcher = new Searcher(new WordTable(database), new VectorTable(database));

parentPort?.on('message', (request: SearchRequest | 'close') => {
  if (request === 'close') {
    database.close();
    parentPort?.close();
  } else parentPort?.postMessage(answer(request));
});

function answer({ method, args }: SearchRequest): SearchReply {
  try {
    const work = searcher[method].bind(searcher) as (...given: unknown[]) => unknown;
    return { result: work(...args) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}
