import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ShownFailure } from '../i18n/failures.ts';
import { FailureAlert } from './FailureAlert.tsx';
import { Form } from './Form.tsx';

/** The form of a dialog: its fields, the failure of the last try, and buttons to cancel and to confirm. */
export function DialogForm({
  children,
  note,
  action: { error, isPending },
  confirm,
  disabled = false,
  onSubmit,
  onCancel,
}: {
  children: ReactNode;
  /** Shown beside the buttons. */
  note?: ReactNode;
  action: { error: ShownFailure | null; isPending: boolean };
  /** Label of the button that submits; absent: "Save". */
  confirm?: string;
  disabled?: boolean;
  onSubmit: () => void;
  onCancel: () => void;
}) {
  const { t } = useTranslation();
  return (
    <Form gap="md" onSubmit={onSubmit}>
      {children}
      {error && <FailureAlert failure={error} />}
      <Group justify="flex-end">
        {note}
        <Button variant="default" onClick={onCancel}>
          {t('action.cancel')}
        </Button>
        <Button type="submit" loading={isPending} disabled={disabled}>
          {confirm ?? t('action.save')}
        </Button>
      </Group>
    </Form>
  );
}
