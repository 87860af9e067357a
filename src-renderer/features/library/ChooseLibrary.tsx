import { Button, Group, List, Modal, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { useAction, useCall } from '../../client/context.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { notifyInfo } from '../../ui/notify.tsx';
import { rememberedLibrary, rememberLibrary } from '../../ui/last-library.ts';

/** Maximum number of paths listed individually. */
const NAMED = 5;

/** Placeholder for a library that is created when the files are added. */
const NEW = 'new';

export default function ChooseLibrary({ paths, onClose }: { paths: string[]; onClose: () => void }) {
  const { t } = useTranslation(['library', 'common']);
  const [, navigate] = useLocation();
  const { data: libraries = [] } = useCall('libraries.list');
  const create = useAction('libraries.create');
  const add = useAction('libraries.addPaths');
  const own = libraries.filter(({ sample }) => !sample);
  const [chosen, setChosen] = useState<string | null>(null);
  const target = chosen ?? own.find(({ id }) => id === rememberedLibrary())?.id ?? own[0]?.id ?? NEW;
  const submit = async (): Promise<void> => {
    const id = target === NEW ? (await create.mutateAsync({ name: t('opened.newName') })).id : target;
    await add.mutateAsync({ id, paths });
    onClose();
    rememberLibrary(id);
    notifyInfo(t('add.added', { count: paths.length }));
    navigate(`/library/${id}`);
  };
  const error = create.error ?? add.error;
  return (
    <Modal opened onClose={onClose} title={t('opened.title')}>
      <Stack>
        <List size="sm">
          {paths.slice(0, NAMED).map((path) => (
            <List.Item key={path} style={{ overflowWrap: 'anywhere' }}>
              {path}
            </List.Item>
          ))}
        </List>
        {paths.length > NAMED && <Text c="dimmed">{t('opened.more', { count: paths.length - NAMED })}</Text>}
        <Select
          data-autofocus
          label={t('common:nav.library')}
          value={target}
          allowDeselect={false}
          data={[
            ...own.map(({ id, name }) => ({ value: id, label: name })),
            { value: NEW, label: t('list.create') },
          ]}
          onChange={setChosen}
        />
        {error && <FailureAlert failure={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('common:action.cancel')}
          </Button>
          <Button
            loading={create.isPending || add.isPending}
            onClick={() => void submit().catch(() => undefined) /* shown above */}
          >
            {t('common:action.add')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
