import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { failureWords, type ShownFailure } from '../i18n/failures.ts';
import { hasRemedy, Remedy } from './Remedy.tsx';

/** A failure shown in place on the page: what happened, why, and what to do. */
export function FailureAlert({
  failure,
  onRetry,
}: {
  failure: ShownFailure;
  onRetry?: (() => void) | undefined;
}) {
  const { t, i18n } = useTranslation();
  const { message, advice, detail } = failureWords(failure, i18n.language);
  return (
    <Alert color="red" icon={<IconAlertTriangle />} role="alert">
      <Text fw={500}>{message}</Text>
      {advice !== '' && <Text mt={4}>{advice}</Text>}
      {detail !== '' && (
        <Text size="xs" mt={4} lang="en">
          {detail}
        </Text>
      )}
      {(onRetry ?? hasRemedy(failure)) && (
        <Group mt="xs">
          <Remedy failure={failure} />
          {onRetry && (
            <Button size="compact-sm" variant="light" color="red" onClick={onRetry}>
              {t('action.retry')}
            </Button>
          )}
        </Group>
      )}
    </Alert>
  );
}
