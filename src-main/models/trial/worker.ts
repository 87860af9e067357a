/**
 * The process in which a model file is tried. libllama trusts a file's header, and ends its process by what it did not expect:
 * what ends this one costs nothing but the trial.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KvasirError } from '../../../src-shared/errors.ts';
import { Engine } from '../../engine/engine.ts';
import { failureOf } from '../../platform/failure.ts';
import type { TrialReply, TrialRequest } from './protocol.ts';

/** For two tokens, once the weights are in memory. A header can keep the engine going for ever. */
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
        'The file may be damaged; fetch it again.',
      );
    });
    await Promise.race([pass(), late]);
    send({ failure: null });
  } catch (error) {
    send({ failure: failureOf(error) });
  }
}

/** Gives what has it compute something. */
async function load({ path, role, threads, device, packs }: TrialRequest): Promise<() => Promise<unknown>> {
  const engine = Engine.open();
  for (const pack of packs) engine.loadPack(pack);
  if (role === 'embedding') {
    const embedder = await engine.loadEmbedder(path, { threads, device });
    return () => embedder.embed(['.']);
  }
  const model = await engine.loadModel(path, { threads, device });
  return () => model.tryOut();
}

function send(reply: TrialReply): void {
  process.send?.(reply);
}
