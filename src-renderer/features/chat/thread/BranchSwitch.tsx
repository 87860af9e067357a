import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Message } from '../../../../src-shared/contract/chat.ts';
import { IconAction } from './IconAction.tsx';
import classes from './Thread.module.css';

/** ‹ 2/3 ›: switches between versions of a question or an answer. */
export function BranchSwitch({
  message,
  siblings,
  onSelect,
}: {
  message: Message;
  siblings: readonly Message[];
  onSelect: (id: string) => void;
}) {
  const { t } = useTranslation('chat');
  const index = siblings.findIndex(({ id }) => id === message.id);
  if (siblings.length < 2) return null;
  const step = (by: number) => () => {
    const other = siblings[index + by];
    if (other) onSelect(other.id);
  };
  return (
    <span className={classes.branch} role="group" aria-label={t('message.versions')}>
      <IconAction
        label={t('message.previous')}
        icon={<IconChevronLeft size={16} />}
        disabled={index === 0}
        onClick={step(-1)}
      />
      <span aria-label={t('message.branch', { index: index + 1, count: siblings.length })}>
        {index + 1}/{siblings.length}
      </span>
      <IconAction
        label={t('message.next')}
        icon={<IconChevronRight size={16} />}
        disabled={index === siblings.length - 1}
        onClick={step(1)}
      />
    </span>
  );
}
