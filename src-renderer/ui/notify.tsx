import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import i18next from 'i18next';
import { failureWords, shownFailure } from '../i18n/failures.ts';
import { joined } from '../i18n/joined.ts';

const UNDO_MS = 10_000;

/** The name of the cross, for screen readers. */
function closable() {
  return { withBorder: true, closeButtonProps: { 'aria-label': i18next.t('action.close') } };
}

/** Tells of a failure: what happened and why, then what to do. */
export function notifyFailure(error: unknown, title: string): void {
  const { message, advice, detail } = failureWords(shownFailure(error), i18next.language);
  notifications.show({
    color: 'red',
    title,
    message: joined([message, advice, detail]),
    autoClose: UNDO_MS,
    ...closable(),
  });
}

export function notifyInfo(message: string, title?: string): void {
  notifications.show({ ...(title !== undefined && { title }), message, ...closable() });
}

/** Tells what was done and offers to take it back for ten seconds. */
export function notifyUndo(message: string, undoLabel: string, undo: () => void): void {
  const id = notifications.show({
    ...closable(),
    autoClose: UNDO_MS,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
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
