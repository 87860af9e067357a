import { Button, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import { useAction } from '../../client/context.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { openDialog } from '../../ui/dialog.ts';

/** Dialog for what an embedding model gets before texts. */
export function usePrefixes(model: ModelEntry): () => void {
  const { t } = useTranslation('models');
  return () =>
    openDialog(t('prefixes.title', { name: model.name }), (close) => (
      <PrefixForm model={model} onDone={close} />
    ));
}

function PrefixForm({ model: { id, embedding }, onDone }: { model: ModelEntry; onDone: () => void }) {
  const { t } = useTranslation('models');
  const [question, setQuestion] = useState(embedding?.question ?? '');
  const [passage, setPassage] = useState(embedding?.passage ?? '');
  const set = useAction('models.setPrefixes');
  const save = (prefixes: { question: string; passage: string } | null): void =>
    set.mutate({ id, prefixes }, { onSuccess: onDone });
  return (
    <DialogForm
      action={set}
      note={
        embedding?.source === 'user' && (
          <Button variant="subtle" onClick={() => save(null)}>
            {t(embedding.card === null ? 'prefixes.none' : 'prefixes.reset')}
          </Button>
        )
      }
      onSubmit={() => save({ question, passage })}
      onCancel={onDone}
    >
      <Text>{t('prefixes.intro')}</Text>
      {[
        { label: t('prefixes.question'), value: question, onChange: setQuestion },
        { label: t('prefixes.passage'), value: passage, onChange: setPassage },
      ].map(({ label, value, onChange }) => (
        <Textarea
          key={label}
          label={label}
          autosize
          maxLength={1000}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      ))}
    </DialogForm>
  );
}
