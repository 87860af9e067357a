import { NumberInput, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import { SamplingSchema, type ModelSampling } from '../../../src-shared/sampling.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { openDialog } from '../../ui/dialog.ts';
import { useFormat } from '../../ui/useFormat.ts';

interface Field {
  name: keyof ModelSampling;
  min: number;
  max: number;
  step: number;
  decimals: number;
}

const FIELDS: readonly Field[] = [
  { name: 'temperature', min: 0, max: 2, step: 0.1, decimals: 2 },
  { name: 'topP', min: 0.01, max: 1, step: 0.05, decimals: 2 },
  { name: 'minP', min: 0, max: 1, step: 0.05, decimals: 3 },
  { name: 'topK', min: 0, max: 1000, step: 10, decimals: 0 },
  { name: 'repeatPenalty', min: 1, max: 2, step: 0.05, decimals: 2 },
  { name: 'seed', min: 0, max: 4_294_967_295, step: 1, decimals: 0 },
];

/** The only options sent to a server. */
const TOLD_SERVERS: readonly (keyof ModelSampling)[] = ['temperature', 'topP', 'seed'];

/** Dialog for a model's sampling options. */
export function useSampling(model: ModelEntry): () => void {
  const { t } = useTranslation('models');
  return () =>
    openDialog(
      t('sampling.title', { name: model.name }),
      (close) => <SamplingForm model={model} onDone={close} />,
      'lg',
    );
}

function SamplingForm({ model, onDone }: { model: ModelEntry; onDone: () => void }) {
  const { data: settings } = useCall('settings.get');
  if (!settings) return null;
  return <Fields model={model} all={settings.sampling} onDone={onDone} />;
}

function Fields({
  model: { path, server, recommendedSampling: recommended },
  all,
  onDone,
}: {
  model: ModelEntry;
  all: Record<string, ModelSampling>;
  onDone: () => void;
}) {
  const { t } = useTranslation('models');
  const format = useFormat();
  const [entered, setEntered] = useState<Partial<Record<string, number | string>>>({ ...all[path] });
  const update = useAction('settings.update');
  const given = Object.fromEntries(
    Object.entries(entered).filter(([, value]) => value !== '' && value !== undefined),
  );
  const valid = SamplingSchema.safeParse(given);
  const fields = FIELDS.filter(({ name }) => !server || TOLD_SERVERS.includes(name));
  return (
    <DialogForm
      action={update}
      disabled={!valid.success}
      onSubmit={() => {
        if (!valid.success) return;
        const others = Object.fromEntries(Object.entries(all).filter(([key]) => key !== path));
        const sampling = Object.keys(given).length > 0 ? { ...others, [path]: valid.data } : others;
        update.mutate({ sampling }, { onSuccess: onDone });
      }}
      onCancel={onDone}
    >
      <Text>{t('sampling.intro')}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {fields.map(({ name, min, max, step, decimals }) => {
          const suits = recommended[name];
          return (
            <NumberInput
              key={name}
              label={t(`sampling.${name}`)}
              description={t(`sampling.${name}Help`)}
              placeholder={
                suits === undefined
                  ? t('sampling.automatic')
                  : t('sampling.recommended', { value: format.number(suits, decimals) })
              }
              min={min}
              max={max}
              step={step}
              decimalScale={decimals}
              inputWrapperOrder={['label', 'input', 'description']}
              value={entered[name] ?? ''}
              onChange={(value) => setEntered({ ...entered, [name]: value })}
            />
          );
        })}
      </SimpleGrid>
    </DialogForm>
  );
}
