import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ReactNode } from 'react';
import { IconAction } from './IconAction.tsx';

export function CopyAction({
  text,
  label,
  icon = <IconCopy size={16} />,
}: {
  text: string;
  label: string;
  icon?: ReactNode;
}) {
  const { t } = useTranslation('common');
  const { copied, copy } = useClipboard({ timeout: 1500 });
  return (
    <IconAction
      label={copied ? t('action.copied') : label}
      icon={copied ? <IconCheck size={16} /> : icon}
      onClick={() => copy(text)}
    />
  );
}
