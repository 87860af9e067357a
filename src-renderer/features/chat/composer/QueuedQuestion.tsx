import { Loader } from '@mantine/core';
import { IconPencil, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../../ui/IconButton.tsx';
import classes from './Composer.module.css';

/** A queued question: what it waits for, with edit and discard. */
export function QueuedQuestion({
  text,
  reading,
  onEdit,
  onDiscard,
}: {
  text: string;
  /** Names of the documents it waits for; empty: it waits for the current answer. */
  reading: readonly string[];
  onEdit: () => void;
  onDiscard: () => void;
}) {
  const { t } = useTranslation('chat');
  const [name = '', ...more] = reading;
  const why =
    reading.length === 0
      ? t('queued.answer')
      : more.length === 0
        ? t('queued.document', { name })
        : t('queued.documents', { count: reading.length });
  return (
    <div className={classes.queued}>
      <Loader size={13} aria-hidden />
      <span className={classes.queuedText}>
        <span role="status">{why}</span> “{text}”
      </span>
      <IconButton label={t('queued.edit')} size="sm" onClick={onEdit}>
        <IconPencil size={15} />
      </IconButton>
      <IconButton label={t('queued.discard')} size="sm" onClick={onDiscard}>
        <IconX size={15} />
      </IconButton>
    </div>
  );
}
