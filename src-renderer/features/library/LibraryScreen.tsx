import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export default function LibraryScreen() {
  const { t } = useTranslation();
  return <Page title={t('nav.library')}>{null}</Page>;
}
