import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';

export default function ChatScreen() {
  const { t } = useTranslation();
  return <Page title={t('nav.chat')}>{null}</Page>;
}
