import { Loader, UnstyledButton } from '@mantine/core';
import {
  IconAlertTriangle,
  IconBan,
  IconCheck,
  IconChevronRight,
  IconHandStop,
  IconPlayerStop,
} from '@tabler/icons-react';
import { useEffect, useId, useRef, useState, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import type { CallDecision, ToolCall } from '../../../../src-shared/contract/tool-calls.ts';
import { useFormat } from '../../../ui/useFormat.ts';
import { argumentLine } from './call-views.ts';
import { CallPermission } from './CallPermission.tsx';
import { CallText } from './CallText.tsx';
import { useToolTitle } from './useTool.ts';
import classes from './Calls.module.css';

const STATE_ICONS = {
  asking: IconHandStop,
  done: IconCheck,
  failed: IconAlertTriangle,
  refused: IconBan,
  stopped: IconPlayerStop,
};

/** Calls made at one place of an answer. */
export function Calls({
  calls,
  onDecide,
}: {
  calls: readonly ToolCall[];
  onDecide: (callId: string, decision: CallDecision) => Promise<void>;
}) {
  const { t } = useTranslation('chat');
  return (
    <ul className={classes.calls} aria-label={t('calls.label')}>
      {calls.map((call) => (
        <li key={call.id} data-state={call.state}>
          <Call call={call} onDecide={(decision) => onDecide(call.id, decision)} />
        </li>
      ))}
    </ul>
  );
}

/** A call as one line that opens to arguments and result; as a question while it waits for a permission. */
function Call({ call, onDecide }: { call: ToolCall; onDecide: (decision: CallDecision) => Promise<void> }) {
  const line = useRef<HTMLButtonElement>(null);
  const [decided, setDecided] = useState(false);
  const asks = call.state === 'asking';
  // The buttons that had the focus are gone.
  useEffect(() => {
    if (decided && !asks) line.current?.focus({ preventScroll: true });
  }, [decided, asks]);
  if (!asks) return <CallLine call={call} line={line} />;
  return (
    <CallPermission
      call={call}
      onDecide={(decision) => {
        setDecided(true);
        return onDecide(decision);
      }}
    />
  );
}

function CallLine({ call, line }: { call: ToolCall; line: RefObject<HTMLButtonElement | null> }) {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const title = useToolTitle()(call);
  const [open, setOpen] = useState(false);
  const detailsId = useId();
  const { state, ms, cutOff } = call;
  const StateIcon = state === 'running' ? null : STATE_ICONS[state];
  const time = state !== 'running' && ms !== null ? ` · ${format.duration(ms)}` : '';
  const words = argumentLine(call.arguments);
  const shortened = cutOff === undefined ? '' : ` · ${t('calls.shortened')}`;
  const outcome = `${t(`calls.state.${state}`)}${time}${shortened}`;
  return (
    <>
      <UnstyledButton
        ref={line}
        className={classes.line}
        aria-expanded={open}
        aria-controls={open ? detailsId : undefined}
        onClick={() => setOpen(!open)}
      >
        <IconChevronRight size={15} aria-hidden data-open={open || undefined} />
        <span className={classes.title}>{title}</span>
        <span className={classes.words}>{words}</span>
        <span className={classes.outcome}>
          {StateIcon ? <StateIcon size={14} aria-hidden /> : <Loader size={12} aria-hidden />}
          {outcome}
        </span>
      </UnstyledButton>
      <p className={classes.paper} data-on="print">
        {`${title}: ${words} (${outcome})`}
      </p>
      {open && (
        <div id={detailsId} className={classes.details}>
          {call.server !== null && <p>{t('calls.ofServer', { server: call.server, name: call.name })}</p>}
          <CallText label={t('calls.arguments')} text={call.arguments} />
          {call.result !== null && (
            <CallText label={t(state === 'failed' ? 'calls.error' : 'calls.result')} text={call.result} />
          )}
          {cutOff !== undefined && <p>{t('calls.cutOff', { count: cutOff })}</p>}
        </div>
      )}
    </>
  );
}
