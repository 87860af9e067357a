import { Button, FileButton, Menu, Modal, Progress, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDownload, IconPlus, IconServer } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCall, useClient } from '../../client/context.tsx';
import { Form } from '../../ui/Form.tsx';
import { DownloadDialog } from './DownloadDialog.tsx';
import { AddServer } from './servers/AddServer.tsx';
import type { ModelImport } from './useImport.ts';

/** Ways to add a model: file, path, URL, or server. */
export function AddModel({ importing }: { importing: ModelImport }) {
  const { t } = useTranslation(['models', 'servers']);
  const { data: info } = useCall('app.info');
  const client = useClient();
  const [byPath, path] = useDisclosure();
  const [downloading, download] = useDisclosure();
  const [adding, server] = useDisclosure();
  const choose = async (): Promise<void> => {
    const { paths } = await client.call('app.choosePaths', { kind: 'model' });
    for (const each of paths) await importing.importPath(each, false);
  };
  if (importing.current) {
    const { name, fraction } = importing.current;
    return (
      <Stack gap={4} w={260} role="status">
        <Text size="xs" truncate>
          {t('add.uploading', { name })}
        </Text>
        <Progress value={fraction * 100} aria-label={t('add.uploading', { name })} />
      </Stack>
    );
  }
  return (
    <>
      <Button variant="default" leftSection={<IconServer size={16} />} onClick={server.open}>
        {t('servers:add.open')}
      </Button>
      <Button variant="default" leftSection={<IconDownload size={16} />} onClick={download.open}>
        {t('download.open')}
      </Button>
      {info?.nativeDialogs === true ? (
        <Button leftSection={<IconPlus size={16} />} onClick={() => void choose()}>
          {t('add.import')}
        </Button>
      ) : (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button leftSection={<IconPlus size={16} />}>{t('add.import')}</Button>
          </Menu.Target>
          <Menu.Dropdown>
            <FileButton accept=".gguf" onChange={(file) => file && void importing.importFiles([file])}>
              {(props) => (
                <Menu.Item {...props} closeMenuOnClick={false}>
                  {t('add.file')}
                </Menu.Item>
              )}
            </FileButton>
            <Menu.Item onClick={path.open}>{t('add.path')}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      <PathDialog opened={byPath} onClose={path.close} importing={importing} />
      <DownloadDialog opened={downloading} onClose={download.close} />
      <AddServer opened={adding} onClose={server.close} />
    </>
  );
}

function PathDialog({
  opened,
  onClose,
  importing,
}: {
  opened: boolean;
  onClose: () => void;
  importing: ModelImport;
}) {
  const { t } = useTranslation('models');
  const [path, setPath] = useState('');
  const [copy, setCopy] = useState(false);
  const [busy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    const done = await importing.importPath(path.trim(), copy);
    setBusy(false);
    if (!done) return;
    setPath('');
    onClose();
  };
  return (
    <Modal opened={opened} onClose={onClose} title={t('add.pathTitle')}>
      <Form gap="md" onSubmit={() => void submit()}>
        <TextInput
          data-autofocus
          label={t('add.pathLabel')}
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
        />
        <Switch
          label={t('add.copy')}
          description={t('add.copyHelp')}
          checked={copy}
          onChange={(event) => setCopy(event.currentTarget.checked)}
        />
        <Button type="submit" loading={busy} disabled={path.trim() === ''}>
          {t('add.import')}
        </Button>
      </Form>
    </Modal>
  );
}
