import { z } from 'zod';
import { FailureSchema, NothingSchema } from './common.ts';
import { procedure } from './define.ts';

/** Name of an MCP server in mcp.json. */
const ServerNameSchema = z.string().min(1).max(190);
/** A text of several lines, as typed. */
const LinesSchema = z.string().max(20_000).default('');

/** A tool that a conversation can use. */
const ListedToolSchema = z.object({
  /** Its server's name for it. */
  name: z.string(),
  title: z.string(),
  description: z.string(),
  /** Whether it runs without asking the person first. */
  allowed: z.boolean(),
  /** Whether it was allowed, but its server's command or its description or arguments have changed since: it asks. */
  changed: z.boolean(),
});

/** An MCP server in mcp.json. Values of variables and headers never reach the window. */
const ToolServerSchema = z.object({
  name: z.string(),
  /** Command line of its program; null: it has an address, or its entry is invalid. */
  command: z.string().nullable(),
  /** Without user name, query and fragment; null: it is a program, or its entry is invalid. */
  url: z.string().nullable(),
  /** Names of the environment variables or headers that it gets. */
  secrets: z.array(z.string()),
  enabled: z.boolean(),
  /** 'off': it is disabled, or starts on first use. */
  state: z.enum(['off', 'starting', 'ready', 'failed']),
  /** Why it failed. */
  failure: FailureSchema.nullable(),
  /** Where the person has to sign in now, in the browser; null: nowhere. */
  signInPage: z.string().nullable(),
  /** As it listed them last; empty until it was started. */
  tools: z.array(ListedToolSchema),
});

const ToolListSchema = z.object({
  /** Kvasir's own tools, which only read and never ask. */
  own: z.array(ListedToolSchema.pick({ name: true, title: true, description: true })),
  servers: z.array(ToolServerSchema),
  /** Path of mcp.json. */
  file: z.string(),
  /** Why mcp.json cannot be read; then there are no servers, and it is not changed. */
  failure: FailureSchema.nullable(),
});

/** A program (command) or an address, as typed. */
const AddedToolServerSchema = z.object({
  name: z.string().trim().min(1).max(100),
  kind: z.enum(['command', 'url']),
  /** A command line, with quotes around arguments with spaces; or http(s)://host/path. */
  target: z.string().trim().min(1).max(4000),
  /** One in each line: NAME=value for a program, Name: value for an address. */
  secrets: LinesSchema,
});

const OfServer = z.object({ name: ServerNameSchema });

export const toolsContract = {
  /** Starts nothing. mcp.json is read again. */
  'tools.list': procedure(NothingSchema, ToolListSchema),
  /** BAD_ARGUMENT, CONFLICT (the name is taken), MCP_CONFIG, STORE_READ_ONLY, DISK_FULL. */
  'tools.addServer': procedure(AddedToolServerSchema, NothingSchema),
  /** Adds the servers of a text in the form of mcp.json, also VS Code's. All or none; errors as 'tools.addServer'. */
  'tools.importServers': procedure(
    z.object({ text: z.string().max(200_000) }),
    z.object({ names: z.array(z.string()) }),
  ),
  /** Stops it, and forgets which of its tools are allowed. NOT_FOUND, and errors as 'tools.addServer'. */
  'tools.removeServer': procedure(OfServer, NothingSchema),
  /** Disabling stops it. NOT_FOUND, and errors as 'tools.addServer'. */
  'tools.enableServer': procedure(OfServer.extend({ enabled: z.boolean() }), NothingSchema),
  /** Starts it unless it runs; ends when it is ready or has failed, which its state says. NOT_FOUND. */
  'tools.startServer': procedure(OfServer, NothingSchema),
  /** Starts it with a sign-in: its `signInPage` says where; ends when it is ready or has failed. NOT_FOUND. */
  'tools.signIn': procedure(OfServer, NothingSchema),
  /** Whether a tool runs without asking. NOT_FOUND, STORE_READ_ONLY, DISK_FULL. */
  'tools.allow': procedure(
    z.object({ server: ServerNameSchema, tool: z.string(), allowed: z.boolean() }),
    NothingSchema,
  ),
};

export type ToolServer = z.infer<typeof ToolServerSchema>;
export type ListedTool = z.infer<typeof ListedToolSchema>;
export type AddedToolServer = z.output<typeof AddedToolServerSchema>;
export type ToolList = z.infer<typeof ToolListSchema>;
