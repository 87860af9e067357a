import { Anchor, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { IconArrowLeft, IconExternalLink } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { HubInfo, HubRepository } from '../../../../src-shared/contract/hub.ts';
import { useCall } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import { HubResponse } from './HubResponse.tsx';
import { GatedBadge } from './GatedBadge.tsx';
import { FileRow } from './FileRow.tsx';
import { GatedAccess } from './GatedAccess.tsx';
import { DISCOVER } from './paths.ts';
import { useEntryFacts } from './useEntryFacts.ts';
import classes from './Discover.module.css';

/** A repository of the hub: facts about its model, and its quantisations. */
export function RepositoryPage({ repository, hub }: { repository: string; hub: HubInfo }) {
  const { t } = useTranslation('hub');
  const response = useCall('hub.repository', { repository });
  return (
    <Stack gap="lg">
      <Button
        component={Link}
        href={DISCOVER}
        variant="subtle"
        size="xs"
        w="fit-content"
        leftSection={<IconArrowLeft size={16} />}
      >
        {t('back')}
      </Button>
      <HubResponse title={repository} host={hub.host} response={response}>
        {response.data && <Known repository={response.data} hub={hub} />}
      </HubResponse>
    </Stack>
  );
}

function Known({ repository, hub }: { repository: HubRepository; hub: HubInfo }) {
  const { t } = useTranslation('hub');
  const { failure, files, others } = repository;
  const measured = files.some(({ speed }) => speed.reading !== null || speed.writing !== null);
  return (
    <>
      <About repository={repository} />
      {failure?.code === 'HUB_GATED' ? (
        <GatedAccess repository={repository} hub={hub} />
      ) : (
        failure && <FailureAlert failure={failure} />
      )}
      <Text size="md" fw={600} component="h3" m={0}>
        {t('files')}
      </Text>
      {files.length === 0 && <Text>{t('filesNone')}</Text>}
      <Stack gap={8} component="ul">
        {files.map((file) => (
          <FileRow key={file.path} repository={repository} file={file} />
        ))}
      </Stack>
      {measured && <Text c="dimmed">{t('speedFrom')}</Text>}
      {others.length > 0 && (
        <details>
          <summary className={classes.summary}>{t('others', { count: others.length })}</summary>
          {others.map(({ path, kind }) => (
            <Text key={path} style={{ overflowWrap: 'anywhere' }}>
              {path}: {t(`other.${kind}`)}
            </Text>
          ))}
        </details>
      )}
    </>
  );
}

function About({ repository }: { repository: HubRepository }) {
  const { t } = useTranslation(['hub', 'common', 'models', 'found']);
  const format = useFormat();
  const { role, gated, page, header } = repository;
  const facts = useEntryFacts({
    ...repository,
    ...(header && { architecture: header.architecture, parameterCount: header.parameterCount }),
  });
  const context = header && t('context', { amount: format.number(header.contextTrain) });
  const runs = header?.unsupportedReason === '' && role === 'chat';
  return (
    <Stack gap={6}>
      <Group gap="xs">
        {role !== null && <Badge color="gray">{t(`role.${role}`)}</Badge>}
        {runs && <Badge>{t(header.obstacle ? 'found:notBlended' : 'found:blended')}</Badge>}
        <GatedBadge gated={gated} />
        <Anchor href={page} target="_blank" rel="noopener noreferrer">
          {t('page')} <IconExternalLink size={14} aria-hidden style={{ verticalAlign: '-2px' }} />
        </Anchor>
      </Group>
      <Text c="dimmed">{[...facts, context].filter(Boolean).join(' · ')}</Text>
      {header?.obstacle && (
        <Text>{t(`common:notBlended.${header.obstacle}`, { name: repository.repository })}</Text>
      )}
      {header?.baseModel && <Text>{t('models:baseModel')}</Text>}
      {header && role === 'chat' && header.unsupportedReason !== '' && (
        <Text c="var(--kv-danger)">{t('models:unsupported', { reason: header.unsupportedReason })}</Text>
      )}
      {role === 'other' && <Text>{t('notUsed')}</Text>}
    </Stack>
  );
}
