import { expect, test } from 'vitest';
import type { ToolServer } from '../../../../src-shared/contract/tools.ts';
import { NO_OPTIONS } from '../chat-state.ts';
import { OWN, toolChoices, withTools } from './tool-choice.ts';

const files: ToolServer = {
  name: 'files',
  command: 'files-server',
  url: null,
  secrets: [],
  enabled: true,
  state: 'off',
  failure: null,
  signInPage: null,
  tools: [],
};

test('nothing is chosen by default', () => {
  expect(toolChoices(NO_OPTIONS, [files])).toEqual([
    { id: OWN, name: '', chosen: false, server: undefined },
    { id: 'mcp:files', name: 'files', chosen: false, server: files },
  ]);
});

test('a chosen server that was removed stays in the list, so that it can be deselected', () => {
  const options = withTools(withTools(NO_OPTIONS, 'mcp:gone', true), OWN, true);
  const choices = toolChoices(options, [files]).filter(({ chosen }) => chosen);
  expect(choices.map(({ id, server }) => [id, server])).toEqual([
    [OWN, undefined],
    ['mcp:gone', undefined],
  ]);
  expect(withTools(withTools(options, 'mcp:gone', false), OWN, false).tools).toBeUndefined();
});
