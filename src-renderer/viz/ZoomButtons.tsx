import { ActionIcon, Group } from '@mantine/core';
import { IconZoomIn, IconZoomOut, IconZoomReset } from '@tabler/icons-react';
import type { SpanControl } from './useSpan.ts';

/** The same as + − 0, for the pointer. */
export function ZoomButtons({
  control,
  words,
}: {
  control: SpanControl;
  words: { zoomIn: string; zoomOut: string; zoomAll: string };
}) {
  return (
    <Group gap={2} wrap="nowrap">
      <ActionIcon aria-label={words.zoomOut} onClick={() => control.zoom(2)}>
        <IconZoomOut size={16} stroke={1.6} />
      </ActionIcon>
      <ActionIcon aria-label={words.zoomIn} onClick={() => control.zoom(0.5)}>
        <IconZoomIn size={16} stroke={1.6} />
      </ActionIcon>
      <ActionIcon aria-label={words.zoomAll} disabled={!control.zoomed} onClick={control.reset}>
        <IconZoomReset size={16} stroke={1.6} />
      </ActionIcon>
    </Group>
  );
}
