import { ActionIcon, Button, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { FailureText } from '../../ui/FailureText.tsx';
import { useTranslation } from 'react-i18next';
import { Subtext } from '../../ui/Subtext.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { useUploads, type UploadBatch } from '../../ui/uploads.ts';
import classes from './Library.module.css';

const SHOWN_FAILURES = 50;

/** Running uploads and their results, below the documents so that it covers none of them. */
export function UploadPanel() {
  const batches = useUploads(({ batches }) => batches);
  if (batches.length === 0) return null;
  return (
    <Stack className={classes.uploads} gap="xs">
      {batches.map((batch) => (
        <Batch key={batch.id} batch={batch} />
      ))}
    </Stack>
  );
}

function Batch({ batch }: { batch: UploadBatch }) {
  const { t } = useTranslation(['library', 'common']);
  const cancel = useUploads((state) => state.cancel);
  const dismiss = useUploads((state) => state.dismiss);
  const running = batch.state === 'running';
  const share = batch.total === 0 ? 0 : (batch.done / batch.total) * 100;
  return (
    <Paper bg="transparent" component="section" aria-label={t('upload.title', { name: batch.libraryName })}>
      <Stack gap={6}>
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Text fw={600} truncate>
            {t('upload.title', { name: batch.libraryName })}
          </Text>
          {running ? (
            <Button size="compact-xs" variant="default" onClick={() => cancel(batch.id)}>
              {t('common:action.cancel')}
            </Button>
          ) : (
            <ActionIcon size="sm" aria-label={t('upload.dismiss')} onClick={() => dismiss(batch.id)}>
              <IconX size={15} />
            </ActionIcon>
          )}
        </Group>
        <Progress
          size="sm"
          value={share}
          animated={running}
          aria-label={t('upload.title', { name: batch.libraryName })}
        />
        <State batch={batch} />
        {batch.failed.length > 0 && <Failures failed={batch.failed} />}
      </Stack>
    </Paper>
  );
}

function State({ batch: { counting, state, done, total, failed } }: { batch: UploadBatch }) {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const numbers = { done: format.number(done), total: format.number(total) };
  return (
    <Subtext role="status">
      {state === 'running' && counting && t('upload.counting', { count: total })}
      {state === 'running' && !counting && t('upload.progress', numbers)}
      {state === 'finished' && t('upload.finished', { count: done - failed.length })}
      {state === 'cancelled' && t('upload.cancelled', numbers)}
    </Subtext>
  );
}

function Failures({ failed }: { failed: UploadBatch['failed'] }) {
  const { t } = useTranslation(['library', 'common']);
  return (
    <details className={classes.uploadFailures}>
      <summary>{t('upload.failed', { count: failed.length })}</summary>
      <ul>
        {failed.slice(0, SHOWN_FAILURES).map(({ path, failure }) => (
          <li key={path}>
            <strong>{path}</strong> <FailureText failure={failure} />
          </li>
        ))}
      </ul>
      {failed.length > SHOWN_FAILURES && t('upload.more', { count: failed.length - SHOWN_FAILURES })}
    </details>
  );
}
