import { Alert, Anchor } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { LibraryInfo } from '../../../src-shared/contract/libraries.ts';
import { useAction, useCall } from '../../client/context.tsx';

/** In smaller libraries, keyword search finds nearly everything. */
const LARGE_CHUNKS = 500;

/** Suggests an embedding model for a large library. Once dismissed, it does not return. */
export function EmbeddingHint({ library }: { library: LibraryInfo }) {
  const { t } = useTranslation(['library', 'common']);
  const { data: settings } = useCall('settings.get');
  const update = useAction('settings.update');
  const suggested = settings?.suggestEmbedding === true && settings.embeddingModel === undefined;
  if (!suggested || library.sample || library.chunks < LARGE_CHUNKS) return null;
  return (
    <Alert
      mb="sm"
      icon={<IconSearch size={18} />}
      title={t('embeddingHint.title')}
      withCloseButton
      closeButtonLabel={t('common:action.close')}
      onClose={() => update.mutate({ suggestEmbedding: false })}
    >
      {t('embeddingHint.text')}{' '}
      <Anchor component={Link} href="/models/discover">
        {t('embeddingHint.link')}
      </Anchor>
    </Alert>
  );
}
