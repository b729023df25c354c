import { setMaxListeners } from 'node:events';
import type { Client } from '../api/client.ts';
import type { Context } from '../cli/context.ts';
import type { Globals } from '../cli/globals.ts';
import type { Settings } from '../config/settings.ts';
import { SvcError } from '../errors.ts';
import { formatDuration } from '../render/time.ts';
import type { Redactor } from '../redact.ts';
import type { Environment, System } from '../system.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type EmbeddedSandbox, openSandbox } from './embedded-sandbox.ts';
import { clientOpener } from './open-client.ts';
import { keysOf } from './keys-of.ts';
import { traceTo } from './trace.ts';

/** What a context is put together from. */
export interface Parts {
  readonly system: System;
  readonly globals: Globals;
  readonly settings: Settings;
  readonly terminal: Terminal;
  readonly redactor: Redactor;
  /** Whether the command only previews: its clients can only read. */
  readonly readOnly: boolean;
}

/** A context that is to be closed when the command is over. */
export type OpenContext = Context & { close(): Promise<void> };

/** Puts a command's surroundings together. The client, and all that it needs, loads when it is asked for. */
export function createContext(parts: Parts): OpenContext {
  const { system, terminal, settings, globals } = parts;
  const closers: (() => Promise<void> | void)[] = [];
  const signal = commandSignal(parts, closers);
  let client: Promise<Client> | undefined;
  const context: OpenContext = {
    system,
    globals,
    settings,
    clock: system.clock,
    signal,
    ...terminal,
    trace: traceTo(terminal.notices, system.clock),
    addSecret: (value) => parts.redactor.addSecret(value),
    query: undefined,
    key: (kind) => keys(kind),
    client: (choice) => (choice ? open(choice) : (client ??= open({}))),
    storeEnvironment: () => storeEnvironment(parts, sandbox),
    onClose: (close) => void closers.push(close),
    async close() {
      for (const close of closers.toReversed()) await close();
      await terminal.close();
    },
  };
  const keys = keysOf(context, parts);
  let embedded: Promise<EmbeddedSandbox> | undefined;
  const sandbox = (): Promise<EmbeddedSandbox> => (embedded ??= openSandbox(context));
  const open = clientOpener(context, parts, sandbox);
  return context;
}

// What is tried on the sandbox stays there, whatever bucket the credentials of the environment are for.
async function storeEnvironment(
  { system: { env }, settings }: Parts,
  sandbox: () => Promise<EmbeddedSandbox>,
): Promise<Environment> {
  const isEmbedded = settings.sandbox && settings.baseUrl === undefined;
  if (!isEmbedded || env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL']) return env;
  return { ...env, ...(await sandbox()).storeEnvironment };
}

/** Aborts when the process is asked to end, when the reader of stdout goes, or when `--timeout` is over. */
function commandSignal({ system, settings, terminal }: Parts, closers: (() => void)[]): AbortSignal {
  const ended = new AbortController();
  // Everything under way listens to it: that is no leak to warn of.
  setMaxListeners(0, ended.signal);
  for (const source of [system.signal, terminal.out.readerGone]) {
    if (source.aborted) ended.abort(source.reason);
    source.addEventListener('abort', () => ended.abort(source.reason), { once: true });
  }
  const limit = settings.timeoutMs.value;
  if (limit !== undefined) {
    const over = new AbortController();
    closers.push(() => over.abort());
    system.clock.sleep(limit, over.signal).then(
      () => ended.abort(timeUp(limit)),
      () => undefined,
    );
  }
  return ended.signal;
}

// As it was typed, near enough: a limit below a minute can have parts of a second.
function shownLimit(ms: number): string {
  return ms < 60_000 ? `${ms / 1000}s` : formatDuration(ms);
}

function timeUp(limitMs: number): SvcError {
  return new SvcError('time_up', `the time given with --timeout (${shownLimit(limitMs)}) is up`, {
    hint: 'Run the command again with a longer --timeout.',
  });
}
