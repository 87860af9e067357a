import { Group, NumberInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { AddedServer } from '../../../../src-shared/contract/servers.ts';

const WAIT_SECONDS = 120;

/** Request settings of a remote model, as entered: '' in a numeric field means unset. */
export interface EnteredChoices {
  context: number | string;
  wait: number | string;
  separator: string;
}

export const NOTHING_ENTERED: EnteredChoices = { context: '', wait: WAIT_SECONDS, separator: '' };

/** `told`: the context length that the server reported, used if none is entered. */
export function choicesOf(
  { context, wait, separator }: EnteredChoices,
  told: number | null,
): Pick<AddedServer, 'contextTokens' | 'waitSeconds' | 'separator'> {
  return {
    separator,
    contextTokens: typeof context === 'number' ? context : told,
    waitSeconds: typeof wait === 'number' ? wait : WAIT_SECONDS,
  };
}

export function ServerFields({
  entered,
  told,
  onChange,
}: {
  entered: EnteredChoices;
  told: number | null;
  onChange: (entered: EnteredChoices) => void;
}) {
  const { t } = useTranslation('servers');
  const { context, wait, separator } = entered;
  return (
    <>
      <Group grow align="flex-start">
        <NumberInput
          data-autofocus
          label={t('add.context')}
          description={t('add.contextHelp')}
          inputWrapperOrder={['label', 'input', 'description']}
          placeholder={told === null ? '' : String(told)}
          min={256}
          max={4_194_304}
          allowDecimal={false}
          value={context}
          onChange={(value) => onChange({ ...entered, context: value })}
        />
        <NumberInput
          label={t('add.wait')}
          description={t('add.waitHelp')}
          inputWrapperOrder={['label', 'input', 'description']}
          min={1}
          max={280}
          allowDecimal={false}
          value={wait}
          onChange={(value) => onChange({ ...entered, wait: value })}
        />
      </Group>
      <TextInput
        label={t('add.separator')}
        description={t('add.separatorHelp')}
        inputWrapperOrder={['label', 'input', 'description']}
        maxLength={100}
        value={separator}
        onChange={(event) => onChange({ ...entered, separator: event.currentTarget.value })}
      />
    </>
  );
}
