import { Button, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import i18next from 'i18next';
import { failureWords, shownFailure } from '../i18n/failures.ts';
import { joinSentences } from '../i18n/join-sentences.ts';
import { hasRemedy, Remedy } from './Remedy.tsx';

const UNDO_MS = 10_000;

/** Accessible name of the close button. */
function closable() {
  return { withBorder: true, closeButtonProps: { 'aria-label': i18next.t('action.close') } };
}

/** Shows a failure: what happened and why, then what to do. It stays open if it offers an action. */
export function notifyFailure(error: unknown): void {
  notifyFailureAs(i18next.t('error.title'), error);
}

/** A failure with a title that says what it is about. */
export function notifyFailureAs(title: string, error: unknown): void {
  const failure = shownFailure(error);
  const { message, advice, detail } = failureWords(failure, i18next.language);
  notifications.show({
    color: 'red',
    title,
    message: (
      <Stack gap="xs" align="flex-start">
        {joinSentences([message, advice, detail])}
        <Remedy failure={failure} />
      </Stack>
    ),
    autoClose: hasRemedy(failure) ? false : UNDO_MS,
    ...closable(),
  });
}

export function notifyInfo(message: string): void {
  notifications.show({ message, ...closable() });
}

/** Shows what was done and offers to undo it for ten seconds. */
export function notifyUndo(message: string, undoLabel: string, undo: () => void): void {
  const id = notifications.show({
    ...closable(),
    autoClose: UNDO_MS,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text>{message}</Text>
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          {undoLabel}
        </Button>
      </Group>
    ),
  });
}
