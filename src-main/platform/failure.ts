import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Failure } from '../../src-shared/contract/common.ts';

/** Any thrown value as shown to users and stored with a document, a job or an answer. */
export function failureOf(error: unknown): Failure {
  if (error instanceof KvasirError) {
    return { code: error.code, message: error.message, advice: error.advice };
  }
  return {
    code: 'ENGINE_FAILED',
    message: `Unexpected error: ${messageOf(error)}`,
    advice: 'Try again; if it happens again, report it with the log file.',
  };
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Any thrown value for the log: with its stack trace if it has one. */
export function traceOf(error: unknown): string {
  return error instanceof Error ? inSources(error.stack ?? error.message) : String(error);
}

/** Of files that the bundle consists of. A message may name others, which nobody must read for it. */
const BUNDLE = new URL('..', import.meta.url).href;
const PLACE = /(file:\/\/\/(?:[A-Z]:)?[^\s:]+\.js):(\d+):(\d+)/g;

/**
 * A stack with the lines of the bundle's sources, if the maps are beside it. Node's own support for them reads every map at every start: a
 * sixth of a short command.
 */
function inSources(stack: string): string {
  const maps = new Map<string, SourceMap>();
  return stack.replace(PLACE, (place, file: string, line: string, column: string) => {
    try {
      const url = new URL(file).href;
      if (!url.startsWith(BUNDLE)) return place;
      const map = maps.get(url) ?? mapOf(url);
      maps.set(url, map);
      const origin = map.findOrigin(Number(line), Number(column));
      if (!('fileName' in origin)) return place;
      return `${new URL(origin.fileName, url).href}:${origin.lineNumber}:${origin.columnNumber}`;
    } catch {
      return place; // a packed app has no maps
    }
  });
}

function mapOf(url: string): SourceMap {
  return new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')) as SourceMapPayload);
}
