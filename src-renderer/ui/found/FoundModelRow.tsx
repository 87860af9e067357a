import { Badge, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FoundModel } from '../../../src-shared/contract/found-models.ts';
import { useEvent } from '../../client/context.tsx';
import { failureWords } from '../../i18n/failures.ts';
import { joinSentences } from '../../i18n/join-sentences.ts';
import { FitBadge } from '../FitBadge.tsx';
import { useFormat } from '../useFormat.ts';
import { useFoundModel } from './useFoundModel.ts';
import classes from './FoundModelRow.module.css';

/** A model that was found; a click uses it. */
export function FoundModelRow({ model }: { model: FoundModel }) {
  const { t } = useTranslation(['found', 'models', 'common']);
  const { use, busy, active } = useFoundModel(model);
  const { fit, obstacle } = model.header ?? {};
  return (
    <li className={classes.row} aria-label={model.name}>
      <Group justify="space-between" wrap="nowrap">
        <Stack gap={2} miw={0}>
          <Group gap="xs">
            <Text size="md" fw={600} className={classes.name}>
              {model.name}
            </Text>
            <Badge color="gray">{t(`app.${model.app}`)}</Badge>
            {fit && <FitBadge verdict={fit.verdict} />}
          </Group>
          <Facts model={model} />
          {model.hasAdapter && <Text>{t('adapter')}</Text>}
          {obstacle && <Text>{t(`common:notBlended.${obstacle}`, { name: model.name })}</Text>}
        </Stack>
        {active ? (
          <Badge>{t('common:inUse')}</Badge>
        ) : (
          <Button
            size="xs"
            variant="light"
            className={classes.use}
            loading={busy}
            aria-label={t('common:action.useOf', { name: model.name })}
            onClick={() => void use()}
          >
            {t('common:action.use')}
          </Button>
        )}
      </Group>
      {busy && <Loading id={model.id} />}
    </li>
  );
}

/** A file that cannot be used, with the reason. */
export function UnusableRow({ model }: { model: FoundModel }) {
  const { i18n } = useTranslation();
  const { header, failure } = model;
  const words = failure && failureWords(failure, i18n.language);
  return (
    <li className={classes.row} aria-label={model.name}>
      <Stack gap={2}>
        <Text size="md" fw={600} className={classes.name}>
          {model.name}
        </Text>
        <Facts model={model} />
        <Text style={{ overflowWrap: 'anywhere' }}>
          {words ? joinSentences([words.message, words.detail || words.advice]) : header?.unsupportedReason}
        </Text>
      </Stack>
    </li>
  );
}

function Facts({ model: { app, alsoIn, header, fileBytes } }: { model: FoundModel }) {
  const { t, i18n } = useTranslation(['found', 'models']);
  const format = useFormat();
  const apps = new Intl.ListFormat(i18n.language).format(alsoIn.map((each) => t(`app.${each}`)));
  const facts = [
    header ? t(`models:role.${header.role}`) : t(`app.${app}`),
    header?.architecture,
    header?.quantization,
    fileBytes > 0 && format.bytes(fileBytes),
    header?.role === 'chat' &&
      header.unsupportedReason === '' &&
      t(header.obstacle ? 'notBlended' : 'blended'),
    header?.baseModel && t('models:notForChat'),
    apps !== '' && t('alsoIn', { apps }),
  ];
  return <Text c="dimmed">{facts.filter(Boolean).join(' · ')}</Text>;
}

function Loading({ id }: { id: string | null }) {
  const { t } = useTranslation('models');
  const [fraction, setFraction] = useState(0);
  useEvent('models.progress', (progress) => {
    if (progress.id === id) setFraction(progress.fraction);
  });
  return <Progress mt="xs" value={fraction * 100} animated aria-label={t('state.loading')} />;
}
