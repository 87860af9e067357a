import { NumberInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CacheFolder } from '../../../src-shared/contract/cache.ts';
import { useAction } from '../../client/context.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';

const GB = 1e9;

/** Adds a folder for stored KV, or changes the budget and the price of one. */
export function FolderForm({ folder, onDone }: { folder?: CacheFolder; onDone: () => void }) {
  const { t } = useTranslation('cache');
  const [path, setPath] = useState('');
  const [budget, setBudget] = useState<number | string>(folder ? folder.budgetBytes / GB : '');
  const [price, setPrice] = useState<number | string>(folder?.pricePerGb ?? '');
  const add = useAction('cache.addFolder');
  const change = useAction('cache.changeFolder');
  const budgetBytes = Math.round(Number(budget) * GB);
  const pricePerGb = price === '' ? null : Number(price);
  const submit = (): void => {
    if (folder) change.mutate({ id: folder.id, budgetBytes, pricePerGb }, { onSuccess: onDone });
    else
      add.mutate(
        { path: path.trim(), budgetBytes, ...(pricePerGb !== null && { pricePerGb }) },
        { onSuccess: onDone },
      );
  };
  return (
    <DialogForm
      action={folder ? change : add}
      {...(!folder && { confirm: t('folders.addConfirm') })}
      disabled={budget === '' || (!folder && path.trim() === '')}
      onSubmit={submit}
      onCancel={onDone}
    >
      {!folder && (
        <TextInput
          label={t('folders.path')}
          description={t('folders.pathHelp')}
          value={path}
          maxLength={4096}
          onChange={({ currentTarget }) => setPath(currentTarget.value)}
          data-autofocus
        />
      )}
      <NumberInput
        label={t('folders.budget')}
        suffix={` ${t('gigabytes')}`}
        min={0}
        decimalScale={2}
        value={budget}
        onChange={setBudget}
      />
      <NumberInput
        label={t('folders.priceLabel')}
        description={t('folders.priceHelp')}
        min={0}
        decimalScale={4}
        value={price}
        onChange={setPrice}
      />
    </DialogForm>
  );
}
