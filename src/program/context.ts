import { setMaxListeners } from 'node:events';
import type { Client } from '../api/client.ts';
import type { Context } from '../cli/context.ts';
import type { Globals } from '../cli/globals.ts';
import { resolveKey } from '../config/keys.ts';
import type { Settings } from '../config/settings.ts';
import { SvcError } from '../errors.ts';
import type { KeyKind } from '../http/request.ts';
import type { Redactor } from '../redact.ts';
import type { System } from '../system.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { openSandbox } from './embedded-sandbox.ts';
import { traceTo } from './trace.ts';

/** What a context is put together from. */
export interface Parts {
  readonly system: System;
  readonly globals: Globals;
  readonly settings: Settings;
  readonly terminal: Terminal;
  readonly redactor: Redactor;
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
    addSecret: (value) => parts.redactor.addSecret(value),
    client: () => (client ??= openClient(context, parts)),
    onClose: (close) => void closers.push(close),
    async close() {
      for (const close of closers.toReversed()) await close();
      await terminal.close();
    },
  };
  return context;
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

function timeUp(limitMs: number): SvcError {
  return new SvcError('time_up', `the time given with --timeout (${limitMs / 1000} s) is up`, {
    hint: 'Run the command again with a longer --timeout.',
  });
}

async function openClient(context: Context, { system, settings, redactor }: Parts): Promise<Client> {
  const { Client: ApiClient } = await import('../api/client.ts');
  const isEmbedded = settings.sandbox && settings.baseUrl === undefined;
  const baseUrl = isEmbedded ? await openSandbox(context) : settings.requireBaseUrl();
  const client = new ApiClient({
    baseUrl,
    key: async (kind: KeyKind) => {
      const { value, origin } = await resolveKey(system, settings, kind);
      redactor.addSecret(value);
      const profile = `profile ${settings.profile.value}`;
      return { value, origin: origin.kind === 'environment' ? `${origin.name} (${profile})` : profile };
    },
    signal: context.signal,
    clock: context.clock,
    maxWaitMs: settings.maxWaitMs.value,
    // The embedded sandbox is in this very process: no proxy leads to it, and nobody else uses its key.
    environment: isEmbedded ? {} : system.env,
    pacing: !isEmbedded && system.env['SVC_PACING'] !== 'off',
    trace: traceTo(context.notices),
  });
  context.onClose(() => client.close());
  return client;
}
