import { IconArrowsDiagonal, IconArrowsDiagonalMinimize2 } from '@tabler/icons-react';
import { useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../../ui/IconButton.tsx';
import { useChatLayout } from '../chat-state.ts';
import classes from './ReportPane.module.css';

const MIN_WIDTH = 380;
/** Minimum width left for the conversation, in pixels. */
const MIN_THREAD = 360;
const KEY_STEP = 24;

/** An answer's report next to the conversation, or covering it. Its edge can be dragged. */
export function ReportPane({
  overlay,
  onClose,
  children,
}: {
  /** There is no room next to the conversation. */
  overlay: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const { t } = useTranslation('chat');
  const pane = useRef<HTMLElement>(null);
  const { reportWidth, reportWide } = useChatLayout();
  const full = overlay || reportWide;
  const resize = (width: number): void => {
    const available = pane.current?.parentElement?.clientWidth ?? 1200;
    const most = Math.max(MIN_WIDTH, available - MIN_THREAD);
    useChatLayout.setState({ reportWidth: Math.round(Math.min(most, Math.max(MIN_WIDTH, width))) });
  };
  return (
    <aside
      ref={pane}
      className={classes.pane}
      data-full={full}
      style={full ? undefined : { width: reportWidth }}
      aria-label={t('report.label')}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // Escape closes what is open above the report first; the thread's shortcuts must not see the key.
        event.stopPropagation();
        if (!event.defaultPrevented && !isOfMenu(event)) onClose();
      }}
    >
      {!full && <Edge width={reportWidth} pane={pane} onResize={resize} />}
      <div className={classes.body}>{children}</div>
    </aside>
  );
}

/** Switches the report between full width and next to the conversation. */
export function WidthToggle() {
  const { t } = useTranslation('chat');
  const { reportWide } = useChatLayout();
  const label = t(reportWide ? 'report.narrow' : 'report.wide');
  const Icon = reportWide ? IconArrowsDiagonalMinimize2 : IconArrowsDiagonal;
  return (
    <IconButton label={label} onClick={() => useChatLayout.setState({ reportWide: !reportWide })}>
      <Icon size={17} />
    </IconButton>
  );
}

function Edge({
  width,
  pane,
  onResize,
}: {
  width: number;
  pane: React.RefObject<HTMLElement | null>;
  onResize: (width: number) => void;
}) {
  const { t } = useTranslation('chat');
  return (
    <div
      className={classes.edge}
      role="separator"
      aria-orientation="vertical"
      aria-label={t('report.resize')}
      aria-valuenow={width}
      aria-valuemin={MIN_WIDTH}
      tabIndex={0}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        const right = pane.current?.getBoundingClientRect().right ?? 0;
        onResize(right - event.clientX);
      }}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') onResize(width + KEY_STEP);
        if (key === 'ArrowRight') onResize(width - KEY_STEP);
      }}
    />
  );
}

/** Whether a key belongs to an open menu: React bubbles it here although menus are elsewhere in the DOM. */
function isOfMenu({ target, currentTarget }: React.KeyboardEvent): boolean {
  const element = target as HTMLElement;
  return !currentTarget.contains(element) || element.matches('[aria-haspopup=menu][aria-expanded=true]');
}
