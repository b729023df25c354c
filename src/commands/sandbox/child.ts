import type { ChildProcess } from 'node:child_process';
import type { Context } from '../../cli/context.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import type { RunningSandbox } from '../../sandbox/options.ts';
import type { Environment } from '../../system.ts';
import { systemCodeOf } from '../../system-code.ts';

/** What a shell answers for a command that it does not find, or may not run. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = { interrupted: 'SIGINT', hangup: 'SIGHUP' };

// How long a child may take to end in order.
const GRACE_MS = 5000;

/**
 * Runs a command on the terminal or pipes that this process has, and resolves to its exit code, as a shell would
 * give it. Signals that reach this process reach the child.
 */
export async function runChild(
  { system, notices, signal }: Context,
  words: readonly string[],
  added: Environment,
): Promise<number> {
  signal.throwIfAborted();
  const { startProgram } = await import('../../security/child-environment.ts');
  const { constants } = await import('node:os');
  const { isatty } = await import('node:tty');
  const child = startProgram(words, system.env, added);
  const end = (): void => endChild(child, signal.reason, [0, 1, 2].some(isatty));
  signal.addEventListener('abort', end, { once: true });
  try {
    return await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code, ended) =>
        resolve(code ?? 128 + (ended === null ? 0 : constants.signals[ended])),
      );
    });
  } catch (error) {
    const why = systemCodeOf(error);
    notices.warn(`the command could not be started (${why ?? 'unknown reason'})`);
    return why === 'ENOENT' ? NOT_FOUND : NOT_RUNNABLE;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function endChild(child: ChildProcess, reason: unknown, onTerminal: boolean): void {
  const name = isSvcError(reason) ? reason.code : '';
  // Ctrl-C on a terminal reaches both; a second one would end many a program at once.
  if (name === 'interrupted' && onTerminal) return;
  child.kill(SIGNALS[name] ?? 'SIGTERM');
  if (name === 'time_up') setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
}

/**
 * Variables for a command that is to use a sandbox: its address and keys, and nothing that leads elsewhere. Keys of a
 * store that are there already stay: they may be for something else that the command does.
 */
export function sandboxVariables(env: Environment, { url, keys, store }: RunningSandbox): Environment {
  const [management, privateKey] = keys;
  if (management === undefined || privateKey === undefined)
    throw new SvcError('bug', 'the sandbox has no keys');
  const direct = ['127.0.0.1', 'localhost'];
  const proxied = Object.keys(env).some((name) => /^(https?|all)_proxy$/i.test(name));
  const without = [env['NO_PROXY'] ?? env['no_proxy'] ?? '', ...direct].filter(Boolean).join(',');
  return {
    SVC_PROFILE: undefined,
    ...(proxied && { NO_PROXY: without, no_proxy: without }),
    SVC_BASE_URL: url,
    SVC_MANAGEMENT_API_KEY: management.value,
    SVC_PRIVATE_API_KEY: privateKey.value,
    ...(env['AWS_ACCESS_KEY_ID'] === undefined && {
      AWS_ENDPOINT_URL_S3: url,
      AWS_ACCESS_KEY_ID: store.accessKeyId,
      AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
    }),
  };
}
