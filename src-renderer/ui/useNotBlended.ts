import { useTranslation } from 'react-i18next';
import { useCall } from '../client/context.tsx';

/** Why nothing is precomputed if the active model cannot blend passages; undefined if it can. */
export function useNotBlended(): string | undefined {
  const { t } = useTranslation('common');
  const { data: models = [] } = useCall('models.list');
  const active = models.find(({ role, active: inUse }) => role === 'chat' && inUse);
  return active?.obstacle ? t(`notBlended.${active.obstacle}`, { name: active.name }) : undefined;
}
