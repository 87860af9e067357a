import { Text, type TextProps } from '@mantine/core';
import type { ComponentProps } from 'react';

/** A secondary line: smaller and dimmed. */
export function Subtext(props: TextProps & Omit<ComponentProps<'p'>, keyof TextProps>) {
  return <Text size="xs" c="dimmed" {...props} />;
}
