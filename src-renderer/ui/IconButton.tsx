import { ActionIcon, Tooltip, type ActionIconProps } from '@mantine/core';
import type { ComponentProps } from 'react';

export type IconButtonProps = ActionIconProps &
  Omit<ComponentProps<'button'>, keyof ActionIconProps> & {
    /** For screen readers, and the tooltip unless `tip` is given. */
    label: string;
    tip?: string;
    /** Before the tooltip, in milliseconds. */
    openDelay?: number;
  };

/** A button with an icon, named by a tooltip. */
export function IconButton({ label, tip = label, openDelay = 0, ...button }: IconButtonProps) {
  return (
    <Tooltip label={tip} openDelay={openDelay}>
      <ActionIcon aria-label={label} {...button} />
    </Tooltip>
  );
}
