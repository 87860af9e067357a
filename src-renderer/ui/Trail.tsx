import classes from './Trail.module.css';

const SEPARATOR = ' › ';

/** A document's title and the headings down to a section. If too long, the middle is truncated, because the section is most specific. */
export function Trail({ text }: { text: string }) {
  const at = text.lastIndexOf(SEPARATOR);
  return (
    <span className={classes.trail} title={text}>
      {at >= 0 && <span className={classes.way}>{text.slice(0, at)}</span>}
      <span className={classes.section}>{at < 0 ? text : text.slice(at)}</span>
    </span>
  );
}
