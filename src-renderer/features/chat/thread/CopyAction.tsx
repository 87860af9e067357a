import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { IconAction } from './IconAction.tsx';

export function CopyAction({ text, label }: { text: string; label: string }) {
  const { t } = useTranslation('common');
  const { copied, copy } = useClipboard({ timeout: 1500 });
  return (
    <IconAction
      label={copied ? t('action.copied') : label}
      icon={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      onClick={() => copy(text)}
    />
  );
}
