import type { ReactNode } from 'react';
import { IconButton, type IconButtonProps } from '../../../ui/IconButton.tsx';
import classes from './Thread.module.css';

/** A button below a message; its tooltip comes late, because the pointer often passes. */
export function IconAction({ icon, ...button }: IconButtonProps & { icon: ReactNode }) {
  return (
    <IconButton className={classes.iconAction ?? ''} openDelay={400} {...button}>
      {icon}
    </IconButton>
  );
}
