import { ActionIcon, Tooltip, type ActionIconProps } from '@mantine/core';
import type { ComponentProps } from 'react';

type IconButtonProps = ActionIconProps &
  Omit<ComponentProps<'button'>, keyof ActionIconProps> & {
    /** For screen readers, and the tooltip unless `tip` is given. */
    label: string;
    tip?: string;
  };

/** A button with an icon, named by a tooltip. */
export function IconButton({ label, tip = label, ...button }: IconButtonProps) {
  return (
    <Tooltip label={tip}>
      <ActionIcon aria-label={label} {...button} />
    </Tooltip>
  );
}
