import { Button, Group, Modal, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFolderSearch, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCall, useClient } from '../../client/context.tsx';
import { Form } from '../../ui/Form.tsx';
import { FoundModelRow, UnusableRow } from '../../ui/found/FoundModelRow.tsx';
import rows from '../../ui/found/FoundModelRow.module.css';
import { SearchStatus } from '../../ui/found/SearchStatus.tsx';
import { useSearch } from '../../ui/found/useSearch.ts';

/** Rows shown at first, so that the rest of the screen stays visible. */
const SHOWN = 5;

/** Models of other apps on this machine: searching for them, and using them in place. */
export function FoundModels() {
  const { t } = useTranslation('found');
  const { found, searching, usable, unusable, search } = useSearch();
  const [all, setAll] = useState(false);
  return (
    <Stack gap="sm" component="section" aria-label={t('title')}>
      <Title order={2} size="h5">
        {t('title')}
      </Title>
      <Text c="dimmed">{t('text')}</Text>
      <Group gap="xs">
        <Button
          variant="default"
          leftSection={<IconSearch size={16} />}
          loading={searching}
          onClick={() => void search()}
        >
          {t(found?.state === 'never' ? 'look' : 'lookAgain')}
        </Button>
        <InFolder disabled={searching} search={search} />
      </Group>
      <SearchStatus found={found} />
      {usable.length > 0 && (
        <Stack gap={8} component="ul">
          {usable.slice(0, all ? undefined : SHOWN).map((model) => (
            <FoundModelRow key={model.path} model={model} />
          ))}
        </Stack>
      )}
      {usable.length > SHOWN && !all && (
        <Button variant="subtle" size="compact-sm" w="fit-content" onClick={() => setAll(true)}>
          {t('showAll', { count: usable.length })}
        </Button>
      )}
      {unusable.length > 0 && (
        <details>
          <summary className={rows.summary}>{t('unusable', { count: unusable.length })}</summary>
          <Stack gap={8} component="ul">
            {unusable.map((model) => (
              <UnusableRow key={model.path} model={model} />
            ))}
          </Stack>
        </details>
      )}
    </Stack>
  );
}

/** Searches an additional folder: chosen in the host's dialog, or typed if there is none. */
function InFolder({
  disabled,
  search,
}: {
  disabled: boolean;
  search: (folders: string[]) => Promise<boolean>;
}) {
  const { t } = useTranslation('found');
  const client = useClient();
  const { data: info } = useCall('app.info');
  const [opened, dialog] = useDisclosure();
  const choose = async (): Promise<void> => {
    if (info?.nativeDialogs !== true) {
      dialog.open();
      return;
    }
    const { paths } = await client.call('app.choosePaths', { kind: 'folder' });
    if (paths.length > 0) await search(paths);
  };
  return (
    <>
      <Button
        variant="subtle"
        leftSection={<IconFolderSearch size={16} />}
        disabled={disabled}
        onClick={() => void choose()}
      >
        {t('inFolder')}
      </Button>
      <Modal opened={opened} onClose={dialog.close} title={t('folderTitle')}>
        <FolderForm search={search} onDone={dialog.close} />
      </Modal>
    </>
  );
}

function FolderForm({
  search,
  onDone,
}: {
  search: (folders: string[]) => Promise<boolean>;
  onDone: () => void;
}) {
  const { t } = useTranslation('found');
  const [path, setPath] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    const done = await search([path.trim()]);
    setBusy(false);
    if (done) onDone();
  };
  return (
    <Form gap="md" onSubmit={() => void submit()}>
      <TextInput
        data-autofocus
        label={t('folderLabel')}
        description={t('folderHelp')}
        value={path}
        onChange={(event) => setPath(event.currentTarget.value)}
      />
      <Button type="submit" loading={busy} disabled={path.trim() === ''}>
        {t('look')}
      </Button>
    </Form>
  );
}
