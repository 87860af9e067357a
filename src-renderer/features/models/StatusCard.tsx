import { Loader, Paper, Stack, Title } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { FailureAlert } from '../../ui/FailureAlert.tsx';

interface StatusCardProps {
  title: string;
  error: ComponentProps<typeof FailureAlert>['failure'] | null;
  onRetry: () => void;
  /** null while loading. */
  children: ReactNode;
}

/** A titled card with information about a model, or the failure, or a loading state. */
export function StatusCard({ title, error, onRetry, children }: StatusCardProps) {
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Title order={2} size="h5">
        {title}
      </Title>
      <Paper withBorder p="md">
        {error && <FailureAlert failure={error} onRetry={onRetry} />}
        {!children && !error && <Loader size="sm" aria-label={title} />}
        {children}
      </Paper>
    </Stack>
  );
}
