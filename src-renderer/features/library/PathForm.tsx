import { Checkbox, Text, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { shownFailure } from '../../i18n/failures.ts';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { openDialog } from '../../ui/dialog.ts';

type AddPaths = (paths: string[], watch: boolean) => Promise<void>;

/** Opens the form for adding files and folders by path. */
export function useAskPath(): (add: AddPaths) => void {
  const { t } = useTranslation(['library', 'common']);
  return (add) => openDialog(t('add.pathTitle'), (close) => <PathForm add={add} onDone={close} />, 'lg');
}

function PathForm({ add, onDone }: { add: AddPaths; onDone: () => void }) {
  const { t } = useTranslation(['library', 'common']);
  const [text, setText] = useState('');
  const [watch, setWatch] = useState(true);
  const paths = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const adding = useMutation({ mutationFn: () => add(paths, watch), onSuccess: onDone });
  return (
    <DialogForm
      action={{ ...adding, error: adding.error && shownFailure(adding.error) }}
      note={
        <Text c="dimmed" mr="auto">
          {paths.length > 1 && String(paths.length)}
        </Text>
      }
      confirm={t('common:action.add')}
      disabled={paths.length === 0}
      onSubmit={() => adding.mutate()}
      onCancel={onDone}
    >
      <Textarea
        data-autofocus
        label={t('add.pathLabel')}
        description={t('add.pathHelp')}
        placeholder="/home/mara/Documents"
        autosize
        minRows={2}
        maxRows={8}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        styles={{ input: { fontFamily: 'var(--kv-font-mono)', fontSize: 13 } }}
      />
      <Checkbox
        label={t('add.watch')}
        checked={watch}
        onChange={(event) => setWatch(event.currentTarget.checked)}
      />
    </DialogForm>
  );
}
