import { useTranslation } from 'react-i18next';
import type { SourceWords } from '../../../../src-shared/source-list.ts';
import { pageWords } from '../../../ui/page-words.ts';

export function useSourceWords(): SourceWords {
  const { t } = useTranslation('chat');
  return {
    title: t('sources.list'),
    page: (label) => pageWords(label, (page) => t('sources.page', { page })),
    part: (number) => t('sources.part', { number }),
  };
}
