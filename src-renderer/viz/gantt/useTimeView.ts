import { useMemo, useState } from 'react';
import { panned, wholeView, zoomed, type LayerTimes, type TimeView } from './layout.ts';

/** The span of time a Gantt chart shows, and what changes it. */
export interface TimeControl {
  view: TimeView;
  zoomed: boolean;
  /** Below 1: closer. Around a time; absent: around the middle. */
  zoom: (factor: number, around?: number) => void;
  /** By a share of what is shown. */
  pan: (share: number) => void;
  reset: () => void;
}

export function useTimeView(layers: readonly LayerTimes[]): TimeControl {
  const whole = useMemo(() => wholeView(layers), [layers]);
  const [chosen, setChosen] = useState<TimeView | null>(null);
  const view = chosen ?? whole;
  return {
    view,
    zoomed: view.end - view.start < whole.end - whole.start,
    zoom: (factor, around) =>
      setChosen((old) => {
        const now = old ?? whole;
        return zoomed(now, whole, factor, around ?? (now.start + now.end) / 2);
      }),
    pan: (share) => setChosen((old) => panned(old ?? whole, whole, share)),
    reset: () => setChosen(null),
  };
}
