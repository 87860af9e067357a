import { ActionIcon, Loader } from '@mantine/core';
import { IconFileUnknown, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../client/context.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import classes from './FusionPanel.module.css';
import { ReportPage } from './ReportPage.tsx';

interface FusionPanelProps {
  conversationId: string;
  answerId: string;
  onClose: () => void;
  /** Controls of the container, for the panel's title bar. */
  controls?: ReactNode;
}

/** How an answer's prompt was processed: what was reused and recomputed, and where the time went. Fills its container. */
export default function FusionPanel({ conversationId, answerId, onClose, controls }: FusionPanelProps) {
  const { t } = useTranslation(['fusion', 'common']);
  const { data: report, error, refetch } = useCall('chat.report', { answerId });
  const close = (
    <>
      {controls}
      <ActionIcon aria-label={t('common:action.close')} onClick={onClose}>
        <IconX size={18} stroke={1.6} />
      </ActionIcon>
    </>
  );
  if (report && isKnown(report.version))
    return <ReportPage key={answerId} conversationId={conversationId} report={report} close={close} />;
  return (
    <Frame title={t('title')} close={close}>
      {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
      {report === undefined && !error && <Loader aria-label={t('loading')} m="xl" />}
      {report === null && (
        <EmptyState icon={<IconFileUnknown />} title={t('missing.title')} text={t('missing.text')} />
      )}
      {report && (
        <EmptyState icon={<IconFileUnknown />} title={t('version.title')} text={t('version.text')} />
      )}
    </Frame>
  );
}

/** Stored reports may come from other versions of the program. */
function isKnown(version: number): boolean {
  return version === 1;
}

function Frame({ title, close, children }: { title: string; close: ReactNode; children: ReactNode }) {
  return (
    <section className={classes.panel} aria-label={title}>
      <div className={classes.bar}>
        <h2 className={classes.title}>{title}</h2>
        {close}
      </div>
      <div className={classes.scroll}>
        <div className={classes.content}>{children}</div>
      </div>
    </section>
  );
}
