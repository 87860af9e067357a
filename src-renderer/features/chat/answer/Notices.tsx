import { Button, Group } from '@mantine/core';
import { IconFileOff, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { Notice } from '../../../../src-shared/answer.ts';
import { useAction, useCall } from '../../../client/context.tsx';
import { NoticeText } from '../../../ui/NoticeText.tsx';
import { notifyFailure } from '../../../ui/notify.tsx';
import classes from './Answer.module.css';

/** Notices to read before the answer. */
export function Notices({
  notices,
  analysis,
}: {
  notices: readonly Notice[];
  /** Address of an analysis that reads what an answer from openings left out; undefined: several documents. */
  analysis: string | undefined;
}) {
  return notices.map((notice, index) => (
    <Group key={index} gap="xs" wrap="nowrap" className={classes.notice} data-kind={notice.kind} role="note">
      {notice.kind === 'no-match' ? (
        <IconFileOff size={18} aria-hidden />
      ) : (
        <IconInfoCircle size={18} aria-hidden />
      )}
      <NoticeText notice={notice} />
      {notice.kind === 'queue-paused' && <Resume />}
      {notice.kind === 'openings' && analysis !== undefined && <Analyse href={analysis} />}
    </Group>
  ));
}

function Analyse({ href }: { href: string }) {
  const { t } = useTranslation('chat');
  return (
    <Button component={Link} href={href} size="compact-sm" variant="light">
      {t('notice.analyse')}
    </Button>
  );
}

/** Shown while the queue is paused. */
function Resume() {
  const { t } = useTranslation('chat');
  const { data: queue } = useCall('queue.status');
  const resume = useAction('queue.resume');
  if (!queue?.paused) return null;
  return (
    <Button
      size="compact-sm"
      variant="light"
      loading={resume.isPending}
      onClick={() => resume.mutate({}, { onError: notifyFailure })}
    >
      {t('notice.resume')}
    </Button>
  );
}
