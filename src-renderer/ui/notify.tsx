import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Failure } from '../../src-shared/contract/common.ts';

const UNDO_MS = 10_000;

/** Tells of a failure: what happened and why, then what to do. */
export function notifyFailure(error: unknown, title: string): void {
  const { message, advice } = failureOf(error);
  notifications.show({
    color: 'red',
    title,
    message: advice === '' ? message : `${message} ${advice}`,
    autoClose: UNDO_MS,
    withBorder: true,
  });
}

export function notifyInfo(message: string, title?: string): void {
  notifications.show({ ...(title !== undefined && { title }), message, withBorder: true });
}

/** Tells what was done and offers to take it back for ten seconds. */
export function notifyUndo(message: string, undoLabel: string, undo: () => void): void {
  const id = notifications.show({
    withBorder: true,
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

function failureOf(error: unknown): Pick<Failure, 'message' | 'advice'> {
  if (error instanceof KvasirError) return error;
  return { message: error instanceof Error ? error.message : String(error), advice: '' };
}
