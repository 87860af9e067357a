import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Failure } from '../../src-shared/contract/common.ts';

/** A failure where it belongs on the page: what happened, why, what to do. */
export function FailureAlert({
  failure,
  onRetry,
}: {
  failure: Pick<Failure, 'message' | 'advice'>;
  onRetry?: (() => void) | undefined;
}) {
  const { t } = useTranslation();
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} role="alert">
      <Text size="sm">{failure.message}</Text>
      {failure.advice !== '' && (
        <Text size="sm" c="dimmed" mt={4}>
          {failure.advice}
        </Text>
      )}
      {onRetry && (
        <Group mt="xs">
          <Button size="compact-sm" variant="light" color="red" onClick={onRetry}>
            {t('action.retry')}
          </Button>
        </Group>
      )}
    </Alert>
  );
}
