import { Button, Group } from '@mantine/core';
import { IconFileOff, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Notice } from '../../../../src-shared/answer.ts';
import { useAction, useCall } from '../../../client/context.tsx';
import { NoticeText } from '../../../ui/NoticeText.tsx';
import { notifyFailure } from '../../../ui/notify.tsx';
import classes from './Answer.module.css';

/** Notices to read before the answer. */
export function Notices({ notices }: { notices: readonly Notice[] }) {
  return notices.map((notice, index) => (
    <Group key={index} gap="xs" wrap="nowrap" className={classes.notice} data-kind={notice.kind} role="note">
      {notice.kind === 'no-match' ? (
        <IconFileOff size={18} aria-hidden />
      ) : (
        <IconInfoCircle size={18} aria-hidden />
      )}
      <NoticeText notice={notice} />
      {notice.kind === 'queue-paused' && <Resume />}
    </Group>
  ));
}

/** Shown while the queue is paused. */
function Resume() {
  const { t } = useTranslation(['chat', 'common']);
  const { data: queue } = useCall('queue.status');
  const resume = useAction('queue.resume');
  if (!queue?.paused) return null;
  return (
    <Button
      size="compact-sm"
      variant="light"
      loading={resume.isPending}
      onClick={() => resume.mutate({}, { onError: (error) => notifyFailure(error, t('common:error.title')) })}
    >
      {t('notice.resume')}
    </Button>
  );
}
