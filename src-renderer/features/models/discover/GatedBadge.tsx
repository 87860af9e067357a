import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HubEntry } from '../../../../src-shared/contract/hub.ts';

/** Marks a repository that requires access. */
export function GatedBadge({ gated }: Pick<HubEntry, 'gated'>) {
  const { t } = useTranslation('hub');
  if (gated === 'no') return null;
  return (
    <Badge variant="outline" color="yellow" styles={{ label: { color: 'var(--mantine-color-text)' } }}>
      {t(`gated.${gated}`)}
    </Badge>
  );
}
