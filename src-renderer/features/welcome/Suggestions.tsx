import { Stack, UnstyledButton } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../client/context.tsx';
import classes from './Welcome.module.css';

const SHOWN = 3;

/** Suggested questions; a click asks one. */
export function Suggestions({ onAsk }: { onAsk: (question: string) => void }) {
  const { t } = useTranslation('welcome');
  const { data: questions = [] } = useCall('chat.suggestions');
  if (questions.length === 0) return null;
  return (
    <section aria-label={t('try')}>
      <h2 className={classes.heading}>{t('try')}</h2>
      <Stack gap={6} component="ul">
        {questions.slice(0, SHOWN).map((question) => (
          <li key={question}>
            <UnstyledButton className={classes.suggestion} onClick={() => onAsk(question)}>
              <span>{question}</span>
              <IconArrowRight size={17} aria-hidden />
            </UnstyledButton>
          </li>
        ))}
      </Stack>
    </section>
  );
}
