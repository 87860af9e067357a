import { Alert, Anchor, Text } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { HubInfo, HubRepository } from '../../../../src-shared/contract/hub.ts';
import { Token } from './Token.tsx';
import classes from './Discover.module.css';

/** What to do about a repository whose terms have to be accepted. */
export function Gated({ repository, hub }: { repository: HubRepository; hub: HubInfo }) {
  const { t } = useTranslation('hub');
  const { page, gated } = repository;
  return (
    <Alert color="yellow" variant="light" icon={<IconLock />} title={t('gatedSteps.title')} role="note">
      <ol className={classes.steps}>
        <li>
          {t('gatedSteps.page')}{' '}
          <Anchor href={page} target="_blank" rel="noopener noreferrer" inherit>
            {page}
          </Anchor>
        </li>
        <li>{t('gatedSteps.token')}</li>
      </ol>
      {gated === 'manual' && <Text size="sm">{t('gatedSteps.manual')}</Text>}
      <Token hub={hub} />
    </Alert>
  );
}
