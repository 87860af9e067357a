import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { CompletionService } from '../../../completions/completion-service.ts';
import type { CompletionResult } from '../../../completions/types.ts';

const TTFT_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export class ApiMetrics {
  readonly registry = new Registry();
  readonly #requests = this.#counter('kvasir_requests_total', 'Requests by route and status', [
    'route',
    'status',
  ]);
  readonly #tokens = this.#counter('kvasir_tokens_total', 'Tokens by what became of them', ['kind']);
  readonly #chunks = this.#counter('kvasir_chunks_total', 'Chunks in prompts by where their KV came from', [
    'tier',
  ]);
  readonly #ttft = new Histogram({
    name: 'kvasir_ttft_seconds',
    help: 'From the request to the first token',
    buckets: TTFT_SECONDS,
    registers: [this.registry],
  });
  readonly #end: () => void;

  constructor(completions: Pick<CompletionService, 'onDone' | 'queue'>) {
    this.#end = completions.onDone((result) => this.#count(result));
    this.#gauge('kvasir_queue_waiting', 'Requests that wait for the model', () => completions.queue.waiting);
    this.#gauge('kvasir_queue_running', 'Requests that have the model', () => completions.queue.running);
    this.#gauge('process_resident_memory_bytes', "The process's memory", () => process.memoryUsage.rss());
  }

  close(): void {
    this.#end();
  }

  /** Counts requests by route; unknown paths are counted together. */
  readonly middleware: MiddlewareHandler = async (c, next) => {
    await next();
    const taken = matchedRoutes(c).findLast(({ method, path }) => method !== 'ALL' && path !== '/*');
    this.#requests.inc({ route: taken?.path ?? 'other', status: c.res.status });
  };

  #count({ made: { stats }, usage }: CompletionResult): void {
    this.#ttft.observe(stats.ttftMs.total / 1000);
    const kinds = {
      prompt: usage.promptTokens,
      cached: usage.cachedTokens,
      stored: usage.storedTokens,
      recomputed: stats.recomputedTokens,
      computed: stats.computedTokens,
      generated: usage.completionTokens,
    };
    for (const [kind, count] of Object.entries(kinds)) this.#tokens.inc({ kind }, count);
    for (const [tier, count] of Object.entries(stats.chunkHits)) this.#chunks.inc({ tier }, count);
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge(name: string, help: string, value: () => number): void {
    const collect = function (this: Gauge): void {
      this.set(value());
    };
    new Gauge({ name, help, collect, registers: [this.registry] });
  }
}
