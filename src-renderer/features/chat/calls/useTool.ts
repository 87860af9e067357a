import { useTranslation } from 'react-i18next';
import type { ToolCall } from '../../../../src-shared/contract/tool-calls.ts';
import { useCall } from '../../../client/context.tsx';

/** Kvasir's own tools, by the names under which models call them. */
const OWN_TOOLS = ['search_documents', 'read_document', 'query_table', 'calculate', 'date'] as const;

/** Titles of called tools: of Kvasir's own in the window's language, of others in their server's. */
export function useToolTitle(): (call: ToolCall) => string {
  const { t } = useTranslation('chat');
  return ({ name, title, server }) => {
    const own = server === null ? OWN_TOOLS.find((known) => known === name) : undefined;
    return own ? t(`calls.own.${own}`) : title;
  };
}

/** What a tool's server says about it; '' for Kvasir's own. */
export function useToolDescription({ title, server }: ToolCall): string {
  const { data } = useCall('tools.list', {}, { enabled: server !== null });
  const tools = data?.servers.find(({ name }) => name === server)?.tools ?? [];
  return tools.find((tool) => tool.title === title)?.description ?? '';
}
