import { Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** Placeholder for an empty list: what it is for, and how to start. */
export function EmptyState({
  icon,
  title,
  text,
  children,
}: {
  icon: ReactNode;
  title: string;
  text?: string | undefined;
  children?: ReactNode;
}) {
  return (
    <Stack align="center" justify="center" gap="sm" py={48} px="md" ta="center">
      <ThemeIcon size={56} radius="xl" variant="light">
        {icon}
      </ThemeIcon>
      <Title order={2} size="h4">
        {title}
      </Title>
      {text !== undefined && (
        <Text size="md" c="dimmed" maw={460}>
          {text}
        </Text>
      )}
      {children}
    </Stack>
  );
}
