import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export default function SearchScreen() {
  const { t } = useTranslation();
  return <Page title={t('nav.search')}>{null}</Page>;
}
