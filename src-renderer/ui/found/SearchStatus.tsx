import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { FoundModels } from '../../../src-shared/contract/found-models.ts';

/** Progress of the search for models, or that it found none or stopped early. */
export function SearchStatus({ found }: { found: FoundModels | undefined }) {
  const { t } = useTranslation('found');
  if (!found || found.state === 'never') return null;
  const { state, lookedAt, cutShort, models } = found;
  const lines = [
    state === 'searching' && t('searching', { lookedAt }),
    state === 'done' && models.length === 0 && t('none'),
    cutShort && t('cutShort'),
  ].filter((line) => line !== false);
  return (
    <div role="status">
      {lines.map((line) => (
        <Text key={line} c="dimmed">
          {line}
        </Text>
      ))}
    </div>
  );
}
