import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HubInfo } from '../../../../src-shared/contract/hub.ts';
import { useAction } from '../../../client/context.tsx';
import { Form } from '../../../ui/Form.tsx';
import { notifyFailure } from '../../../ui/notify.tsx';
import classes from './Discover.module.css';

/** The hub's access token, collapsed. */
export function Token({ hub }: { hub: HubInfo }) {
  const { t } = useTranslation('hub');
  return (
    <details>
      <summary className={classes.summary}>{t('token.title')}</summary>
      <TokenForm hub={hub} />
    </details>
  );
}

/** Where the token is stored, and a field to enter one. */
export function TokenForm({ hub }: { hub: HubInfo }) {
  const { t } = useTranslation(['hub', 'common']);
  const set = useAction('hub.setToken');
  const [draft, setDraft] = useState('');
  const { host, tokenFile: path, token, keeps } = hub;
  const keep = (value: string): void =>
    set.mutate({ token: value }, { onSuccess: () => setDraft(''), onError: notifyFailure });
  return (
    <Stack gap="xs" mt="xs" maw={620}>
      <Text style={{ overflowWrap: 'anywhere' }}>
        {token === 'none' ? t('token.none') : t(`token.kept.${token}`, { host, path })}
      </Text>
      <Form onSubmit={() => keep(draft.trim())}>
        <PasswordInput
          label={t('token.label', { host })}
          description={t(`token.will.${keeps}`, { host, path })}
          inputWrapperOrder={['label', 'input', 'description']}
          autoComplete="off"
          value={draft}
          onChange={(event) => setDraft(event.currentTarget.value)}
        />
        <Group gap="xs" mt="xs">
          <Button type="submit" size="xs" loading={set.isPending} disabled={draft.trim() === ''}>
            {t('common:action.save')}
          </Button>
          {token !== 'none' && (
            <Button size="xs" variant="default" disabled={set.isPending} onClick={() => keep('')}>
              {t('token.forget')}
            </Button>
          )}
        </Group>
      </Form>
    </Stack>
  );
}
