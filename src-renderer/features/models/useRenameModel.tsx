import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import { useAction } from '../../client/context.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { openDialog } from '../../ui/dialog.ts';

/** Dialog for renaming a model: files of different sizes often claim the same name. */
export function useRenameModel(model: ModelEntry): () => void {
  const { t } = useTranslation('models');
  return () =>
    openDialog(t('rename.title', { name: model.name }), (close) => <NameForm model={model} onDone={close} />);
}

function NameForm({ model: { id, name: shown }, onDone }: { model: ModelEntry; onDone: () => void }) {
  const { t } = useTranslation(['models', 'common']);
  const [name, setName] = useState(shown);
  const rename = useAction('models.rename');
  return (
    <DialogForm
      action={rename}
      onSubmit={() => rename.mutate({ id, name }, { onSuccess: onDone })}
      onCancel={onDone}
    >
      <TextInput
        data-autofocus
        label={t('common:name')}
        description={t('rename.help')}
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </DialogForm>
  );
}
