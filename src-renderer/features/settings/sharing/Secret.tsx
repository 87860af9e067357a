import { Alert, Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SharingInfo, SharingSecret } from '../../../../src-shared/contract/sharing.ts';
import { useAction } from '../../../client/context.tsx';
import { Form } from '../../../ui/Form.tsx';
import { Subtext } from '../../../ui/Subtext.tsx';
import { notifyFailure } from '../../../ui/notify.tsx';

/** A secret: whether it is set, and a field to replace it. Its value is never shown. */
export function Secret({
  name,
  info,
  help,
  needed = false,
}: {
  name: SharingSecret;
  info: SharingInfo | undefined;
  help?: string;
  /** Nothing is shared while it is missing. */
  needed?: boolean;
}) {
  const { t } = useTranslation(['sharing', 'common']);
  const set = useAction('sharing.setSecret');
  const [draft, setDraft] = useState<string>();
  const kept = info?.secrets[name];
  const isLost = needed && info !== undefined && !kept;
  const keep = (secret: string): void =>
    set.mutate({ name, secret }, { onSuccess: () => setDraft(undefined), onError: notifyFailure });
  const label = t(`secrets.${name}`);
  return (
    <Stack gap={4} role="group" aria-label={label}>
      <Text fw={600}>{label}</Text>
      {help !== undefined && <Subtext>{help}</Subtext>}
      {isLost ? (
        <Alert my={4} color="orange" icon={<IconAlertTriangle size={18} aria-hidden />}>
          {t('secrets.lost')}
        </Alert>
      ) : (
        <Text style={{ overflowWrap: 'anywhere' }}>
          {kept ? t(`secrets.${kept}`, { path: info.secretsFile }) : t('secrets.none')}
        </Text>
      )}
      {draft === undefined ? (
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => setDraft('')}>
            {t(kept ? 'secrets.replace' : 'secrets.enter')}
          </Button>
          {(kept ?? isLost) && (
            <Button size="xs" variant="default" loading={set.isPending} onClick={() => keep('')}>
              {t(isLost ? 'secrets.doWithout' : 'secrets.forget')}
            </Button>
          )}
        </Group>
      ) : (
        <Form onSubmit={() => keep(draft.trim())}>
          <Group gap="xs" wrap="nowrap">
            <PasswordInput
              style={{ flexGrow: 1 }}
              aria-label={t('secrets.formFor', { name: label })}
              autoComplete="off"
              data-autofocus
              value={draft}
              onChange={(event) => setDraft(event.currentTarget.value)}
            />
            <Button type="submit" loading={set.isPending} disabled={draft.trim() === ''}>
              {t('common:action.save')}
            </Button>
            <Button variant="default" onClick={() => setDraft(undefined)}>
              {t('common:action.cancel')}
            </Button>
          </Group>
        </Form>
      )}
    </Stack>
  );
}
