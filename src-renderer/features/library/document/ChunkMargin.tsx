import { UnstyledButton } from '@mantine/core';
import { IconPin, IconPinFilled, IconPinnedOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ChunkInfo } from '../../../../src-shared/contract/libraries.ts';
import { useAction } from '../../../client/context.tsx';
import { IconButton } from '../../../ui/IconButton.tsx';
import { notifyFailure } from '../../../ui/notify.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import classes from './Document.module.css';

/** Details next to a chunk's text: number, tokens, cache tier, size, use. A click selects the chunk. */
export function ChunkMargin({
  chunk,
  selected,
  onSelect,
}: {
  chunk: ChunkInfo;
  selected: boolean;
  onSelect: () => void;
}) {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const { ordinal, tokens, cache, bytes, hits, lastUsedMs, pinned } = chunk;
  const number = format.number(ordinal + 1);
  const size = t('common:unit.tokens', { count: tokens });
  const where = t(`document.cache.${cache}`);
  return (
    <div className={classes.marginBody}>
      <UnstyledButton className={classes.marginButton} aria-pressed={selected} onClick={onSelect}>
        <span className={classes.marginHead}>
          <span className={classes.dot} data-tier={cache} />
          {t('document.chunk', { number })}
          {pinned && <IconPinFilled size={12} aria-label={t('document.pinned')} />}
        </span>
        <span>{size}</span>
        <span>{cache === 'none' ? where : `${format.bytes(bytes)} ${where}`}</span>
        <span>{hits === 0 ? t('document.neverUsed') : t('document.uses', { count: hits })}</span>
        {hits > 0 && lastUsedMs !== null && (
          <span>{t('document.lastUsed', { ago: format.ago(lastUsedMs) })}</span>
        )}
      </UnstyledButton>
      {selected && cache !== 'none' && <PinButton chunk={chunk} />}
    </div>
  );
}

function PinButton({ chunk: { key, pinned } }: { chunk: ChunkInfo }) {
  const { t } = useTranslation(['library', 'common']);
  const pin = useAction('cache.pin');
  const label = pinned ? t('common:action.unpin') : t('common:action.pin');
  return (
    <IconButton
      label={label}
      color="kvasir"
      size="sm"
      variant="light"
      onClick={() => pin.mutate({ selection: { keys: [key] }, pinned: !pinned }, { onError: notifyFailure })}
    >
      {pinned ? <IconPinnedOff size={14} /> : <IconPin size={14} />}
    </IconButton>
  );
}
