import { Button, Group, PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../../src-shared/contract/models.ts';
import { useAction } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { Form } from '../../../ui/Form.tsx';
import { openDialog } from '../../../ui/dialog.ts';

/** Dialog for a new API key of a remote model. */
export function useServerKey(model: ModelEntry): () => void {
  const { t } = useTranslation('servers');
  return () =>
    openDialog(t('key.title', { name: model.name }), (close) => <KeyForm model={model} onDone={close} />);
}

function KeyForm({ model: { id, server }, onDone }: { model: ModelEntry; onDone: () => void }) {
  const { t } = useTranslation(['servers', 'common']);
  const [key, setKey] = useState('');
  const set = useAction('models.setServerKey');
  const keep = (value: string): void => set.mutate({ id, key: value }, { onSuccess: onDone });
  return (
    <Form gap="md" onSubmit={() => keep(key)}>
      <Text>{t(`facts.key.${server?.key ?? 'none'}`)}</Text>
      <PasswordInput
        data-autofocus
        label={t('add.key')}
        description={t('add.keyHelp')}
        inputWrapperOrder={['label', 'input', 'description']}
        autoComplete="off"
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      {set.error && <FailureAlert failure={set.error} />}
      <Group justify="flex-end">
        {server?.key !== 'none' && (
          <Button variant="default" disabled={set.isPending} onClick={() => keep('')}>
            {t('key.forget')}
          </Button>
        )}
        <Button type="submit" loading={set.isPending} disabled={key.trim() === ''}>
          {t('common:action.save')}
        </Button>
      </Group>
    </Form>
  );
}
