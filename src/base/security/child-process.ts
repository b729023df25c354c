// Starts other programs, without the keys of svc in their environment.

import {
  type ChildProcess,
  type ChildProcessByStdio,
  type ChildProcessWithoutNullStreams,
  spawn,
} from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Environment } from '../system.ts';

export interface CommandOptions {
  readonly env: Environment;
  readonly cwd: string;
  /** Variables for this command alone. The command does not inherit a variable that is undefined here. */
  readonly added?: Environment | undefined;
}

/** Starts a shell command of the operator. A test checks that all processes start in this file, so that none inherits a key. */
export function startCommand(line: string, { env, cwd, added }: CommandOptions): ChildProcessWithoutNullStreams {
  const environment = { ...withoutOwnKeys(env), ...added };
  return spawn(line, { shell: true, cwd, env: environment, stdio: 'pipe' });
}

/** Starts a program of the operator with the streams of this process. */
export function startProgram(
  [program = '', ...words]: readonly string[],
  env: Environment,
  added: Environment,
): ChildProcess {
  return spawn(program, words, { stdio: 'inherit', env: { ...withoutOwnKeys(env), ...added } });
}

/** Starts a pager, a shell command that reads the text on standard input. */
export function startPager(
  line: string,
  { env, platform }: { readonly env: Environment; readonly platform: NodeJS.Platform },
): ChildProcessByStdio<Writable, null, null> {
  return spawn(line, {
    shell: platform === 'win32' ? true : '/bin/sh',
    stdio: ['pipe', 'inherit', 'inherit'],
    // The same settings as git's: quit if the text fits one screen, show colors, leave the text on the screen.
    env: { LESS: 'FRX', LV: '-c', ...viewerEnvironment(env) },
  });
}

/** Opens an address in a browser, without a shell, since the address comes from the service. */
export function startBrowser(
  [program = '', ...words]: readonly string[],
  address: string,
  env: Environment,
): ChildProcess {
  return spawn(program, [...words, address], { env: viewerEnvironment(env), stdio: 'ignore', detached: true });
}

const OWN_KEYS = /^(?:SVC_.*KEY(?:_FILE)?|OTEL_EXPORTER_OTLP_(?:\w+_)?HEADERS)$/i;

function withoutOwnKeys(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OWN_KEYS.test(name)));
}

/** The only variables that a pager or browser gets. */
const VIEWER_VARIABLES = [
  'PATH|HOME|LANG|LC_\\w+|TMPDIR',
  'TERM|TERMINFO|TERMINFO_DIRS|COLORTERM|LESS|LESSCHARSET|LESSSECURE',
  'DISPLAY|XAUTHORITY|WAYLAND_DISPLAY|XDG_\\w+|DBUS_SESSION_BUS_ADDRESS|BROWSER',
  // Windows
  'SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|TEMP|TMP|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA',
  'PROGRAMDATA|PROGRAMFILES|PROGRAMFILES\\(X86\\)|PROGRAMW6432',
].join('|');
const FOR_VIEWERS = new RegExp(`^(?:${VIEWER_VARIABLES})$`, 'i');

function viewerEnvironment(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => FOR_VIEWERS.test(name) && !OWN_KEYS.test(name)));
}

// node:readline would keep an endless line in memory.
const MAX_LINE_LENGTH = 2000;

/** Calls `onLine` for each line that a program writes, cut to 2,000 characters. */
export function forEachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream
    .setEncoding('utf8')
    .on('error', () => undefined)
    .on('data', (text: string) => {
      const lines = (rest + text).split(/\r?\n/);
      rest = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH);
      for (const line of lines) onLine(line.slice(0, MAX_LINE_LENGTH));
    })
    .on('close', () => {
      if (rest !== '') onLine(rest);
    });
}

/** How a program ended; `problem` says why svc stopped it or could not start it. */
export interface ChildEnd {
  readonly code?: number | undefined;
  readonly signal?: string | undefined;
  readonly problem?: string | undefined;
}

interface ChildLimits {
  /** Time limit in milliseconds; none by default. */
  readonly limitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves when a program has ended. Kills the program when its time is up or the signal aborts. Programs that the program
 * started may continue. Never rejects.
 */
export async function childEnd(child: ChildProcess, { limitMs, signal }: ChildLimits): Promise<ChildEnd> {
  let problem: string | undefined;
  const stop = (why: string): void => {
    problem ??= why;
    child.kill('SIGKILL');
    // A grandchild may keep the pipes open.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  const timer = limitMs && setTimeout(() => stop(`took longer than ${limitMs / 1000} s`), limitMs);
  const onAbort = (): void => stop('was interrupted');
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const end = await new Promise<ChildEnd>((resolve) => {
    child.on('error', () => resolve({ problem: 'could not be started' }));
    child.on('close', (code, by) => resolve({ code: code ?? undefined, signal: by ?? undefined, problem }));
  });
  if (timer) clearTimeout(timer);
  signal?.removeEventListener('abort', onAbort);
  return end;
}
