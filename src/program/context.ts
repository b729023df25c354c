import { setMaxListeners } from 'node:events';
import type { Client } from '../api/client.ts';
import type { ClientChoice, Context } from '../cli/context.ts';
import type { Globals } from '../cli/globals.ts';
import { keyOrigin, resolveKey } from '../config/keys.ts';
import type { Settings } from '../config/settings.ts';
import { SvcError } from '../errors.ts';
import type { ApiKey } from '../http/core.ts';
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
    query: undefined,
    key: (kind) => keys(kind),
    client: (choice) =>
      choice
        ? openClient(context, parts, sandbox, choice)
        : (client ??= openClient(context, parts, sandbox, {})),
    onClose: (close) => void closers.push(close),
    async close() {
      for (const close of closers.toReversed()) await close();
      await terminal.close();
    },
  };
  const keys = keysOf(context, parts);
  let opened: Promise<URL> | undefined;
  const sandbox = (): Promise<URL> => (opened ??= openSandbox(context));
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

/** Finds a profile's keys once, so that a key command runs at most once; a key file may change meanwhile. */
function keysOf(context: Context, { system, settings, redactor }: Parts): (kind: KeyKind) => Promise<ApiKey> {
  const found = new Map<KeyKind, Promise<ApiKey>>();
  const find = async (kind: KeyKind): Promise<ApiKey> => {
    const { value, origin } = await resolveKey(system, settings, kind, {
      signal: context.signal,
      onLine: (line) => context.notices.note(line),
      onSecret: (text) => redactor.addSecret(text),
    });
    redactor.addSecret(value);
    const profile = `profile ${settings.profile.value}`;
    if (origin.kind === 'default') return { value, origin: profile };
    return { value, origin: origin.kind === 'environment' ? `${origin.name} (${profile})` : origin.name };
  };
  return (kind) => {
    if (keyOrigin(system, settings, kind)?.kind !== 'profile') return find(kind);
    const key = found.get(kind) ?? find(kind);
    found.set(kind, key);
    return key;
  };
}

async function openClient(
  context: Context,
  { system, settings }: Parts,
  sandbox: () => Promise<URL>,
  { dryRun = false, file, ...choice }: ClientChoice,
): Promise<Client> {
  const [{ Client: ApiClient }, { admission, SANDBOX_ADDRESS }] = await Promise.all([
    import('../api/client.ts'),
    import('../cli/unsent.ts'),
  ]);
  const isEmbedded = settings.sandbox && settings.baseUrl === undefined && choice.baseUrl === undefined;
  // Nothing at all is sent then, so that neither a sandbox nor a key is needed.
  const isOnlyShown = context.globals.curl && !dryRun;
  const embedded = (): Promise<URL> | URL => (isOnlyShown ? new URL(SANDBOX_ADDRESS) : sandbox());
  const client = new ApiClient({
    baseUrl: isEmbedded ? await embedded() : (choice.baseUrl ?? settings.requireBaseUrl()),
    key: isOnlyShown ? async () => ({ value: '', origin: 'nowhere' }) : (choice.key ?? context.key),
    signal: choice.signal ?? context.signal,
    clock: context.clock,
    maxWaitMs: settings.maxWaitMs.value,
    // The embedded sandbox is in this very process: no proxy leads to it, and nobody else uses its key.
    environment: isEmbedded ? {} : system.env,
    pacing: !isEmbedded && system.env['SVC_PACING'] !== 'off',
    trace: traceTo(context.notices, context.clock),
    admit: admission(context, { dryRun, file }),
  });
  context.onClose(() => client.close());
  return client;
}
