import { Button, Group, Modal, PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ListedServer, ServerFacts } from '../../../../src-shared/contract/servers.ts';
import { reachOf } from '../../../../src-shared/reach.ts';
import { useAction } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { Form } from '../../../ui/Form.tsx';
import { notifyInfo } from '../../../ui/notify.tsx';
import { ReachText } from '../../../ui/server/ReachText.tsx';
import { choicesOf, NOTHING_ENTERED, ServerFields } from './ServerFields.tsx';

/** Adds a model on a server, by its address and the server's list of models. */
export function AddServer({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('servers');
  return (
    <Modal opened={opened} onClose={onClose} title={t('add.title')} size="lg">
      <ServerForm onDone={onClose} />
    </Modal>
  );
}

function ServerForm({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('servers');
  const [address, setAddress] = useState('');
  const [key, setKey] = useState('');
  const [listed, setListed] = useState<ListedServer>();
  const ask = useAction('models.askServer');
  const way = wayTo(address);
  const changed = (): void => {
    setListed(undefined);
    ask.reset();
  };
  return (
    <Stack gap="sm">
      <Text c="dimmed">{t('add.text')}</Text>
      <Form gap="sm" onSubmit={() => ask.mutate({ address, key }, { onSuccess: setListed })}>
        <TextInput
          data-autofocus
          label={t('add.address')}
          description={t('add.addressHelp')}
          inputWrapperOrder={['label', 'input', 'description']}
          value={address}
          onChange={(event) => {
            setAddress(event.currentTarget.value);
            changed();
          }}
        />
        {way && <ReachText {...way} />}
        <PasswordInput
          label={t('add.key')}
          description={t('add.keyHelp')}
          inputWrapperOrder={['label', 'input', 'description']}
          autoComplete="off"
          value={key}
          onChange={(event) => {
            setKey(event.currentTarget.value);
            changed();
          }}
        />
        {ask.error && <FailureAlert failure={ask.error} />}
        {!listed && (
          <Group justify="flex-end">
            <Button type="submit" loading={ask.isPending} disabled={!way}>
              {t('add.list')}
            </Button>
          </Group>
        )}
      </Form>
      {listed && <ModelForm key={listed.address} listed={listed} serverKey={key} onDone={onDone} />}
    </Stack>
  );
}

function ModelForm({
  listed,
  serverKey,
  onDone,
}: {
  listed: ListedServer;
  serverKey: string;
  onDone: () => void;
}) {
  const { t } = useTranslation(['servers', 'common']);
  const add = useAction('models.addServer');
  const [model, setModel] = useState(listed.models[0]?.id ?? '');
  const told = listed.models.find(({ id }) => id === model)?.contextTokens ?? null;
  const [entered, setEntered] = useState(NOTHING_ENTERED);
  const submit = (): void =>
    add.mutate(
      { address: listed.address, model, key: serverKey, ...choicesOf(entered, told) },
      {
        onSuccess: ({ name }) => {
          notifyInfo(t('add.done', { name }));
          onDone();
        },
      },
    );
  if (listed.models.length === 0) return <Text>{t('add.none')}</Text>;
  return (
    <Form gap="sm" onSubmit={submit}>
      <Select
        label={t('add.model')}
        data={listed.models.map(({ id }) => id)}
        value={model}
        searchable
        allowDeselect={false}
        onChange={(id) => id !== null && setModel(id)}
      />
      <ServerFields entered={entered} told={told} onChange={setEntered} />
      {add.error && <FailureAlert failure={add.error} />}
      <Group justify="flex-end">
        <Button type="submit" loading={add.isPending}>
          {t('common:action.add')}
        </Button>
      </Group>
    </Form>
  );
}

/** Shows where questions would go as soon as the address is valid, before anything is sent. */
function wayTo(address: string): Pick<ServerFacts, 'host' | 'reach' | 'secure'> | undefined {
  const given = address.trim();
  if (given === '') return undefined;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  return { host: url.host, reach: reachOf(url.hostname), secure: url.protocol === 'https:' };
}
