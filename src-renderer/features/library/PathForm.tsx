import { Button, Checkbox, Group, Stack, Text, Textarea } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LibraryInfo } from '../../../src-shared/contract/libraries.ts';
import { useAction } from '../../client/context.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { notifyInfo } from '../../ui/notify.tsx';

/** Opens the form that adds files and folders by their path. */
export function useAskPath(): (library: LibraryInfo) => void {
  const { t } = useTranslation(['library', 'common']);
  return (library) => {
    const id = modals.open({
      title: t('add.pathTitle'),
      size: 'lg',
      children: <PathForm libraryId={library.id} onDone={() => modals.close(id)} />,
    });
  };
}

function PathForm({ libraryId, onDone }: { libraryId: string; onDone: () => void }) {
  const { t } = useTranslation(['library', 'common']);
  const [text, setText] = useState('');
  const [watch, setWatch] = useState(true);
  const add = useAction('libraries.addPaths');
  const paths = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const submit = (): void =>
    add.mutate(
      { id: libraryId, paths, watch },
      {
        onSuccess: () => {
          notifyInfo(t('add.added', { count: paths.length }));
          onDone();
        },
      },
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="md">
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
        {add.error && <FailureAlert failure={add.error} />}
        <Group justify="flex-end">
          <Text size="sm" c="dimmed" mr="auto">
            {paths.length > 1 && String(paths.length)}
          </Text>
          <Button variant="default" onClick={onDone}>
            {t('common:action.cancel')}
          </Button>
          <Button type="submit" loading={add.isPending} disabled={paths.length === 0}>
            {t('add.confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
