import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ServerFacts } from '../../../../src-shared/contract/servers.ts';
import { ReachText } from '../../../ui/server/ReachText.tsx';
import { useFormat } from '../../../ui/useFormat.ts';

/** Facts about a remote model, in place of those from a file. */
export function ServerLines({ server }: { server: ServerFacts }) {
  const { t } = useTranslation(['servers', 'common']);
  const format = useFormat();
  const { ttftMs, tokensPerSecond, separator, contextTokens, key } = server;
  const facts = [
    t('on', { host: server.host }),
    ...(contextTokens === null ? [] : [t('facts.context', { value: format.number(contextTokens) })]),
    t(`facts.key.${key}`),
    ...(separator === '' ? [] : [t('facts.separator', { separator })]),
    ...(ttftMs === null ? [] : [t('facts.ttft', { time: format.duration(ttftMs) })]),
    ...(tokensPerSecond === null
      ? []
      : [t('common:unit.tokensPerSecond', { value: format.number(tokensPerSecond, 1) })]),
  ];
  return (
    <>
      <Text c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {facts.join(' · ')}
      </Text>
      <ReachText {...server} />
    </>
  );
}
