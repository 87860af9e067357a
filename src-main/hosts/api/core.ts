import type { Context } from 'hono';
import type { CompletionService } from '../../completions/completion-service.ts';
import type { VectorService } from '../../completions/vector-service.ts';
import type { SentDocuments } from '../../library/sent-documents.ts';
import type { Logger } from '../../platform/logger.ts';
import { failureOf } from './errors.ts';
import { eventStream, type Send } from './events.ts';

/** What routes need. */
export interface ApiCore {
  completions: CompletionService;
  vectors: VectorService;
  documents: Pick<SentDocuments, 'read'>;
  /** Answers requests of MCP. */
  mcp: (request: Request) => Promise<Response>;
  log: Logger;
  /** What cuts a client's text into chunks; absent: nothing does. */
  separator?: string | undefined;
  /** Of the program. */
  version: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** As eventStream has it. */
  keepAliveMs?: number | undefined;
}

/** As OpenAI tells times. */
export function seconds(clock: () => number): number {
  return Math.floor(clock() / 1000);
}

/** Does something the first time only. */
export function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}

/** Aborted with the request, or when its stream has no reader any more. */
export function abortOf(signal: AbortSignal): AbortController & { any: AbortSignal } {
  const controller = new AbortController();
  return Object.assign(controller, { any: AbortSignal.any([signal, controller.signal]) });
}

/** A stream of OpenAI's events. */
export function streamed(
  c: Context,
  { log, keepAliveMs }: Pick<ApiCore, 'log' | 'keepAliveMs'>,
  work: (send: Send, signal: AbortSignal) => Promise<void>,
): Promise<Response> {
  const abort = abortOf(c.req.raw.signal);
  return eventStream({
    work: (send) => work(send, abort.any),
    failed: (error, send) => send(failureOf(error, log, c.get('requestId')).body),
    last: '[DONE]',
    onLeft: () => abort.abort(),
    keepAliveMs,
  });
}
