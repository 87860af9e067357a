import { Group, ScrollArea, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Page.module.css';

/** A screen's frame: title, subtitle, actions on the right, scrolling content below. */
export function Page({
  title,
  subtitle,
  actions,
  scroll = true,
  children,
}: {
  title: string;
  subtitle?: ReactNode;
  actions?: ReactNode;
  /** false: the content handles scrolling (virtual lists). */
  scroll?: boolean;
  children: ReactNode;
}) {
  return (
    <Stack gap={0} h="100%" mih={0}>
      <header className={classes.header}>
        <Stack gap={2}>
          <Title order={1} size="h3">
            {title}
          </Title>
          {subtitle !== undefined && <Text c="dimmed">{subtitle}</Text>}
        </Stack>
        {actions !== undefined && (
          <Group gap="xs" className={classes.actions}>
            {actions}
          </Group>
        )}
      </header>
      {scroll ? (
        <ScrollArea className={classes.body} type="auto">
          <div className={classes.content}>{children}</div>
        </ScrollArea>
      ) : (
        <div className={`${classes.body ?? ''} ${classes.filling ?? ''}`}>{children}</div>
      )}
    </Stack>
  );
}
