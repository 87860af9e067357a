import { ActionIcon } from '@mantine/core';
import { IconPin, IconPinFilled } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { CacheSelection } from '../../../src-shared/contract/cache.ts';
import { useAction } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';

/** Pins or unpins the selection. */
export function PinToggle({
  name,
  selection,
  pinned,
  title,
  active,
}: {
  name: string;
  selection: CacheSelection;
  /** undefined: partly pinned. */
  pinned: boolean | undefined;
  title?: string | undefined;
  /** Whether its row is in the tab order. */
  active: boolean;
}) {
  const { t } = useTranslation('cache');
  const pin = useAction('cache.pin');
  const Icon = pinned === false ? IconPin : IconPinFilled;
  return (
    <ActionIcon
      size="sm"
      variant={pinned === true ? 'light' : 'subtle'}
      color={pinned === false ? 'gray' : 'kvasir'}
      tabIndex={active ? 0 : -1}
      aria-label={t('table.pinOne', { name })}
      aria-pressed={pinned ?? 'mixed'}
      title={title}
      onClick={() => pin.mutate({ selection, pinned: pinned !== true }, { onError: notifyFailure })}
    >
      <Icon size={15} />
    </ActionIcon>
  );
}
