import { useTranslation } from 'react-i18next';
import { useCall } from '../client/context.tsx';

/** Why nothing is computed ahead, where the passages of the model that answers cannot be blended; undefined where they can. */
export function useNotBlended(): string | undefined {
  const { t } = useTranslation('common');
  const { data: models = [] } = useCall('models.list');
  const active = models.find(({ role, active: inUse }) => role === 'chat' && inUse);
  return active?.obstacle ? t(`notBlended.${active.obstacle}`, { name: active.name }) : undefined;
}
