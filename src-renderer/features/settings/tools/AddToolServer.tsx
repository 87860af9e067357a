import { JsonInput, Modal, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction } from '../../../client/context.tsx';
import { DialogForm } from '../../../ui/DialogForm.tsx';
import { notifyInfo } from '../../../ui/notify.tsx';

const FORMS = ['command', 'url', 'text'] as const;
const BELOW = ['label', 'input', 'description'] as ('label' | 'input' | 'description')[];

/** Adds MCP servers: one by its command or address, or those of a text in the form of mcp.json. */
export function AddToolServer({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('mcp');
  const [form, setForm] = useState<(typeof FORMS)[number]>('command');
  return (
    <Modal opened={opened} onClose={onClose} title={t('add.title')} size="lg">
      <Stack gap="md">
        <SegmentedControl
          aria-label={t('add.form')}
          value={form}
          data={FORMS.map((value) => ({ value, label: t(`add.forms.${value}`) }))}
          onChange={setForm}
        />
        {form === 'text' ? (
          <TextForm onDone={onClose} />
        ) : (
          <ServerForm key={form} kind={form} onDone={onClose} />
        )}
        <Text c="dimmed">{t('risk.text')}</Text>
      </Stack>
    </Modal>
  );
}

const WORDS = {
  command: { help: 'add.commandHelp', secrets: 'add.variables', secretsHelp: 'add.variablesHelp' },
  url: { help: 'add.urlHelp', secrets: 'add.headers', secretsHelp: 'add.headersHelp' },
} as const;

function ServerForm({ kind, onDone }: { kind: 'command' | 'url'; onDone: () => void }) {
  const { t } = useTranslation(['mcp', 'common']);
  const words = WORDS[kind];
  const [name, setName] = useState('');
  const [target, setTarget] = useState('');
  const [secrets, setSecrets] = useState('');
  const add = useAction('tools.addServer');
  const done = (): void => {
    notifyInfo(t('add.done', { count: 1, names: name.trim() }));
    onDone();
  };
  return (
    <DialogForm
      action={add}
      confirm={t('common:action.add')}
      disabled={name.trim() === '' || target.trim() === ''}
      onSubmit={() => add.mutate({ name, kind, target, secrets }, { onSuccess: done })}
      onCancel={onDone}
    >
      <TextInput
        data-autofocus
        label={t('common:name')}
        description={t('add.nameHelp')}
        inputWrapperOrder={BELOW}
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label={t(`add.${kind}`)}
        description={t(words.help)}
        inputWrapperOrder={BELOW}
        maxLength={4000}
        value={target}
        onChange={(event) => setTarget(event.currentTarget.value)}
      />
      <Textarea
        label={t(words.secrets)}
        description={t(words.secretsHelp)}
        inputWrapperOrder={BELOW}
        autosize
        minRows={2}
        maxRows={8}
        spellCheck={false}
        autoComplete="off"
        value={secrets}
        onChange={(event) => setSecrets(event.currentTarget.value)}
      />
    </DialogForm>
  );
}

function TextForm({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation(['mcp', 'common']);
  const [text, setText] = useState('');
  const add = useAction('tools.importServers');
  const done = ({ names }: { names: string[] }): void => {
    notifyInfo(t('add.done', { count: names.length, names: names.join(', ') }));
    onDone();
  };
  return (
    <DialogForm
      action={add}
      confirm={t('common:action.add')}
      disabled={text.trim() === ''}
      onSubmit={() => add.mutate({ text }, { onSuccess: done })}
      onCancel={onDone}
    >
      <JsonInput
        label={t('add.text')}
        description={t('add.textHelp')}
        inputWrapperOrder={BELOW}
        autosize
        minRows={8}
        maxRows={20}
        spellCheck={false}
        value={text}
        onChange={setText}
      />
    </DialogForm>
  );
}
