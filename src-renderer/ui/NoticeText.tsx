import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Notice } from '../../src-shared/answer.ts';
import { noticeWords } from '../i18n/notices.ts';
import { Subtext } from './Subtext.tsx';

/** A notice, followed by the core's English text if the window has another language. */
export function NoticeText({ notice }: { notice: Notice }) {
  const { i18n } = useTranslation();
  const { message, detail } = noticeWords(notice, i18n.language);
  return (
    <div>
      <Text>{message}</Text>
      {detail !== '' && <Subtext lang="en">{detail}</Subtext>}
    </div>
  );
}
