import { Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import i18next from 'i18next';
import type { ReactNode } from 'react';

interface Confirmation {
  title: string;
  /** What will happen, a paragraph each; false: does not apply. */
  text: readonly ReactNode[];
  /** A remark below the text. */
  note?: string;
  /** Label of the button that confirms. */
  confirm: string;
  /** What is confirmed deletes something. */
  danger?: boolean;
  onConfirm: () => void;
  onClose?: () => void;
}

/** Asks before something that has consequences. */
export function askToConfirm({
  title,
  text,
  note,
  confirm,
  danger = false,
  ...handlers
}: Confirmation): void {
  modals.openConfirmModal({
    title,
    children: (
      <Stack gap="xs">
        {text.map((line, i) => line !== false && <Text key={i}>{line}</Text>)}
        {note !== undefined && <Text c="dimmed">{note}</Text>}
      </Stack>
    ),
    labels: { confirm, cancel: i18next.t('action.cancel') },
    ...(danger && { confirmProps: { color: 'red.9' } }),
    ...handlers,
  });
}
