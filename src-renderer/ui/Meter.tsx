import classes from './Meter.module.css';

/** A small progress bar. The number is next to it or in `label`. */
export function Meter({
  share,
  label,
  color = 'var(--kv-accent)',
  height = 5,
}: {
  /** 0 to 1; more than 1 fills the bar. */
  share: number;
  label: string;
  color?: string;
  height?: number;
}) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      className={classes.track}
      style={{ height }}
    >
      <div className={classes.fill} style={{ width: `${percent}%`, background: color }} />
    </div>
  );
}
