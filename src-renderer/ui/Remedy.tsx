import { Button, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useAction, useCall } from '../client/context.tsx';
import type { ShownFailure } from '../i18n/failures.ts';
import { FailureText } from './FailureText.tsx';

/** Whether the window can carry out a failure's advice. */
export function hasRemedy({ code }: ShownFailure): boolean {
  return code === 'MODEL_CHANGED';
}

/** A button that carries out the advice, if the window can. */
export function Remedy({ failure }: { failure: ShownFailure }) {
  return hasRemedy(failure) ? <LoadAgain /> : null;
}

/** Reloads the active model, and shows the result in place. */
function LoadAgain() {
  const { t } = useTranslation();
  const { data: models } = useCall('models.list');
  const { mutate, isPending, isSuccess, error } = useAction('models.activate');
  const model = models?.find(({ role, active }) => role === 'chat' && active);
  if (isSuccess) return <Text role="status">{t('loadAgain.done')}</Text>;
  return (
    <>
      {(model ?? isPending) && (
        <Button
          size="compact-sm"
          variant="light"
          color="red"
          loading={isPending}
          onClick={() => model && mutate({ id: model.id })}
        >
          {t('loadAgain.open')}
        </Button>
      )}
      {error && (
        <Text role="alert">
          <FailureText failure={error} />
        </Text>
      )}
    </>
  );
}
