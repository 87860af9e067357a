import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export default function SettingsScreen() {
  const { t } = useTranslation();
  return <Page title={t('nav.settings')}>{null}</Page>;
}
