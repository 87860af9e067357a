import type { CodeToken } from './highlight.ts';
import type { LanguageName } from './languages.ts';

export interface HighlightRequest {
  id: number;
  code: string;
  language: LanguageName;
}
export type HighlightResult = { id: number; lines: CodeToken[][] } | { id: number; error: string };

interface PendingHighlight {
  resolve: (lines: CodeToken[][]) => void;
  reject: (error: Error) => void;
}

/** Timeout of the worker in milliseconds: some code makes a grammar's regular expressions run forever. */
const PATIENCE_MS = 20_000;

const waiting = new Map<number, PendingHighlight>();
let worker: Worker | undefined;
let watch: ReturnType<typeof setTimeout> | undefined;
let lastId = 0;

/** Highlights code in a worker. Rejects on failure or timeout. */
export function coloured(code: string, language: LanguageName): Promise<CodeToken[][]> {
  worker ??= start();
  const id = ++lastId;
  worker.postMessage({ id, code, language } satisfies HighlightRequest);
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    if (waiting.size === 1) keepWatch();
  });
}

function start(): Worker {
  const started = new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' });
  started.onmessage = ({ data }: MessageEvent<HighlightResult>) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    keepWatch();
    if ('lines' in data) asked?.resolve(data.lines);
    else asked?.reject(new Error(data.error));
  };
  started.onerror = ({ message }) => giveUp(message);
  return started;
}

function keepWatch(): void {
  clearTimeout(watch);
  if (waiting.size > 0) watch = setTimeout(() => giveUp('it took too long'), PATIENCE_MS);
}

/** The next request starts a new worker. */
function giveUp(why: string): void {
  clearTimeout(watch);
  worker?.terminate();
  worker = undefined;
  for (const { reject } of waiting.values()) reject(new Error(why));
  waiting.clear();
}
