import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import type { ServerFacts } from '../../../src-shared/contract/servers.ts';
import { useCall } from '../../client/context.tsx';

/** The server that the model in use is on, and what the model is called; undefined where it is on this computer's own engine. */
export function useActiveServer(): { name: string; server: ServerFacts } | undefined {
  const { data: models = [] } = useCall('models.list');
  const active = models.find(({ role, active: inUse }: ModelEntry) => role === 'chat' && inUse);
  return active?.server ? { name: active.name, server: active.server } : undefined;
}
