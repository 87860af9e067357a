import { ActionIcon, FileButton, Tooltip } from '@mantine/core';
import { IconPaperclip } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { AttachActions } from './useAttach.ts';

/** Adds files and asks about them: with the host's file dialog if it has one, otherwise the browser's. */
export function AttachButton({ attach }: { attach: AttachActions }) {
  const { t } = useTranslation('chat');
  const label = t('composer.attach');
  const icon = <IconPaperclip size={18} />;
  const looks = { variant: 'subtle', color: 'gray', 'aria-label': label } as const;
  if (attach.nativeDialogs) {
    return (
      <Tooltip label={label}>
        <ActionIcon {...looks} onClick={attach.browse}>
          {icon}
        </ActionIcon>
      </Tooltip>
    );
  }
  return (
    <FileButton multiple onChange={attach.choose}>
      {(props) => (
        <Tooltip label={label}>
          <ActionIcon {...looks} {...props}>
            {icon}
          </ActionIcon>
        </Tooltip>
      )}
    </FileButton>
  );
}
