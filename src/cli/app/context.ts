import path from 'node:path';
import { setMaxListeners } from 'node:events';
import { SvcError } from '../../base/errors.ts';
import type { Redactor } from '../../base/security/redact.ts';
import type { System } from '../../base/system.ts';
import type { Client } from '../../client/api/client.ts';
import type { ApiKey } from '../../client/http/core.ts';
import type { RateLedger } from '../../client/http/pacer.ts';
import type { ClientCertificate } from '../../client/http/tls-options.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { keyOrigin, resolveKey } from '../config/keys.ts';
import { directoryOf } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';
import type { Terminal } from '../output/terminal.ts';
import { formatDuration } from '../output/time.ts';
import type { ClientChoice, Context } from './command.ts';
import { openSandbox } from './embedded-sandbox.ts';
import type { Globals } from './global-parameters.ts';
import { isJsonLog, traceAsJson, traceTo } from './trace.ts';

export interface ContextDeps {
  readonly system: System;
  readonly globals: Globals;
  readonly settings: Settings;
  readonly terminal: Terminal;
  readonly redactor: Redactor;
  /** Whether the clients of the command may only read, as in a preview. */
  readonly readOnly: boolean;
  /** The state directory of a rehearsal; undefined for a normal run. */
  readonly rehearsal?: string | undefined;
  /** Ends the command's work; by default the process's own signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A context that `execute` must close when the command ends. */
export type OpenContext = Context & { close(): Promise<void> };

export function createContext(given: ContextDeps): OpenContext {
  const deps = { ...given, system: withCertificates(withState(given.system, given.rehearsal), given.settings) };
  const { system, terminal, settings, globals } = deps;
  const closers: (() => Promise<void> | void)[] = [];
  let client: Promise<Client> | undefined;
  let reported: Promise<void> | undefined;
  let embedded: Promise<URL> | undefined;
  const sandbox = (): Promise<URL> => (embedded ??= openSandbox(context));
  const open = (choice: ClientChoice): Promise<Client> => openClient(context, deps, sandbox, choice);
  const context: OpenContext = {
    system,
    globals,
    settings,
    clock: system.clock,
    signal: commandSignal(deps, closers),
    ...terminal,
    trace: (isJsonLog(system.env) ? traceAsJson : traceTo)(terminal.notices, system.clock),
    addSecret: (value) => deps.redactor.addSecret(value),
    query: undefined,
    isRehearsal: given.rehearsal !== undefined,
    key: (kind) => key(kind),
    client: (choice) => (choice ? open(choice) : (client ??= open({}))),
    reportTenant: (read) => (reported ??= import('./tenant-mark.ts').then((mark) => mark.reportTenant(context, read))),
    onClose: (close) => void closers.push(close),
    async close() {
      for (const close of closers.toReversed()) await close();
      await terminal.close();
    },
  };
  const key = keysOf(context, deps);
  return context;
}

/** Returns the system with the profile's certificate authorities in `SVC_CERTIFICATES`, where connections read them. */
function withCertificates(system: System, { certificates }: Settings): System {
  if (certificates.origin.kind !== 'profile') return system;
  return withVariable(system, 'SVC_CERTIFICATES', certificates.value);
}

/** Returns the system with the state directory of a rehearsal, so that a rehearsal never writes to the usual one. */
function withState(system: System, directory: string | undefined): System {
  if (directory === undefined) return system;
  return withVariable(system, 'SVC_STATE_DIR', path.resolve(system.cwd, directory));
}

function withVariable(system: System, name: string, value: string | undefined): System {
  const env = { ...system.env, [name]: value };
  return Object.create(system, { env: { value: env, enumerable: true } }) as System;
}

/** Returns a signal that aborts on an operating system signal, when the reader of stdout goes, or after `--timeout`. */
function commandSignal(
  { system, settings, terminal, signal: outer = system.signal }: ContextDeps,
  closers: (() => void)[],
): AbortSignal {
  const limit = settings.timeoutMs.value;
  const timeLimit = new AbortController();
  if (limit !== undefined) {
    const closed = new AbortController();
    closers.push(() => closed.abort());
    system.clock.sleep(limit, closed.signal).then(
      () => timeLimit.abort(timeUp(limit)),
      () => undefined,
    );
  }
  const signal = AbortSignal.any([outer, terminal.out.readerGone, timeLimit.signal]);
  // Every request under way listens to this signal; without this, Node warns of a leak.
  setMaxListeners(0, signal);
  return signal;
}

function timeUp(limitMs: number): SvcError {
  // A limit below a minute may contain fractions of a second.
  const shown = limitMs < 60_000 ? `${limitMs / 1000}s` : formatDuration(limitMs);
  return new SvcError('timeout', `the time limit (--timeout ${shown}) was reached`, {
    hint: 'Run the command again with a longer --timeout.',
  });
}

/**
 * Returns the function that finds keys. Keeps each key, so that a key command runs at most once, except the key of a file,
 * which may change.
 */
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
    // A key of the environment has nothing to do with the profile, unless it goes to the profile's service.
    const goesToProfile = origin.kind === 'environment' && settings.baseUrl?.origin.kind === 'profile';
    return { value, origin: goesToProfile ? `${origin.name} (${profile})` : origin.name };
  };
  return (kind) => {
    const known = found.get(kind);
    if (known) return known;
    const key = find(kind);
    const origin = keyOrigin(system, settings, kind);
    const isFile = origin?.kind === 'environment' && origin.name.endsWith('_FILE');
    if (origin && !isFile) found.set(kind, key);
    return key;
  };
}

