import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Failure } from '../../../src-shared/contract/common.ts';
import { failureWords } from '../../i18n/failures.ts';
import { joinSentences } from '../../i18n/join-sentences.ts';

/** Why a device or a pack is unavailable, followed by the core's English message if the window's language differs. */
export function DeviceFailure({ failure, color }: { failure: Failure; color?: string }) {
  const { i18n } = useTranslation();
  const { message, advice, detail } = failureWords(failure, i18n.language);
  return (
    <>
      <Text {...(color !== undefined && { c: color })}>{joinSentences([message, advice])}</Text>
      {detail !== '' && (
        <Text c="dimmed" lang="en">
          {detail}
        </Text>
      )}
    </>
  );
}
