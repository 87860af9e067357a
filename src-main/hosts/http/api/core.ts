import type { Context } from 'hono';
import type { ModelEntry } from '../../../../src-shared/contract/models.ts';
import type { CompletionService } from '../../../completions/completion-service.ts';
import type { VectorService } from '../../../completions/vector-service.ts';
import type { SentDocuments } from '../../../library/sent-documents.ts';
import type { Logger } from '../../../platform/logger.ts';
import { failureOf } from '../errors.ts';
import { eventStream, type EventSender } from './events.ts';

/** Dependencies of the routes. */
export interface ApiCore {
  completions: CompletionService;
  vectors: VectorService;
  documents: Pick<SentDocuments, 'read'>;
  /** All models, whether in use or not. */
  models: () => ModelEntry[];
  /** Handles MCP requests. */
  mcp: (request: Request) => Promise<Response>;
  log: Logger;
  /** Splits a client's text into chunks; absent: no splitting. */
  separator?: string | undefined;
  /** The program's version. */
  version: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** See eventStream. */
  keepAliveMs?: number | undefined;
}

/** A timestamp in OpenAI's format, in seconds. */
export function seconds(clock: () => number): number {
  return Math.floor(clock() / 1000);
}

/** Runs `work` on the first call only. */
export function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}

/** Aborted with the request, or when its stream has lost its reader. */
export function abortOf(signal: AbortSignal): AbortController & { any: AbortSignal } {
  const controller = new AbortController();
  return Object.assign(controller, { any: AbortSignal.any([signal, controller.signal]) });
}

/** A stream of OpenAI's events. */
export function streamed(
  c: Context,
  { log, keepAliveMs }: Pick<ApiCore, 'log' | 'keepAliveMs'>,
  work: (send: EventSender, signal: AbortSignal) => Promise<void>,
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
