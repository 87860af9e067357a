import type { ReactNode } from 'react';
import classes from './Cache.module.css';

export function Section({ title, value, children }: { title: string; value?: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <div className={classes.sectionHead}>
        <h2>{title}</h2>
        {value !== undefined && <span>{value}</span>}
      </div>
      {children}
    </section>
  );
}
