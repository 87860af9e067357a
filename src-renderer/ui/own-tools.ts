/** Kvasir's own tools that have texts in the window's language, by the names under which models call them. */
const OWN_TOOLS = ['search_documents', 'read_document', 'query_table', 'calculate', 'date'] as const;

/** The key of a tool's texts in `mcp:ownTools`; undefined where it has none. */
export function ownToolKey(name: string): (typeof OWN_TOOLS)[number] | undefined {
  return OWN_TOOLS.find((known) => known === name);
}
