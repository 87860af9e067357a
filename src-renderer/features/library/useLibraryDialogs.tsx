import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import type { LibraryInfo } from '../../../src-shared/contract/libraries.ts';
import { useAction } from '../../client/context.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { askToConfirm } from '../../ui/confirm.tsx';
import { openDialog } from '../../ui/dialog.ts';
import { notifyFailure } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';

export interface LibraryDialogs {
  create: () => void;
  rename: (library: LibraryInfo) => void;
  remove: (library: LibraryInfo) => void;
}

/** Dialogs that create, rename and delete a library. */
export function useLibraryDialogs(): LibraryDialogs {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const [, navigate] = useLocation();
  const remove = useAction('libraries.delete');
  const openForm = (title: string, library?: LibraryInfo): void => {
    openDialog(title, (close) => (
      <NameForm
        library={library}
        onDone={(named) => {
          close();
          if (named && !library) navigate(`/library/${encodeURIComponent(named.id)}`);
        }}
      />
    ));
  };
  return {
    create: () => openForm(t('list.createTitle')),
    rename: (library) => openForm(t('rename.title'), library),
    remove: ({ id, name, documents, cacheBytes, roots }) => {
      askToConfirm({
        title: t('remove.title', { name }),
        text: [
          t('remove.text', {
            documents: t('common:unit.documents', { count: documents }),
            size: format.bytes(cacheBytes),
          }),
          <b key="files">{t('remove.files')}</b>,
          roots.some(({ kind }) => kind === 'managed') && t('remove.uploads'),
        ],
        confirm: t('remove.confirm'),
        danger: true,
        onConfirm: () =>
          remove.mutate({ id }, { onSuccess: () => navigate('/library'), onError: notifyFailure }),
      });
    },
  };
}

function NameForm({
  library,
  onDone,
}: {
  /** Absent: create a new one. */
  library: LibraryInfo | undefined;
  /** Called without a library on cancel. */
  onDone: (named?: LibraryInfo) => void;
}) {
  const { t } = useTranslation(['library', 'common']);
  const [name, setName] = useState(library?.name ?? '');
  const create = useAction('libraries.create');
  const rename = useAction('libraries.rename');
  const submit = (): void => {
    if (library) rename.mutate({ id: library.id, name }, { onSuccess: onDone });
    else create.mutate({ name }, { onSuccess: onDone });
  };
  return (
    <DialogForm
      action={library ? rename : create}
      disabled={name.trim() === ''}
      onSubmit={submit}
      onCancel={() => onDone()}
    >
      <TextInput
        data-autofocus
        label={t('common:name')}
        placeholder={t('list.namePlaceholder')}
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </DialogForm>
  );
}
