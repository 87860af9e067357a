import { Alert, Button, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { IconWifiOff } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { KvasirError } from '../../../../src-shared/errors.ts';
import { failureWords, type ShownFailure } from '../../../i18n/failures.ts';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';

/** A heading, and below it the hub's response, its failure, or a loading state. */
export function HubResponse({
  title,
  host,
  response: { data, error, isFetching, refetch },
  children,
}: {
  title: string;
  host: string;
  response: UseQueryResult<unknown, KvasirError>;
  children: ReactNode;
}) {
  const { t } = useTranslation('hub');
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Title>
      {error && <Refusal failure={error} onRetry={() => void refetch()} />}
      {isFetching && data === undefined && (
        <Group gap="xs" role="status">
          <Loader size="xs" />
          <Text c="dimmed">{t('asking', { host })}</Text>
        </Group>
      )}
      {children}
    </Stack>
  );
}

/** Being offline is not an error. */
function Refusal({ failure, onRetry }: { failure: ShownFailure; onRetry: () => void }) {
  const { t, i18n } = useTranslation();
  if (failure.code !== 'HUB_UNREACHABLE') return <FailureAlert failure={failure} onRetry={onRetry} />;
  return (
    <Alert color="gray" icon={<IconWifiOff />} role="status">
      <Group justify="space-between" wrap="nowrap">
        <Text>{failureWords(failure, i18n.language).message}</Text>
        <Button size="compact-sm" variant="default" flex="none" onClick={onRetry}>
          {t('action.retry')}
        </Button>
      </Group>
    </Alert>
  );
}
