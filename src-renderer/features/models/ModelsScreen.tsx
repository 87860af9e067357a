import { Button, Loader, Stack, Tabs, Text, Title } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useRoute } from 'wouter';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import { useCall } from '../../client/context.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { Page } from '../../ui/Page.tsx';
import { PrecomputePlan } from '../../ui/PrecomputePlan.tsx';
import { CalibrationCard } from './CalibrationCard.tsx';
import { AddModel } from './AddModel.tsx';
import { Discover } from './discover/Discover.tsx';
import { DISCOVER } from './discover/paths.ts';
import { DownloadList } from './DownloadList.tsx';
import { FoundModels } from './FoundModels.tsx';
import { ModelCard } from './ModelCard.tsx';
import { ModelDetails } from './ModelDetails.tsx';
import { ModelDrop } from './ModelDrop.tsx';
import { WatchingCard } from './WatchingCard.tsx';
import { useImport } from './useImport.ts';

/** The models of this machine, or those of a hub; both show running downloads. */
export default function ModelsScreen() {
  const { t } = useTranslation(['models', 'hub']);
  const [, navigate] = useLocation();
  const [atStart] = useRoute(DISCOVER);
  const [atRepository, opened] = useRoute<{ '*': string }>(`${DISCOVER}/*`);
  const importing = useImport();
  const discovering = atStart || atRepository;
  return (
    <ModelDrop onFiles={(files) => void importing.importFiles(files)}>
      <Page
        title={t('title')}
        subtitle={t(discovering ? 'hub:subtitle' : 'subtitle')}
        actions={<AddModel importing={importing} />}
      >
        <Tabs
          maw={920}
          keepMounted={false}
          value={discovering ? 'discover' : 'here'}
          onChange={(place) => navigate(place === 'discover' ? DISCOVER : '/models')}
        >
          <Stack gap="xl">
            <Tabs.List aria-label={t('hub:places')}>
              <Tabs.Tab value="here">{t('hub:here')}</Tabs.Tab>
              <Tabs.Tab value="discover">{t('hub:discover')}</Tabs.Tab>
            </Tabs.List>
            <DownloadList />
            <Tabs.Panel value="here">
              <OnThisMachine />
            </Tabs.Panel>
            <Tabs.Panel value="discover">
              <Discover repository={opened?.['*']} />
            </Tabs.Panel>
          </Stack>
        </Tabs>
      </Page>
    </ModelDrop>
  );
}

function OnThisMachine() {
  const { t } = useTranslation('models');
  const { data: models, error, refetch } = useCall('models.list');
  const [detailed, setDetailed] = useState<string>();
  const of = (role: ModelEntry['role']): ModelEntry[] => models?.filter((model) => model.role === role) ?? [];
  return (
    <Stack gap="xl">
      {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
      {!models && !error && <Loader aria-label={t('title')} />}
      {models && (
        <>
          <PrecomputePlan />
          <Section title={t('sections.chat')}>
            {of('chat').map((model) => (
              <ModelCard key={model.id} model={model} onDetails={() => setDetailed(model.id)} />
            ))}
            <Text c="dimmed">{t('add.drop')}</Text>
          </Section>
          {(['embedding', 'reranker'] as const).map((role) => (
            <Section key={role} title={t(`sections.${role}`)}>
              {of(role).map((model) => (
                <ModelCard key={model.id} model={model} onDetails={() => setDetailed(model.id)} />
              ))}
              {of(role).length === 0 && <Text c="dimmed">{t(`none.${role}`)}</Text>}
            </Section>
          ))}
          <FoundModels />
          <BlendingQuality />
        </>
      )}
      <ModelDetails id={detailed} onClose={() => setDetailed(undefined)} />
    </Stack>
  );
}

/** Measurements of blending, collapsed: they are not needed to choose a model. Open while one runs. */
function BlendingQuality() {
  const { t } = useTranslation('models');
  const [chosen, setChosen] = useState<boolean>();
  const { data: status } = useCall('calibration.get');
  const open = chosen ?? status?.running ?? false;
  return (
    <Stack gap="lg">
      <div>
        <Button
          variant="subtle"
          size="compact-sm"
          ml={-8}
          aria-expanded={open}
          leftSection={open ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
          onClick={() => setChosen(!open)}
        >
          {t('quality.title')}
        </Button>
        <Text c="dimmed">{t('quality.help')}</Text>
      </div>
      {open && (
        <>
          <CalibrationCard />
          <WatchingCard />
        </>
      )}
    </Stack>
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
