import classes from './Trail.module.css';

const SEPARATOR = ' › ';

/** The title of a document and the headings down to a section. Where it is too long, its middle gives way: the section tells most. */
export function Trail({ text }: { text: string }) {
  const at = text.lastIndexOf(SEPARATOR);
  return (
    <span className={classes.trail} title={text}>
      {at >= 0 && <span className={classes.way}>{text.slice(0, at)}</span>}
      <span className={classes.section}>{at < 0 ? text : text.slice(at)}</span>
    </span>
  );
}
