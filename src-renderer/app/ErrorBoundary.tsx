import { Button, Stack } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { FailureAlert } from '../ui/FailureAlert.tsx';

interface Props {
  /** A change of this key retries rendering. */
  location: string;
  children: ReactNode;
}

/** Contains a crash within one screen. */
export class ErrorBoundary extends Component<Props, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.error && before.location !== this.props.location) this.setState({ error: undefined });
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error ? <Crashed error={error} /> : this.props.children;
  }
}

function Crashed({ error }: { error: Error }) {
  const { t } = useTranslation();
  return (
    <Stack p="xl" maw={720}>
      <FailureAlert failure={{ message: t('error.crashed'), advice: error.message }} />
      <Button variant="light" w="fit-content" onClick={() => location.reload()}>
        {t('error.reload')}
      </Button>
    </Stack>
  );
}
