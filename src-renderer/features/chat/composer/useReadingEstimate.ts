import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import type { ContextEstimate } from '../../../../src-shared/contract/context.ts';
import { useCall } from '../../../client/context.tsx';
import { useChatState } from '../chat-state.ts';
import { useFormat } from '../../../ui/useFormat.ts';

/** Debounce: text that is still being typed is not a question yet. */
const PAUSE_MS = 400;

/** What the question being typed will read, how much of it is cached, and when the answer will begin; '' while that is unknown. */
export function useReadingEstimate(
  conversationId: string | null,
  options: ConversationOptions,
  text: string,
): string {
  const [draft] = useDebouncedValue(text, PAUSE_MS);
  const projectId = useChatState((state) => state.newProjectId);
  const asksNothing = draft === '' && options.scope.documentIds.length === 0;
  const { data } = useCall(
    'chat.estimate',
    { conversationId, projectId, options, text: draft },
    { enabled: !asksNothing, keepPrevious: true },
  );
  return useEstimateWords(asksNothing || (text === '' && draft !== '') ? null : (data ?? null));
}

function useEstimateWords(estimate: ContextEstimate | null): string {
  const { t } = useTranslation('chat');
  const format = useFormat();
  if (!estimate) return '';
  const { kind, documents, promptTokens, cachedTokens, ttftMs } = estimate;
  if (documents.length === 0) return t('estimate.nothing');
  const tokens = format.number(promptTokens);
  const cached = cachedTokens === null ? undefined : format.number(cachedTokens);
  return [
    t(`estimate.${kind}`, { count: documents.length }),
    cached === undefined ? t('estimate.tokens', { tokens }) : t('estimate.cached', { tokens, cached }),
    ...(ttftMs === null ? [] : [t('estimate.begins', { time: format.duration(ttftMs) })]),
  ].join(' · ');
}
