import type { CodeToken } from './highlight.ts';
import type { LanguageName } from './languages.ts';

export interface ToColour {
  id: number;
  code: string;
  language: LanguageName;
}
export type Coloured = { id: number; lines: CodeToken[][] } | { id: number; error: string };

interface Waiting {
  resolve: (lines: CodeToken[][]) => void;
  reject: (error: Error) => void;
}

const waiting = new Map<number, Waiting>();
let worker: Worker | undefined;
let lastId = 0;

/** Colours code away from the window's thread. */
export function coloured(code: string, language: LanguageName): Promise<CodeToken[][]> {
  worker ??= start();
  const id = ++lastId;
  worker.postMessage({ id, code, language } satisfies ToColour);
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function start(): Worker {
  const started = new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' });
  started.onmessage = ({ data }: MessageEvent<Coloured>) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if ('lines' in data) asked?.resolve(data.lines);
    else asked?.reject(new Error(data.error));
  };
  started.onerror = ({ message }) => {
    for (const { reject } of waiting.values()) reject(new Error(message));
    waiting.clear();
  };
  return started;
}
