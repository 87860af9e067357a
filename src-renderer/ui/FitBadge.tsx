import { Badge, type BadgeProps } from '@mantine/core';
import type { ComponentProps } from 'react';
import { useTranslation } from 'react-i18next';
import type { MemoryFit } from '../../src-shared/contract/models.ts';

const COLOUR = { fits: 'teal', tight: 'yellow', 'too-large': 'red' } as const;

/** Whether a model fits into this machine's memory. Accepts the props that a tooltip passes to its target. */
export function FitBadge({
  verdict,
  ...target
}: Pick<MemoryFit, 'verdict'> & BadgeProps & Pick<ComponentProps<'div'>, 'tabIndex' | 'aria-label' | 'ref'>) {
  const { t } = useTranslation('models');
  return (
    <Badge
      variant="outline"
      color={COLOUR[verdict]}
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
      {...target}
    >
      {t(`fit.${verdict}`)}
    </Badge>
  );
}
