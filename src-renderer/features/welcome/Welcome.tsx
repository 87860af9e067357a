import { useCall } from '../../client/context.tsx';
import { FirstRun } from './FirstRun.tsx';
import { Start } from './Start.tsx';

/** Shown in an empty conversation: at first it explains Kvasir on one screen, later it only suggests questions. */
export default function Welcome({ onAsk }: { onAsk: (question: string) => void }) {
  const { data: settings } = useCall('settings.get');
  if (!settings) return null;
  return settings.welcomed ? <Start onAsk={onAsk} /> : <FirstRun onAsk={onAsk} />;
}
