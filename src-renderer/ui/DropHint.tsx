import { Text, ThemeIcon } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import classes from './DropHint.module.css';

/** Covers the screen while files are dragged over it. */
export function DropHint({ title, text }: { title: string; text: string }) {
  return (
    <div className={classes.drop} role="status">
      <ThemeIcon size={64} radius="xl">
        <IconDownload size={34} />
      </ThemeIcon>
      <Text fw={600} size="lg">
        {title}
      </Text>
      <Text size="md" c="dimmed">
        {text}
      </Text>
    </div>
  );
}
