import { Text, ThemeIcon } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import classes from './Library.module.css';

/** Lies over the screen while files are held over it. */
export function DropHint({ name }: { name: string }) {
  const { t } = useTranslation(['library', 'common']);
  return (
    <div className={classes.drop} role="status">
      <ThemeIcon size={64} radius="xl">
        <IconDownload size={34} />
      </ThemeIcon>
      <Text fw={600} size="lg">
        {t('drop.title', { name })}
      </Text>
      <Text c="dimmed">{t('drop.text')}</Text>
    </div>
  );
}
