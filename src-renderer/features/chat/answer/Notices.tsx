import { Group } from '@mantine/core';
import { IconFileOff, IconInfoCircle } from '@tabler/icons-react';
import type { Notice } from '../../../../src-shared/answer.ts';
import { NoticeText } from '../../../ui/NoticeText.tsx';
import classes from './Answer.module.css';

/** What the reader should know before reading the answer. */
export function Notices({ notices }: { notices: readonly Notice[] }) {
  return notices.map((notice, index) => (
    <Group key={index} gap="xs" wrap="nowrap" className={classes.notice} data-kind={notice.kind} role="note">
      {notice.kind === 'no-match' ? (
        <IconFileOff size={18} aria-hidden />
      ) : (
        <IconInfoCircle size={18} aria-hidden />
      )}
      <NoticeText notice={notice} />
    </Group>
  ));
}
