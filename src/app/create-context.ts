import { setMaxListeners } from 'node:events';
import type { Client } from '../api/client.ts';
import { keyOrigin, resolveKey } from '../config/keys.ts';
import type { Settings } from '../config/settings.ts';
import { SvcError } from '../errors.ts';
import type { ApiKey } from '../http/core.ts';
import type { Trace, TraceEvent } from '../http/exchange.ts';
import type { KeyType } from '../http/request.ts';
import type { Messages } from '../output/messages.ts';
import type { Terminal } from '../output/terminal.ts';
import { formatDuration } from '../output/time.ts';
import type { Redactor } from '../security/redact.ts';
import type { Clock, Environment, System } from '../system.ts';
import type { Context } from './command.ts';
import { clientOpener, type EmbeddedSandbox, openSandbox } from './open-client.ts';
import type { Globals } from './parameter.ts';

/** What a context is put together from. */
export interface ContextDeps {
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
export function createContext(parts: ContextDeps): OpenContext {
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
  { system: { env }, settings }: ContextDeps,
  sandbox: () => Promise<EmbeddedSandbox>,
): Promise<Environment> {
  const isEmbedded = settings.sandbox && settings.baseUrl === undefined;
  if (!isEmbedded || env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL']) return env;
  return { ...env, ...(await sandbox()).storeEnvironment };
}

/** Aborts when the process is asked to end, when the reader of stdout goes, or when `--timeout` is over. */
function commandSignal({ system, settings, terminal }: ContextDeps, closers: (() => void)[]): AbortSignal {
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
  return new SvcError('timeout', `the time given with --timeout (${shownLimit(limitMs)}) is up`, {
    hint: 'Run the command again with a longer --timeout.',
  });
}

/** Finds a profile's keys once, so that a key command runs at most once; a key file may change meanwhile. */
function keysOf(context: Context, { system, settings, redactor }: ContextDeps): Context['key'] {
  const found = new Map<KeyType, Promise<ApiKey>>();
  const find = async (kind: KeyType): Promise<ApiKey> => {
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

// Shorter pauses are nobody's business.
const REPORT_PAUSE_FROM_MS = 3_000;
// Long work at the rate limit pauses again and again, and that is as it should be.
const REPORT_PACING_EVERY_MS = 60_000;

type Pause = Extract<TraceEvent, { kind: 'wait' }>;

/** Tells what the HTTP core does: every exchange with `--debug`, long pauses always, but one that many share once. */
function traceTo(notices: Messages, clock: Pick<Clock, 'now'>): Trace {
  const quietUntil = new Map<Pause['why'], number>();
  const isNews = ({ why, ms }: Pause): boolean => {
    const now = clock.now();
    if (now < (quietUntil.get(why) ?? -Infinity)) return false;
    if (why !== 'retry' && why !== 'store')
      quietUntil.set(why, now + Math.max(ms, why === 'pacing' ? REPORT_PACING_EVERY_MS : 0));
    return true;
  };
  return (event) => {
    if (event.kind === 'wait') reportPause(notices, event, isNews);
    else if (notices.shows('debug')) notices.debug(line(event));
  };
}

function reportPause(notices: Messages, pause: Pause, isNews: (pause: Pause) => boolean): void {
  const { why, ms } = pause;
  const reason = {
    retry: 'the service did not answer well',
    'rate limit': 'the service limits requests',
    pacing: 'keeping under the rate limit',
    store: 'the store did not answer well',
  };
  const text = `${reason[why]}: next request in ${formatDuration(ms)}`;
  if (ms < REPORT_PAUSE_FROM_MS || !isNews(pause)) notices.debug(text);
  else notices.note(text);
}

function line(event: Exclude<TraceEvent, { kind: 'wait' }>): string {
  const target = `${event.method} ${event.url.href}`;
  switch (event.kind) {
    case 'request':
      return `> ${target}${event.attempt === 0 ? '' : ` (attempt ${event.attempt + 1})`}`;
    case 'answer':
      return `< ${event.status} ${target} in ${event.ms} ms${event.requestId === undefined ? '' : `, request id ${event.requestId}`}`;
    case 'failure':
      return `x ${target} after ${event.ms} ms: ${event.reason}`;
  }
}
