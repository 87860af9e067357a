import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../lib/machine.ts';
import type { RequestTimes, ServeMethod } from './methods.ts';
import type { ServeRequest } from './workload.ts';

export interface ServedRequest extends RequestTimes {
  /** Milliseconds since the first request: of arrival, and of the answer. */
  came: number;
  ended: number;
}

/** One request after another, after a warm-up that is not counted: medians. */
export async function alone(method: ServeMethod, requests: readonly ServeRequest[]): Promise<RequestTimes> {
  const runs: RequestTimes[] = [];
  for (const request of requests) {
    await method.forget();
    runs.push(await method.serve(request, performance.now()));
  }
  const counted = runs.slice(1);
  return {
    ttftMs: median(counted.map(({ ttftMs }) => ttftMs)),
    totalMs: median(counted.map(({ totalMs }) => totalMs)),
    tokens: median(counted.map(({ tokens }) => tokens)),
  };
}

/** Sends requests at their arrival times, regardless of pending ones; `atOnce` run concurrently, the others wait in order. */
export async function openLoop(
  method: ServeMethod,
  requests: readonly ServeRequest[],
  atOnce: number,
): Promise<ServedRequest[]> {
  const start = performance.now();
  const waiting: (() => void)[] = [];
  let running = 0;
  const one = async (request: ServeRequest): Promise<ServedRequest> => {
    await sleep(Math.max(0, request.time * 1000 - (performance.now() - start)));
    const began = performance.now();
    if (running >= atOnce) await new Promise<void>((go) => waiting.push(go));
    else running++;
    try {
      return servedOf(await method.serve(request, began), began - start);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
  return Promise.all(requests.map(one));
}

/** Runs this many clients; each asks again as soon as it is answered, until all requests are done. */
export async function closedLoop(
  method: ServeMethod,
  requests: readonly ServeRequest[],
  clients: number,
): Promise<ServedRequest[]> {
  const start = performance.now();
  const left = [...requests];
  const served: ServedRequest[] = [];
  const client = async (): Promise<void> => {
    for (let request; (request = left.shift());) {
      const began = performance.now();
      served.push(servedOf(await method.serve(request, began), began - start));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return served;
}

function servedOf(answer: RequestTimes, came: number): ServedRequest {
  return { ...answer, came, ended: came + answer.totalMs };
}
