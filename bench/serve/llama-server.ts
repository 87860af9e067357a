import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import type { RequestTimes, ServeMethod } from './methods.ts';
import type { ServeRequest } from './workload.ts';

export interface LlamaServerOptions {
  binary: string;
  model: string;
  threads: number;
  /** Number of concurrent requests, and the tokens of each, prompt and answer. */
  slots: number;
  slotTokens: number;
  tokensOf: (request: ServeRequest) => Int32Array;
}

const POLL_MS = 50;

/**
 * llama.cpp's server with its default settings, except for its slots: it batches requests, and reuses the longest prefix in a slot or in
 * its memory cache. Prompts are token ids sent to its OpenAI route by the official client.
 */
export function llamaServer(options: LlamaServerOptions): ServeMethod {
  let running: { child: ChildProcess; client: OpenAI } | undefined;
  const close = async (): Promise<void> => {
    const { child } = running ?? {};
    running = undefined;
    if (!child) return;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    name: 'llama-server (prefix caching)',
    serve: async (request, began) => {
      if (!running) throw new Error('llama-server is not running.');
      return answered(running.client, options.tokensOf(request), request.answerTokens, began);
    },
    // The server caches prompts in memory, and no request can clear that cache.
    forget: async () => {
      await close();
      running = await start(options);
    },
    close,
  };
}

async function start({ binary, model, threads, slots, slotTokens }: LlamaServerOptions) {
  const port = await freePort();
  const args = [
    ...['--model', model, '--host', '127.0.0.1', '--port', String(port), '--threads', String(threads)],
    ...['--parallel', String(slots), '--ctx-size', String(slots * slotTokens), '--no-kv-unified'],
  ];
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told = (told + text).slice(-2000)));
  const origin = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${origin}/health`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`llama-server ended with ${child.exitCode}: ${told}`);
    await sleep(POLL_MS);
  }
  // A long prompt may take minutes, and errors must be visible.
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'none', maxRetries: 0, timeout: 3_600_000 });
  return { child, client };
}

async function answered(
  client: OpenAI,
  prompt: Int32Array,
  answerTokens: number,
  began: number,
): Promise<RequestTimes> {
  // llama.cpp's extensions, for which the client has no types.
  const body = {
    ...{ model: 'any', prompt: [...prompt], max_tokens: answerTokens, temperature: 0 },
    ...{
      stream: true as const,
      stream_options: { include_usage: true },
      ignore_eos: true,
      cache_prompt: true,
    },
  };
  let ttftMs = 0;
  let tokens = 0;
  for await (const { usage } of await client.completions.create(body)) {
    ttftMs ||= performance.now() - began;
    tokens = usage?.completion_tokens ?? tokens;
  }
  return { ttftMs, totalMs: performance.now() - began, tokens };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
