import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isSvcError, SvcError, systemCodeOf } from '../../base/errors.ts';
import { isShowable } from '../../base/security/typed-word.ts';
import type { Environment } from '../../base/system.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { COMMAND_TO_RUN, repeated, rest, value } from '../../cli/app/parameter.ts';
import { DEFAULT_PROFILE, NO_LEDGER, parseDuration } from '../../cli/config/values.ts';
import { countText } from '../../cli/output/number.ts';
import type { LedgerEntry } from '../../emulator/ledger.ts';
import type { RunningSandbox } from '../../emulator/running-sandbox.ts';
import { ownMember } from '../../schema/own-member.ts';
import { directoryFrom, directoryParameter, faultsFrom, openServer, SERVER_PARAMETERS } from '../server-options.ts';

const COMPARE: Readonly<Record<Expectation['operator'], (calls: number, expected: number) => boolean>> = {
  '>=': (calls, expected) => calls >= expected,
  '<=': (calls, expected) => calls <= expected,
  '=': (calls, expected) => calls === expected,
  '>': (calls, expected) => calls > expected,
  '<': (calls, expected) => calls < expected,
};

export const exec = defineCommand({
  description:
    'Starts a sandbox on a free port, runs the command with SVC_BASE_URL, both keys and SVC_LEDGER=none set, and ends with its exit code. The sandbox starts empty and is removed afterwards, unless --directory is given.',
  examples: [
    ['svc sandbox exec -- ./nightly-job.sh', 'run a job against a sandbox instead of the service'],
    ["svc sandbox exec --expect 'GET /logs>=1' --max-rate 10/10s -- ./export.sh", 'a gate for CI'],
    ["svc sandbox exec --fault '503@GET /logs:#1-2' -- ./export.sh", 'test whether it survives an outage'],
  ],
  exitCodes: [
    [10, '--expect or --max-rate is not met'],
    [126, 'the command cannot be executed'],
    [127, 'the command was not found'],
  ],
  // Any profile in the environment is accepted, since the command uses the sandbox.
  newProfile: true,
  parameters: {
    command: rest(COMMAND_TO_RUN, 'what to run; put it after --'),
    expect: repeated('--expect <calls>', "number of calls to expect: 'GET /logs>=1'; also <=, =, >, <", expectation),
    maxRate: value('--max-rate <rate>', 'the most requests in any period, such as 10/10s', rateLimit),
    directory: { ...directoryParameter, description: 'state directory, which is kept (default: a temporary one)' },
    ...SERVER_PARAMETERS,
  },
  async run(context, input) {
    const count = await counter(input.expect.map(({ call }) => call));
    const faults = await faultsFrom(context, input);
    const directory = await stateDirectory(context, input.directory);
    const sandbox = await openServer(context, { directory, port: 0, keepsRequests: true }, input, faults);
    const { code, started } = await runChild(context, input.command, sandboxVariables(context.system.env, sandbox));
    const calls = sandbox.ledger().filter(({ event }) => event === undefined);
    context.notices.note(summary(calls));
    // A command that no fault disturbed has proven nothing.
    for (const { text } of faults?.unapplied ?? []) context.notices.warn(`the fault '${text}' applied to no request`);
    // After a time limit, the child's exit code would be that of a signal.
    if (isSvcError(context.signal.reason, 'timeout')) throw context.signal.reason;
    // What is missing here says nothing about a command that never ran.
    if (!started) return code;
    const wrong = unmet(
      input,
      calls.map(({ at }) => Date.parse(at)),
      count(calls),
    );
    if (wrong.length === 0 || context.signal.aborted) return code;
    throw new SvcError('threshold', `expectation failed: ${wrong.join('; ')}`, {
      hint: code === 0 ? undefined : `The command ended with exit code ${code}: check that first.`,
      facts: { unmet: wrong, command_exit_code: code },
    });
  },
});

type Calls = readonly { readonly method: string; readonly path: string }[];

/** Checks the paths of expectations before the sandbox starts. @returns the function that counts calls */
async function counter(expected: readonly string[]): Promise<(calls: Calls) => CountCalls> {
  const { matchesCall, readCallPattern } = await import('../../emulator/faults/fault.ts');
  if (expected.some((call) => readCallPattern(call) === undefined))
    throw new SvcError('usage', '--expect must name a path without query, such as /logs or /account-updater/**');
  return (calls) => (call) => {
    const pattern = readCallPattern(call);
    return calls.filter(({ method, path: target }) => pattern && matchesCall(pattern, method, target)).length;
  };
}

