import { useTranslation } from 'react-i18next';
import type { ToolCall } from '../../../../src-shared/contract/tool-calls.ts';
import { useCall } from '../../../client/context.tsx';
import { ownToolKey } from '../../../ui/own-tools.ts';
import { onlyDescription } from './call-views.ts';

/** Titles of called tools: of Kvasir's own in the window's language, of others in their server's. */
export function useToolTitle(): (call: ToolCall) => string {
  const { t } = useTranslation('mcp');
  return ({ name, title, server }) => {
    const own = server === null ? ownToolKey(name) : undefined;
    return own ? t(`ownTools.${own}.title`) : title;
  };
}

/** What a tool's server says about it; '' for Kvasir's own, and where several tools have its title. */
export function useToolDescription({ title, server }: ToolCall): string {
  const { data } = useCall('tools.list', {}, { enabled: server !== null });
  const tools = data?.servers.find(({ name }) => name === server)?.tools ?? [];
  return onlyDescription(tools, title);
}
