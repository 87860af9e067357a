import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WebAddressSchema } from '../../../src-shared/web-address.ts';
import { shownFailure } from '../../i18n/failures.ts';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { openDialog } from '../../ui/dialog.ts';

type AddAddress = (url: string) => Promise<void>;

/** Opens the form for adding a web page by its address. */
export function useAskAddress(): (add: AddAddress) => void {
  const { t } = useTranslation(['library', 'common']);
  return (add) =>
    openDialog(t('add.addressTitle'), (close) => <AddressForm add={add} onDone={close} />, 'lg');
}

function AddressForm({ add, onDone }: { add: AddAddress; onDone: () => void }) {
  const { t } = useTranslation(['library', 'common']);
  const [text, setText] = useState('');
  // As browsers do: what has no scheme is an address of the web.
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text.trim()) ? text.trim() : `https://${text.trim()}`;
  const isValid = WebAddressSchema.safeParse(url).success;
  const adding = useMutation({ mutationFn: () => add(url), onSuccess: onDone });
  return (
    <DialogForm
      action={{ ...adding, error: adding.error && shownFailure(adding.error) }}
      confirm={t('common:action.add')}
      disabled={!isValid}
      onSubmit={() => adding.mutate()}
      onCancel={onDone}
    >
      <TextInput
        data-autofocus
        label={t('add.addressLabel')}
        description={t('add.addressHelp')}
        placeholder="https://"
        inputMode="url"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </DialogForm>
  );
}
