import { Button, Group, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import { useAction, useCall, useClient } from '../../client/context.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { openDialog } from '../../ui/dialog.ts';
import { notifyFailure } from '../../ui/notify.tsx';

/** Adds a LoRA adapter to a model, after showing the cost, and removes it. */
export function useAdapter(model: ModelEntry): { choose: () => void; takeOff: () => void } {
  const { t } = useTranslation('models');
  const change = useAction('models.setAdapter');
  return {
    choose: () =>
      openDialog(t('adapter.title', { name: model.name }), (close) => (
        <AdapterForm model={model} onDone={close} />
      )),
    takeOff: () => change.mutate({ id: model.id, path: null }, { onError: notifyFailure }),
  };
}

function AdapterForm({ model: { id }, onDone }: { model: ModelEntry; onDone: () => void }) {
  const { t } = useTranslation('models');
  const client = useClient();
  const { data: info } = useCall('app.info');
  const [path, setPath] = useState('');
  const change = useAction('models.setAdapter');
  const browse = async (): Promise<void> => {
    const { paths } = await client.call('app.choosePaths', { kind: 'model' });
    if (paths[0] !== undefined) setPath(paths[0]);
  };
  return (
    <DialogForm
      action={change}
      confirm={t('adapter.confirm')}
      disabled={path.trim() === ''}
      onSubmit={() => change.mutate({ id, path: path.trim() }, { onSuccess: onDone })}
      onCancel={onDone}
    >
      <Text>{t('adapter.means')}</Text>
      <Group align="flex-end" wrap="nowrap">
        <TextInput
          data-autofocus
          flex={1}
          label={t('adapter.path')}
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
        />
        {info?.nativeDialogs === true && (
          <Button variant="default" onClick={() => void browse()}>
            {t('add.file')}
          </Button>
        )}
      </Group>
    </DialogForm>
  );
}
