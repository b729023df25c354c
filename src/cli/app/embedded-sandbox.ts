import fs from 'node:fs';
import path from 'node:path';
import { listenFailure, SvcError, systemCodeOf } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import type { Interceptor, SandboxOptions } from '../../emulator/options.ts';
import type { RunningSandbox } from '../../emulator/running-sandbox.ts';
import { requireDirectory } from '../config/paths.ts';
import { formatDuration } from '../output/time.ts';
import type { Context } from './command.ts';
import { noteNext } from './hint.ts';

/**
 * Starts the sandbox inside this process, on a free loopback port, for as long as the command runs.
 * @returns its base URL
 */
export async function openSandbox(context: Context): Promise<URL> {
  const intercept = await faultsFrom(context.system.env['SVC_SANDBOX_FAULTS']);
  const directory = sandboxDirectory(context);
  makeDirectory(directory);
  await requireSandboxState(context, directory);
  const sandbox = await startSandbox(context, { directory, intercept, acceptTokens: context.isRehearsal });
  reportClock(context, sandbox.clockOffset);
  return new URL(sandbox.url);
}

/** Starts a sandbox that ends with the command. @throws SvcError `local` */
export async function startSandbox(context: Context, options: SandboxOptions): Promise<RunningSandbox> {
  makeDirectory(options.directory);
  const server = await import('../../emulator/server.ts');
  try {
    const sandbox = await server.startSandbox({ ...options, clock: context.clock });
    context.onClose(() => sandbox.close());
    return sandbox;
  } catch (error) {
    const { OtherOptionsError } = await import('../../emulator/state/state.ts');
    const failure = startFailure(error, options);
    if (!(error instanceof OtherOptionsError)) throw failure;
    throw failure.with({
      hint: `Start it without these options. ${RESET_HINT}`,
      next: resetWords(context, options.directory),
    });
  }
}

/** Returns the state directory of the embedded sandbox. Jobs in it outlive the command that created them. */
export function sandboxDirectory({ system }: Pick<Context, 'system'>): string {
  return path.join(requireDirectory(system, 'state'), 'sandbox');
}

/** Tells whether a directory is that of the embedded sandbox, also by way of a link. */
export function isOwnSandbox(context: Pick<Context, 'system'>, directory: string): boolean {
  return realPathOf(directory) === realPathOf(sandboxDirectory(context));
}

function realPathOf(directory: string): string {
  return fs.existsSync(directory) ? fs.realpathSync(directory) : path.resolve(directory);
}

/**
 * Checks that a directory contains only a sandbox's files and that the sandbox's journal is readable: a power loss may have
 * emptied the journal.
 * @throws SvcError `local`
 */
export async function requireSandboxState(context: Context, directory: string): Promise<void> {
  const { directoryUse } = await import('../../emulator/state/journal.ts');
  const use = directoryUse(directory);
  if (use === 'foreign')
    throw foreignDirectoryError('local', directory, 'Move them away: the sandbox keeps its state there.');
  if (use !== 'damaged') return;
  throw new SvcError('local', `the state of the sandbox in ${directory} cannot be read: its journal is damaged`, {
    hint: RESET_HINT,
    next: resetWords(context, directory),
  });
}

const RESET_HINT = 'A reset deletes its jobs, files and logs, and gives it a new tenant.';

function resetWords(context: Pick<Context, 'system'>, directory: string): readonly string[] {
  return ['sandbox', 'reset', ...(isOwnSandbox(context, directory) ? [] : ['--directory', directory])];
}

/** Returns the error for a directory with files that are not a sandbox's. */
export function foreignDirectoryError(code: 'usage' | 'local', directory: string, hint: string): SvcError {
  return new SvcError(code, `${directory} contains other files than a sandbox's; none was touched`, { hint });
}

/** Returns the directory of the ledger of rows sent to the embedded sandbox. */
export function sandboxLedger({ system }: Pick<Context, 'system'>): string {
  return path.join(requireDirectory(system, 'state'), 'ledger', 'sandbox');
}

// An operator who forgot that the clock was moved would take its effects for a bug.
function reportClock(context: Context, offset: number): void {
  if (offset === 0) return;
  const direction = offset > 0 ? 'ahead' : 'behind';
  const ahead = `the sandbox's clock is ${formatDuration(Math.abs(offset))} ${direction}; to reset it`;
  noteNext(context, ahead, ['sandbox', 'clock', '--reset']);
}

async function faultsFrom(text: string | undefined): Promise<Interceptor | undefined> {
  if (text === undefined || text === '') return undefined;
  const { readFaults } = await import('../../emulator/faults/fault.ts');
  const { faultInterceptor } = await import('../../emulator/faults/intercept.ts');
  const { faults, seed } = readTyped('SVC_SANDBOX_FAULTS', 'faults', () => readFaults(text));
  return faultInterceptor(faults, seed);
}

/** Calls `read` for a typed text, and turns its failure into an error that names the help topic. @throws SvcError `usage` */
export function readTyped<T>(name: string, topic: 'faults' | 'outcomes', read: () => T): T {
  try {
    return read();
  } catch (error) {
    const why = error instanceof Error ? error.message : 'cannot be read';
    throw new SvcError('usage', `${name}: ${why}`, { next: ['help', topic] });
  }
}

/** Returns the error for a sandbox that did not start. */
function startFailure(error: unknown, { directory, port = 0 }: SandboxOptions): SvcError {
  if (error instanceof Error && 'syscall' in error && error.syscall === 'listen')
    return listenFailure(error, '127.0.0.1', port);
  const code = systemCodeOf(error);
  const why = error instanceof Error ? error.message : 'unknown reason';
  const problem = code === undefined ? `could not start: ${why}` : `cannot keep its state in ${directory} (${code})`;
  return new SvcError('local', `the sandbox ${problem}`, {
    hint: 'Make the directory writable, or name another one with --directory or SVC_STATE_DIR.',
    cause: error,
  });
}
