import { ActionIcon } from '@mantine/core';
import { IconArrowUp, IconPlayerStopFilled } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../../ui/IconButton.tsx';
import type { Question } from './useQuestion.ts';

/** Stops the answer being generated, and sends or queues the draft. */
export function SendButtons({
  question: { text, waits, canSend, send },
  busy,
  onStop,
}: {
  question: Question;
  busy: boolean;
  onStop: () => void;
}) {
  const { t } = useTranslation('chat');
  return (
    <>
      {busy && (
        <IconButton
          label={t('help.stop')}
          color="kvasir"
          size={34}
          radius="xl"
          variant={text === '' ? 'filled' : 'light'}
          onClick={onStop}
        >
          <IconPlayerStopFilled size={16} />
        </IconButton>
      )}
      {(!busy || text !== '') && (
        <ActionIcon
          color="kvasir"
          size={34}
          radius="xl"
          variant="filled"
          aria-label={t(waits ? 'composer.sendLater' : 'composer.send')}
          disabled={!canSend}
          onClick={send}
        >
          <IconArrowUp size={19} />
        </ActionIcon>
      )}
    </>
  );
}
