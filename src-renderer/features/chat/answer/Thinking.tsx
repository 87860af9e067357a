import { Loader, UnstyledButton } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Thinking as Thought } from '../../../../src-shared/contract/chat.ts';
import { useFormat } from '../../../ui/useFormat.ts';
import classes from './Thinking.module.css';

/** The model's thoughts before the answer, collapsed by default. */
export function Thinking({ thinking: { text, ms, tokens }, inWork }: { thinking: Thought; inWork: boolean }) {
  const { t } = useTranslation(['chat', 'common']);
  const format = useFormat();
  const [open, setOpen] = useState(false);
  const textId = useId();
  const time = format.duration(ms);
  return (
    <div className={classes.thinking}>
      <UnstyledButton
        className={classes.fold}
        aria-expanded={open}
        aria-controls={open ? textId : undefined}
        onClick={() => setOpen(!open)}
      >
        <IconChevronRight size={16} aria-hidden data-open={open || undefined} />
        {inWork && <Loader size={13} aria-hidden />}
        <span>{t(inWork ? 'thinking.inWork' : 'thinking.done', { time })}</span>
        <span className={classes.length}>{t('common:unit.tokens', { count: tokens })}</span>
      </UnstyledButton>
      {open && (
        <div id={textId} className={classes.text} role="region" aria-label={t('thinking.label')}>
          {text}
        </div>
      )}
    </div>
  );
}
