import { Group, Text } from '@mantine/core';
import { IconFileOff, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Notice } from '../../../../src-shared/answer.ts';
import classes from './Answer.module.css';

/** What the reader should know before reading the answer. */
export function Notices({ notices }: { notices: readonly Notice[] }) {
  const { t } = useTranslation('chat');
  return notices.map(({ kind, message }, index) => (
    <Group key={index} gap="xs" wrap="nowrap" className={classes.notice} data-kind={kind} role="note">
      {kind === 'no-match' ? <IconFileOff size={18} aria-hidden /> : <IconInfoCircle size={18} aria-hidden />}
      <Text size="sm">
        {t(`notice.${kind}`)}
        {kind !== 'no-match' && ` ${message}`}
      </Text>
    </Group>
  ));
}
