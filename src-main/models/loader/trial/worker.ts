/**
 * The process in which a model file is tested. libllama trusts a file's header and aborts its process on anything
 * unexpected: here that costs only the test.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { Engine } from '../../../engine/engine.ts';
import { failureOf } from '../../../platform/failure.ts';
import type { TrialReply, TrialRequest } from './protocol.ts';

/** Time limit for two tokens, once the weights are in memory. A bad header can keep the engine busy forever. */
const PASS_MS = 120_000;

process.on('message', (request: TrialRequest) => void answer(request));
process.on('disconnect', () => process.exit(0));

async function answer(request: TrialRequest): Promise<void> {
  try {
    const pass = await load(request);
    const late = sleep(PASS_MS, undefined, { ref: false }).then(() => {
      throw new KvasirError(
        'MODEL_INVALID',
        `${request.name} did not compute two tokens within ${PASS_MS / 1000} seconds.`,
        'The file may be damaged; download it again.',
      );
    });
    await Promise.race([pass(), late]);
    send({ failure: null });
  } catch (error) {
    send({ failure: failureOf(error) });
  }
}

/** Returns a function that runs a first pass. */
async function load({ path, role, threads, device, packs }: TrialRequest): Promise<() => Promise<unknown>> {
  const engine = Engine.open();
  for (const pack of packs) engine.loadPack(pack);
  if (role !== 'chat') {
    const embedder = await engine.loadEmbedder(path, { threads, device });
    return () => (role === 'reranker' ? embedder.rank('.', ['.']) : embedder.embed(['.']));
  }
  const model = await engine.loadModel(path, { threads, device });
  return () => model.tryOut();
}

function send(reply: TrialReply): void {
  process.send?.(reply);
}
