import { Button, Divider, Group, Modal, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CatalogueEntry } from '../../../src-shared/contract/models.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { Form } from '../../ui/Form.tsx';
import { Subtext } from '../../ui/Subtext.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { useFormat } from '../../ui/useFormat.ts';

const SHA256 = /^[0-9a-f]{64}$/i;
const URL_START = /^https?:\/\/./i;

export function DownloadDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation(['models', 'common']);
  const download = useAction('models.download');
  const start = (from: { url: string; name: string; sha256: string }): void =>
    download.mutate(from, { onSuccess: onClose, onError: notifyFailure });
  return (
    <Modal opened={opened} onClose={onClose} title={t('common:action.download')} size="lg">
      <Stack>
        <Text c="dimmed">{t('download.text')}</Text>
        <AddressForm busy={download.isPending} onStart={start} />
        <Divider label={t('download.catalogue')} />
        <Catalogue enabled={opened} onStart={start} />
      </Stack>
    </Modal>
  );
}

function AddressForm({
  busy,
  onStart,
}: {
  busy: boolean;
  onStart: (from: { url: string; name: string; sha256: string }) => void;
}) {
  const { t } = useTranslation(['models', 'common']);
  const [url, setUrl] = useState('');
  const [name, setName] = useState('');
  const [sha256, setSha256] = useState('');
  const urlOk = URL_START.test(url.trim());
  const sumOk = sha256.trim() === '' || SHA256.test(sha256.trim());
  return (
    <Form
      gap="sm"
      onSubmit={() => {
        if (urlOk && sumOk) onStart({ url: url.trim(), name: name.trim(), sha256: sha256.trim() });
      }}
    >
      <TextInput
        data-autofocus
        label={t('download.url')}
        value={url}
        error={url !== '' && !urlOk ? t('download.urlWrong') : undefined}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <TextInput
        label={t('download.sha256')}
        value={sha256}
        error={sumOk ? undefined : t('download.sha256Wrong')}
        onChange={(event) => setSha256(event.currentTarget.value)}
      />
      <Group align="flex-end" wrap="nowrap">
        <TextInput
          flex={1}
          label={t('download.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" loading={busy} disabled={!urlOk || !sumOk}>
          {t('common:action.download')}
        </Button>
      </Group>
    </Form>
  );
}

function Catalogue({ enabled, onStart }: { enabled: boolean; onStart: (entry: CatalogueEntry) => void }) {
  const { t } = useTranslation(['models', 'common']);
  const format = useFormat();
  const { data: entries, error } = useCall('models.catalogue', {}, { enabled });
  if (error) return <FailureAlert failure={error} />;
  if (!entries) return null;
  if (entries.length === 0) {
    return <Text c="dimmed">{t('download.catalogueNone')}</Text>;
  }
  return entries.map((entry) => (
    <Paper key={entry.id} withBorder p="sm">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <Text size="md" fw={600}>
            {entry.name}
          </Text>
          <Text>{entry.description}</Text>
          <Subtext>
            {[t(`role.${entry.role}`), entry.quantization, format.bytes(entry.bytes), entry.license].join(
              ' · ',
            )}
          </Subtext>
        </div>
        <Button size="xs" variant="light" onClick={() => onStart(entry)}>
          {t('common:action.download')}
        </Button>
      </Group>
    </Paper>
  ));
}