async function stateDirectory(context: Context, given: string | undefined): Promise<string> {
  if (given !== undefined) return directoryFrom(context, given);
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-sandbox-'));
  context.onClose(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A shell's exit codes for a command that was not found, or may not be executed. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = { interrupted: 'SIGINT', hangup: 'SIGHUP' };

// The time for a child to end in order.
const GRACE_MS = 5000;

/**
 * Runs a command with this process's streams, forwards signals, and resolves to its exit code, as a shell would, and whether
 * it could be started.
 */
async function runChild({ system, notices, signal }: Context, words: readonly string[], added: Environment) {
  signal.throwIfAborted();
  const { startProgram } = await import('../../base/security/child-process.ts');
  const { constants } = await import('node:os');
  const { isatty } = await import('node:tty');
  let child: ChildProcess | undefined;
  const end = (): void => child && endChild(child, signal.reason, [0, 1, 2].some(isatty));
  signal.addEventListener('abort', end, { once: true });
  try {
    // Throws for a name or arguments that are too long. Other failures come as events.
    const running = startProgram(words, system.env, added);
    child = running;
    const code = await new Promise<number>((resolve, reject) => {
      running.on('error', reject);
      running.on('exit', (own, ended) => resolve(own ?? 128 + (ended === null ? 0 : constants.signals[ended])));
    });
    return { code, started: true };
  } catch (error) {
    const why = systemCodeOf(error);
    const name = isShowable(words[0] ?? '') ? ` "${words[0]}"` : '';
    notices.warn(`the command${name} could not be started (${why ?? 'unknown reason'})`);
    // Windows can start only programs directly; npm and npx are scripts there.
    if (system.platform === 'win32') notices.note(`start a script by its shell: -- cmd /c ${words[0] ?? ''} …`);
    return { code: why === 'ENOENT' ? NOT_FOUND : NOT_RUNNABLE, started: false };
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function endChild(child: ChildProcess, reason: unknown, onTerminal: boolean): void {
  const name = isSvcError(reason) ? reason.code : '';
  // Ctrl-C on a terminal reaches the child directly. A second signal would make many programs quit without cleanup.
  if (name === 'interrupted' && onTerminal) return;
  child.kill(ownMember(SIGNALS, name) ?? 'SIGTERM');
  if (name === 'timeout') setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
}

/** Returns the variables that direct a command to the sandbox. */
function sandboxVariables(env: Environment, { url, keys }: RunningSandbox): Environment {
  const [management, privateKey] = keys;
  if (management === undefined || privateKey === undefined) throw new SvcError('bug', 'the sandbox has no keys');
  const direct = ['127.0.0.1', 'localhost'];
  const proxied = Object.keys(env).some((name) => /^(https?|all)_proxy$/i.test(name));
  const without = [env['NO_PROXY'] ?? env['no_proxy'] ?? '', ...direct].filter(Boolean).join(',');
  return {
    // The current profile may be the embedded sandbox, which would not use SVC_BASE_URL.
    SVC_PROFILE: DEFAULT_PROFILE,
    // Unset, this would leave the profile's ledger in effect, which other machines share.
    SVC_LEDGER: NO_LEDGER,
    ...(proxied && { NO_PROXY: without, no_proxy: without }),
    SVC_BASE_URL: url,
    SVC_MANAGEMENT_API_KEY: management.value,
    SVC_PRIVATE_API_KEY: privateKey.value,
  };
}

export interface Expectation {
  /** Method and path pattern: `GET /logs`. */
  readonly call: string;
  readonly operator: '>=' | '<=' | '=' | '>' | '<';
  readonly count: number;
}

/** Parses `GET /logs>=1`, `POST /3ds/**=0`, or `GET /logs` for at least one call. @throws SvcError `usage` */
export function expectation(text: string): Expectation {
  const [, call, operator = '>=', count = '1'] =
    /^((?:\*|[A-Z]+) (?:\*\*|\/[^\s<>=]*))(?:(>=|<=|=|>|<)(\d{1,9}))?$/.exec(text) ?? [];
  if (call === undefined || !isOperator(operator))
    throw new SvcError('usage', "must be a method, a path and a count, such as 'GET /logs>=1'");
  return { call, operator, count: Number(count) };
}

/** Parses `10/10s`. @throws SvcError `usage` */
export function rateLimit(text: string) {
  const [, requests, duration = ''] = /^(\d{1,9})\/(\w+)$/.exec(text) ?? [];
  const ms = parseDuration(duration);
  if (requests === undefined || ms === undefined || ms === 0)
    throw new SvcError('usage', 'must be a number of requests and a time, such as 10/10s');
  return { requests: Number(requests), ms };
}

export type CountCalls = (call: string) => number;

/** Returns a sentence for each unmet expectation. `times` are the times of all calls, in milliseconds. */
export function unmet(
  gates: { readonly expect: readonly Expectation[]; readonly maxRate: ReturnType<typeof rateLimit> | undefined },
  times: readonly number[],
  count: CountCalls,
): string[] {
  const missed = gates.expect.flatMap(({ call, operator, count: expected }) => {
    const calls = count(call);
    return COMPARE[operator](calls, expected)
      ? []
      : [`${call} called ${calls === 1 ? 'once' : `${calls} times`}, expected ${operator}${expected}`];
  });
  if (gates.maxRate === undefined) return missed;
  const { requests, ms } = gates.maxRate;
  const peak = peakRate(times, ms);
  return peak <= requests
    ? missed
    : [...missed, `${peak} requests within ${ms / 1000} s, expected at most ${requests}`];
}

/** Returns the largest number of times (in milliseconds, in any order) within any span of `ms`. */
export function peakRate(times: readonly number[], ms: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let first = 0;
  let peak = 0;
  for (const [last, time] of sorted.entries()) {
    while (time - (sorted[first] ?? time) >= ms) first += 1;
    peak = Math.max(peak, last - first + 1);
  }
  return peak;
}

/** Summarizes requests, failures by status and peak rate in one line. */
function summary(calls: readonly LedgerEntry[]): string {
  const times = calls.map(({ at }) => Date.parse(at));
  const statuses = new Map<string, number>();
  for (const { status } of calls.filter(isFailure)) {
    const name = status === 0 ? 'no response' : String(status);
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
  }
  const errors = [...statuses].map(([name, number]) => `${name} × ${number}`).join(', ');
  const failed = calls.filter(isFailure).length;
  return (
    `the sandbox received ${countText(calls.length, 'request')}, ${countText(failed, 'error')}${errors && ` (${errors})`}, ` +
    `at most ${peakRate(times, 1000)} in 1 s and ${peakRate(times, 10_000)} in 10 s`
  );
}

function isOperator(text: string): text is Expectation['operator'] {
  return Object.hasOwn(COMPARE, text);
}

function isFailure({ status }: LedgerEntry): boolean {
  return status >= 400 || status === 0;
}
