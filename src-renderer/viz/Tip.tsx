import type { ReactNode } from 'react';
import type { Point } from './picture.ts';
import classes from './viz.module.css';

const WIDTH = 290;

/** A tooltip for an item, within a positioned container of `frame`'s size. Ignores the pointer. */
export function Tip({
  at,
  below,
  frame,
  children,
}: {
  /** Position of the item. The tooltip is placed under `below`, or above the item if there is more room. */
  at: Point;
  below: number;
  frame: { width: number; height: number };
  children: ReactNode;
}) {
  const left = Math.max(0, Math.min(at.x - 20, frame.width - WIDTH));
  const vertical =
    below > frame.height * 0.55 ? { bottom: frame.height - at.y + 6 } : { top: Math.max(0, below + 6) };
  return (
    <div className={classes.tip} style={{ left, width: WIDTH, ...vertical }} aria-hidden>
      {children}
    </div>
  );
}

/** Details of an item, as name and value. */
export interface ItemNote {
  title: string;
  rows: readonly (readonly [string, string])[];
}

/** Name and value pairs of a tooltip. */
export function TipRows({ title, rows }: ItemNote) {
  return (
    <>
      <div className={classes.tipTitle}>{title}</div>
      <dl className={classes.tipRows}>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
