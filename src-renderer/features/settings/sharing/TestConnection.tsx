import { Alert, Button, Group, Text } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Sharing } from '../../../../src-shared/sharing.ts';
import { useAction } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { useFormat } from '../../../ui/useFormat.ts';

/** Tests the current settings; any change of them clears the result. */
export function TestConnection({ sharing }: { sharing: Sharing }) {
  const { t } = useTranslation('sharing');
  const format = useFormat();
  const test = useAction('sharing.test');
  const { isPending, reset } = test;
  const setTo = JSON.stringify(sharing);
  const lastSetTo = useRef(setTo);
  useEffect(() => {
    // A field edited just before the click is saved while the test runs, and the test uses it.
    if (setTo !== lastSetTo.current && !isPending) reset();
    lastSetTo.current = setTo;
  }, [setTo, isPending, reset]);
  const failure = test.error ?? test.data?.failure;
  return (
    <>
      <Group gap="md">
        <Button variant="default" loading={isPending} onClick={() => test.mutate({})}>
          {t('test.button')}
        </Button>
        <Text size="sm" c="dimmed">
          {t(sharing.readOnly ? 'test.helpReadOnly' : 'test.help')}
        </Text>
      </Group>
      <div role="status">
        {failure && <FailureAlert failure={failure} />}
        {test.data && !failure && (
          <Alert color="green" icon={<IconCheck size={18} aria-hidden />}>
            {t('test.works', { where: test.data.where, time: format.duration(test.data.ms) })}
          </Alert>
        )}
      </div>
    </>
  );
}