async function openClient(
  context: Context,
  { system, settings, readOnly }: ContextDeps,
  sandbox: () => Promise<URL>,
  choice: ClientChoice,
): Promise<Client> {
  system.prepareForWork?.();
  const state = directoryOf(system, 'state');
  const { Client: ApiClient } = await import('../../client/api/client.ts');
  const isEmbedded = settings.sandbox && settings.baseUrl === undefined && choice.baseUrl === undefined;
  const baseUrl = isEmbedded ? await sandbox() : (choice.baseUrl ?? settings.requireBaseUrl());
  // The embedded sandbox runs in this process: it needs no proxy, and no other process uses its key.
  const isPaced = !isEmbedded && system.env['SVC_PACING'] !== 'off';
  const certificate = isEmbedded ? undefined : await clientCertificate(settings, new URL(baseUrl));
  const client = new ApiClient({
    baseUrl,
    key: choice.key ?? context.key,
    signal: choice.signal ?? context.signal,
    clock: context.clock,
    maxWaitMs: settings.maxWaitMs.value,
    environment: isEmbedded ? {} : system.env,
    clientCertificate: certificate,
    pacing: isPaced,
    rateLedger: isPaced && state !== undefined ? await sharedLedger(context, state, baseUrl) : undefined,
    trace: context.trace,
    readOnly,
    onWarning: (text) => warnOnce(context, text),
    beforeChange: () => context.reportTenant(),
    onSecret: context.globals.showUrls ? undefined : (value) => context.addSecret(value),
  });
  context.onClose(() => client.close());
  return client;
}

/** Returns the client certificate for this service, and loads the code for certificates only if one is set. */
async function clientCertificate(settings: Settings, baseUrl: URL): Promise<ClientCertificate | undefined> {
  if (settings.clientCert.value === undefined && settings.clientKey.value === undefined) return undefined;
  const { readClientCertificate } = await import('../config/client-certificate.ts');
  return readClientCertificate(settings, baseUrl);
}

function warnOnce(context: Context, text: string): void {
  const warned = warnings.get(context) ?? new Set();
  if (warned.has(text)) return;
  warnings.set(context, warned.add(text));
  context.notices.warn(text);
}

/** The warnings that a command printed already. */
const warnings = new WeakMap<Context, Set<string>>();

/** Shares the request count with other processes that use the same key and state directory. */
async function sharedLedger({ clock }: Context, state: string, baseUrl: string | URL): Promise<RateLedger> {
  const { SharedRateLedger } = await import('./rate-ledger.ts');
  return new SharedRateLedger(path.join(state, 'pacing'), clock, new URL(baseUrl));
}
