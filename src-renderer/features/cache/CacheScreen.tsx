import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export default function CacheScreen() {
  const { t } = useTranslation();
  return <Page title={t('nav.cache')}>{null}</Page>;
}
