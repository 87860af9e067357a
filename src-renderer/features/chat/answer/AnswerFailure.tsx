import { Alert, Button, Group, Text } from '@mantine/core';
import { IconSearchOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Failure } from '../../../../src-shared/contract/common.ts';
import { failureWords } from '../../../i18n/failures.ts';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';

/** Why there is no answer, or only part of one. Finding nothing is not an error: the model can still be asked. */
export function AnswerFailure({
  failure,
  kept,
  onRegenerate,
}: {
  failure: Failure;
  /** Whether there is an answer despite the failure. */
  kept: boolean;
  onRegenerate: ((mayGuess?: boolean) => void) | undefined;
}) {
  const { t, i18n } = useTranslation('chat');
  if (failure.code !== 'NO_MATCH')
    return (
      <FailureAlert failure={failure} onRetry={kept ? undefined : onRegenerate && (() => onRegenerate())} />
    );
  const { message, advice } = failureWords(failure, i18n.language);
  return (
    <Alert color="gray" icon={<IconSearchOff />} role="status">
      <Text>{message}</Text>
      <Text c="dimmed" mt={4}>
        {advice}
      </Text>
      {onRegenerate && (
        <Group mt="xs">
          <Button size="compact-sm" variant="light" onClick={() => onRegenerate(true)}>
            {t('message.guess')}
          </Button>
        </Group>
      )}
    </Alert>
  );
}
