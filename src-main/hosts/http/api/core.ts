import type { ModelEntry } from '../../../../src-shared/contract/models.ts';
import type { CompletionService } from '../../../completions/completion-service.ts';
import type { VectorService } from '../../../completions/vector-service.ts';
import type { SentDocuments } from '../../../library/sent-documents.ts';
import type { Logger } from '../../../platform/logger.ts';

/** Dependencies of the routes. */
export interface ApiCore {
  completions: CompletionService;
  vectors: VectorService;
  documents: Pick<SentDocuments, 'read'>;
  /** All models, whether in use or not. */
  models: () => ModelEntry[];
  mcp: (request: Request) => Promise<Response>;
  log: Logger;
  /** Splits a client's text into chunks; absent: no splitting. */
  separator?: string | undefined;
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
