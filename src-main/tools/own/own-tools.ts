import type { Passages } from '../../answering/passages.ts';
import type { Tables } from '../../answering/tables/computed-passage.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Retrieval } from '../../retrieval/types.ts';
import type { ToolSource } from '../tool.ts';
import { calculator } from './calculator.ts';
import { dateTool } from './date.ts';
import { queryTableTool } from './query-table.ts';
import { readTool } from './read.ts';
import { searchTool } from './search.ts';

interface OwnToolParts {
  catalogue: Catalogue;
  retrieval: Retrieval;
  passages: Passages;
  tables: Tables;
  now?: () => Date;
}

/** Kvasir's own tools, all of which only read. */
export function ownTools({
  catalogue,
  retrieval,
  passages,
  tables,
  now = () => new Date(),
}: OwnToolParts): ToolSource {
  const tools = [
    searchTool(retrieval, passages),
    readTool(catalogue),
    queryTableTool(catalogue, tables),
    calculator,
    dateTool(now),
  ];
  return { tools: () => Promise.resolve(tools), allow: () => undefined };
}
