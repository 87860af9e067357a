import { ActionIcon, Group } from '@mantine/core';
import { IconZoomIn, IconZoomOut, IconZoomReset } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { SpanControl } from './useSpan.ts';

/** The same as + − 0, for the pointer. */
export function ZoomButtons({ control }: { control: SpanControl }) {
  const { t } = useTranslation('common');
  return (
    <Group gap={2} wrap="nowrap">
      <ActionIcon aria-label={t('action.zoomOut')} onClick={() => control.zoom(2)}>
        <IconZoomOut size={16} stroke={1.6} />
      </ActionIcon>
      <ActionIcon aria-label={t('action.zoomIn')} onClick={() => control.zoom(0.5)}>
        <IconZoomIn size={16} stroke={1.6} />
      </ActionIcon>
      <ActionIcon aria-label={t('action.zoomAll')} disabled={!control.zoomed} onClick={control.reset}>
        <IconZoomReset size={16} stroke={1.6} />
      </ActionIcon>
    </Group>
  );
}
