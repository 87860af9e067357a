import { Button, Group } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CallDecision, ToolCall } from '../../../../src-shared/contract/tool-calls.ts';
import { CallText } from './CallText.tsx';
import { useToolDescription, useToolTitle } from './useTool.ts';
import classes from './Calls.module.css';

/** Asks whether a tool may run: whose it is, what it says about itself, and what it receives. */
export function CallPermission({
  call,
  onDecide,
}: {
  call: ToolCall;
  onDecide: (decision: CallDecision) => Promise<void>;
}) {
  const { t } = useTranslation('chat');
  const title = useToolTitle()(call);
  const description = useToolDescription(call);
  const [decided, setDecided] = useState<CallDecision>();
  const [titleId, textId] = [useId(), useId()];
  const { server } = call;
  const button = (decision: CallDecision) => ({
    size: 'compact-md',
    loading: decided === decision,
    disabled: decided !== undefined && decided !== decision,
    onClick: () => {
      setDecided(decision);
      // If it fails, it can be decided again.
      void onDecide(decision).finally(() => setDecided(undefined));
    },
  });
  return (
    <section className={classes.permission} aria-labelledby={titleId} aria-describedby={textId}>
      <p className={classes.question} role="alert">
        <IconHandStop size={18} aria-hidden />
        <span id={titleId}>
          {server === null ? t('calls.askOwn', { title }) : t('calls.ask', { title, server })}
        </span>
      </p>
      <div id={textId} className={classes.about}>
        {description !== '' && <p className={classes.says}>{t('calls.says', { description })}</p>}
        <p>{server === null ? t('calls.ownEffect') : t('calls.effect', { server })}</p>
      </div>
      <CallText label={t('calls.arguments')} text={call.arguments} />
      <Group gap="xs" mt={10}>
        <Button {...button('once')}>{t('calls.once')}</Button>
        <Button variant="default" {...button('always')}>
          {t('calls.always')}
        </Button>
        <Button variant="subtle" color="gray" {...button('no')}>
          {t('calls.no')}
        </Button>
      </Group>
    </section>
  );
}
