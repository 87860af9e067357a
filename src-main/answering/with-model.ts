import { KvasirError } from '../../src-shared/errors.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Gate } from '../platform/gate.ts';
import type { WaitingPrompt } from './waiting-prompts.ts';

interface Parts<M> {
  /** The source of the model; ModelSource implements it. */
  models: { current(): Promise<M>; readonly active: M | undefined };
  gate: Gate;
}

interface Turn {
  signal: AbortSignal;
  /** A program asks and no person is waiting: people's questions go first. */
  forProgram?: boolean;
  /** Called if it has to wait: its prompt's chunks are loaded meanwhile, and it may go together with others that share them. */
  wait?: (() => WaitingPrompt) | undefined;
}

/**
 * Runs work with the model in use when its turn comes, concurrently with other answers. Stopping ends the wait immediately; work that has
 * started must end on its signal. ABORTED, and the reason why there is no model.
 */
export async function withModel<M, T>(
  { models, gate }: Parts<M>,
  { signal, forProgram = false, wait }: Turn,
  work: (model: M) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  let begun = false;
  let waiting: WaitingPrompt | undefined;
  const onWait = wait && (() => (waiting = wait()).atHand);
  const turn = async (): Promise<T> => {
    for (;;) {
      await models.current(); // outside of the gate, which loading a model needs itself
      const done = await gate.foreground(
        async () => {
          waiting?.end();
          throwIfAborted(signal);
          const { active } = models;
          if (!active) return undefined; // it was unloaded while this waited
          begun = true;
          return { value: await work(active) };
        },
        { shared: true, forProgram, signal, onWait },
      );
      if (done) return done.value;
    }
  };
  const stopped = Promise.withResolvers<never>();
  const onStop = (): void => {
    if (!begun) stopped.reject(new KvasirError('ABORTED', 'It was stopped before it started.'));
  };
  signal.addEventListener('abort', onStop, { once: true });
  try {
    return await Promise.race([turn(), stopped.promise]);
  } finally {
    waiting?.end();
    signal.removeEventListener('abort', onStop);
  }
}
