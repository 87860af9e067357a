import { Alert, Button, Group, Text } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Sharing } from '../../../../src-shared/sharing.ts';
import { useAction } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { useFormat } from '../../../ui/useFormat.ts';

/** Tests the current settings; a result is shown as long as they are those that were tested. */
export function TestConnection({ sharing }: { sharing: Sharing }) {
  const { t } = useTranslation('sharing');
  const format = useFormat();
  const test = useAction('sharing.test');
  // A field edited just before the click is saved while the test runs: its result may arrive first.
  const isCurrent = JSON.stringify(test.data?.sharing) === JSON.stringify(sharing);
  const result = isCurrent ? test.data : undefined;
  const failure = test.error ?? result?.failure;
  return (
    <>
      <Group gap="md">
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate({})}>
          {t('test.button')}
        </Button>
        <Text c="dimmed">{t(sharing.readOnly ? 'test.helpReadOnly' : 'test.help')}</Text>
      </Group>
      <div role="status">
        {failure && <FailureAlert failure={failure} />}
        {result && !failure && (
          <Alert color="green" icon={<IconCheck size={18} aria-hidden />}>
            {t('test.works', { where: result.where, time: format.duration(result.ms) })}
          </Alert>
        )}
      </div>
    </>
  );
}
