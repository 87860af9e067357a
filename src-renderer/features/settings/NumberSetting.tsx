import { NumberInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './NumberSetting.module.css';

/** A number saved on blur or Enter, not on every key. */
export function NumberSetting({
  label,
  description,
  value,
  min,
  max,
  step = 1,
  decimals = 0,
  grouped = true,
  onChange,
}: {
  label: string;
  description?: string;
  value: number;
  min: number;
  max: number;
  step?: number;
  decimals?: number;
  /** Whether to use thousands separators: not for identifiers. */
  grouped?: boolean;
  onChange: (value: number) => void;
}) {
  const { t } = useTranslation('settings');
  const [draft, setDraft] = useState<number | string>();
  const shown = draft ?? value;
  const valid = typeof shown === 'number' && shown >= min && shown <= max;
  const keep = (): void => {
    if (valid && shown !== value) onChange(shown);
    setDraft(undefined);
  };
  return (
    <NumberInput
      label={label}
      description={description}
      value={shown}
      min={min}
      max={max}
      step={step}
      decimalScale={decimals}
      clampBehavior="none"
      thousandSeparator={grouped ? ',' : ''}
      wrapperProps={{ className: classes.field }}
      error={valid ? undefined : t('range', { min, max })}
      onChange={setDraft}
      onBlur={keep}
      onKeyDown={({ key }) => key === 'Enter' && keep()}
    />
  );
}
