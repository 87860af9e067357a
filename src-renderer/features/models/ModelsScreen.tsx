import { Loader, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import { useCall } from '../../client/context.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { Page } from '../../ui/Page.tsx';
import { CalibrationCard } from './CalibrationCard.tsx';
import { AddModel } from './AddModel.tsx';
import { DownloadList } from './DownloadList.tsx';
import { FoundModels } from './FoundModels.tsx';
import { ModelCard } from './ModelCard.tsx';
import { ModelDetails } from './ModelDetails.tsx';
import { ModelDrop } from './ModelDrop.tsx';
import { WatchingCard } from './WatchingCard.tsx';
import { useImport } from './useImport.tsx';

export default function ModelsScreen() {
  const { t } = useTranslation('models');
  const { data: models, error, refetch } = useCall('models.list');
  const [detailed, setDetailed] = useState<string>();
  const importing = useImport();
  const of = (role: ModelEntry['role']): ModelEntry[] => models?.filter((model) => model.role === role) ?? [];
  return (
    <ModelDrop onFiles={(files) => void importing.importFiles(files)}>
      <Page title={t('title')} subtitle={t('subtitle')} actions={<AddModel importing={importing} />}>
        <Stack gap="xl" maw={920}>
          {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
          {!models && !error && <Loader aria-label={t('title')} />}
          <DownloadList />
          {models && (
            <>
              <Section title={t('sections.chat')}>
                {of('chat').map((model) => (
                  <ModelCard key={model.id} model={model} onDetails={() => setDetailed(model.id)} />
                ))}
                <Text size="sm" c="dimmed">
                  {t('add.drop')}
                </Text>
              </Section>
              <Section title={t('sections.embedding')}>
                {of('embedding').map((model) => (
                  <ModelCard key={model.id} model={model} onDetails={() => setDetailed(model.id)} />
                ))}
                {of('embedding').length === 0 && (
                  <Text size="sm" c="dimmed">
                    {t('embeddingNone')}
                  </Text>
                )}
              </Section>
              <FoundModels />
              <CalibrationCard />
              <WatchingCard />
            </>
          )}
        </Stack>
        <ModelDetails id={detailed} onClose={() => setDetailed(undefined)} />
      </Page>
    </ModelDrop>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Title order={2} size="h5">
        {title}
      </Title>
      {children}
    </Stack>
  );
}
