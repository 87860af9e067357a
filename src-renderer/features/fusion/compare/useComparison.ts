import { useRef, useState } from 'react';
import type { Comparison } from '../../../../src-shared/comparison.ts';
import type { InputOf } from '../../../../src-shared/contract/contract.ts';
import type { KvasirError } from '../../../../src-shared/errors.ts';
import { useAction, useCall, useEvent } from '../../../client/context.tsx';
import { notifyFailureAs } from '../../../ui/notify.tsx';
import { leftMs } from './estimate.ts';

export interface CompareProgress {
  done: number;
  total: number;
  /** null if too little is done to tell. */
  leftMs: number | null;
}

export interface ComparisonState {
  /** undefined while loading; null: there is none. */
  comparison: Comparison | null | undefined;
  error: KvasirError | null;
  retry: () => void;
  /** Processed prompts while a comparison of this answer is running; null otherwise. */
  progress: CompareProgress | null;
  start: (wish: Omit<InputOf<'chat.compare'>, 'answerId'>) => void;
  stop: () => void;
  stopping: boolean;
}

const NOT_BEGUN: CompareProgress = { done: 0, total: 0, leftMs: null };

/** The comparison stored with an answer, and the progress of a new one, even one started by another window. */
export function useComparison(answerId: string, failedTitle: string): ComparisonState {
  const { data: status, error, refetch } = useCall('chat.comparison', { answerId });
  const { mutate, isPending } = useAction('chat.compare');
  const stop = useAction('chat.stopCompare');
  const [progress, setProgress] = useState(NOT_BEGUN);
  const running = isPending || status?.running === true;
  const begun = useRef({ at: 0, done: Infinity });
  useEvent('compare.progress', ({ answerId: of, done, total }) => {
    if (of !== answerId) return;
    if (!running) void refetch();
    // A new run starts over.
    if (done < begun.current.done) begun.current = { at: performance.now(), done };
    const since = begun.current;
    const elapsed = performance.now() - since.at;
    setProgress({ done, total, leftMs: leftMs(done - since.done, total - since.done, elapsed) });
  });
  return {
    comparison: status?.comparison,
    error,
    retry: () => void refetch(),
    progress: running ? progress : null,
    start: (wish) => {
      setProgress(NOT_BEGUN);
      mutate(
        { answerId, ...wish },
        {
          onSettled: () => void refetch(),
          onError: (failure) => {
            if (failure.code !== 'ABORTED') notifyFailureAs(failedTitle, failure);
          },
        },
      );
    },
    stop: () => stop.mutate({}, { onSettled: () => void refetch() }),
    stopping: stop.isPending,
  };
}
