import { KvasirError } from '../../src-shared/errors.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Gate } from '../platform/gate.ts';

interface Parts<M> {
  /** The source of the model; ModelSource implements it. */
  models: { current(): Promise<M>; readonly active: M | undefined };
  gate: Gate;
}

interface Turn {
  signal: AbortSignal;
  /** A program asks and no person is waiting: people's questions go first. */
  forProgram?: boolean;
}

/**
 * Runs work with the model in use when its turn comes, concurrently with other answers. Stopping ends the wait immediately; work that has
 * started must end on its signal. ABORTED, and the reason why there is no model.
 */
export async function withModel<M, T>(
  { models, gate }: Parts<M>,
  { signal, forProgram = false }: Turn,
  work: (model: M) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  let begun = false;
  const turn = async (): Promise<T> => {
    for (;;) {
      await models.current(); // outside of the gate, which loading a model needs itself
      const done = await gate.foreground(
        async () => {
          throwIfAborted(signal);
          const { active } = models;
          if (!active) return undefined; // it was unloaded while this waited
          begun = true;
          return { value: await work(active) };
        },
        { shared: true, forProgram, signal },
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
    signal.removeEventListener('abort', onStop);
  }
}
