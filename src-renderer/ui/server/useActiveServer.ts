import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import type { ServerFacts } from '../../../src-shared/contract/servers.ts';
import { useCall } from '../../client/context.tsx';

/** The server of the active model, and the model's name there; undefined for local models. */
export function useActiveServer(): { name: string; server: ServerFacts } | undefined {
  const { data: models = [] } = useCall('models.list');
  const active = models.find(({ role, active: inUse }: ModelEntry) => role === 'chat' && inUse);
  return active?.server ? { name: active.name, server: active.server } : undefined;
}
