import { Anchor, Button, Group, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { DocumentInfo } from '../../../../src-shared/contract/libraries.ts';
import { useAction } from '../../../client/context.tsx';
import { notifyFailure } from '../../../ui/notify.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import classes from './Document.module.css';

/** Where a page is from, and when it was fetched. */
export function WebSource({ document: { id, address, fetchedMs } }: { document: DocumentInfo }) {
  const { t } = useTranslation('library');
  const format = useFormat();
  const refetch = useAction('documents.refetch');
  if (address === null || fetchedMs === null) return null;
  return (
    <Group gap="sm">
      <Text c="dimmed" className={classes.summary}>
        {t('document.fetched', { date: format.date(fetchedMs) })}{' '}
        <Anchor href={address} target="_blank" rel="noopener noreferrer">
          {address}
        </Anchor>
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        loading={refetch.isPending}
        leftSection={<IconRefresh size={14} aria-hidden />}
        onClick={() => refetch.mutate({ id }, { onError: notifyFailure })}
      >
        {t('document.refetch')}
      </Button>
    </Group>
  );
}
