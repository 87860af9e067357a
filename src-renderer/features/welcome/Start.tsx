import { Anchor } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useCall } from '../../client/context.tsx';
import { readyOf } from './readiness.ts';
import { Suggestions } from './Suggestions.tsx';
import classes from './Welcome.module.css';

/** Start of a conversation for a returning user. */
export function Start({ onAsk }: { onAsk: (question: string) => void }) {
  const { t } = useTranslation('welcome');
  const { data: libraries } = useCall('libraries.list');
  const { data: models } = useCall('models.list');
  const documents = libraries?.reduce((sum, library) => sum + library.documents, 0) ?? 0;
  const ready = libraries?.reduce((sum, library) => sum + readyOf(library), 0) ?? 0;
  const own = libraries?.some((library) => !library.sample && library.documents > 0) ?? false;
  const demo =
    models?.some(({ active, role, origin }) => active && role === 'chat' && origin === 'demo') ?? false;
  if (!libraries) return null;
  return (
    <div className={classes.page}>
      <h2 className={classes.title}>{t('slimTitle')}</h2>
      <p className={classes.intro}>
        {ready > 0 ? t('slimText', { count: ready }) : t(documents > 0 ? 'slimNone' : 'slimEmpty')}{' '}
        <Anchor size="md" component={Link} href="/library">
          {t('addDocuments')}
        </Anchor>
      </p>
      {own && demo && (
        <p className={classes.warning}>
          <IconAlertTriangle size={17} aria-hidden />
          <span>
            {t('demoWithOwn')}{' '}
            <Anchor size="md" component={Link} href="/models">
              {t('importModel')}
            </Anchor>
          </span>
        </p>
      )}
      <Suggestions onAsk={onAsk} />
    </div>
  );
}
