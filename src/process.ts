/** The only file that reads the process: its streams, environment and signals. It also sets the exit code. */

import { fstatSync, readSync, statSync } from 'node:fs';
import { devNull, homedir, userInfo } from 'node:os';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { type ErrorCode, SvcError, systemCodeOf } from './base/errors.ts';
import { type System, systemClock } from './base/system.ts';
import { standardStream } from './cli/output/output.ts';
import { main } from './main.ts';

const ENDINGS: Readonly<Partial<Record<NodeJS.Signals, { code: ErrorCode; words: string; hint?: string }>>> = {
  // Node takes back that nohup ignores this signal, before any script runs.
  SIGHUP: {
    code: 'hangup',
    words: 'the terminal closed',
    hint: 'nohup does not help; to go on without a terminal, use setsid, tmux or systemd-run --user.',
  },
  SIGINT: { code: 'interrupted', words: 'interrupted' },
  // Ctrl-Break on Windows.
  SIGBREAK: { code: 'interrupted', words: 'interrupted' },
  SIGTERM: { code: 'terminated', words: 'ended by a signal' },
};

/** The number of other programs that have the terminal now. */
let inFront = 0;

// Opened on first use, so that a command without input leaves stdin alone.
let input: System['stdin'] | undefined;
let output: System['stdout'] | undefined;
let errors: System['stderr'] | undefined;
let ending: AbortSignal | undefined;

const system: System = {
  env: process.env,
  platform: process.platform,
  home: homeDirectory(),
  // If the working directory was removed, relative paths fail later with a clear message.
  cwd: orElse(() => process.cwd(), '/'),
  pid: process.pid,
  account: () => ({ name: orElse(() => userInfo().username, undefined), uid: process.getuid?.() }),
  program: programOf(process.argv[1]),
  nodeVersion: process.versions.node,
  get stdin() {
    return (input ??= process.stdin);
  },
  get stdout() {
    return (output ??= standardStream(1, () => process.stdout));
  },
  get stderr() {
    return (errors ??= standardStream(2, () => process.stderr));
  },
  isOutputClosed,
  clock: systemClock,
  /** Handlers are installed on first use: completion, help and --version end before a signal could. */
  get signal() {
    return (ending ??= endingSignal());
  },
  prepareForWork,
  yieldTerminal,
  isAlive,
};

const LONG_MS = 100;

void start();

async function start(): Promise<void> {
  try {
    // process.exit would cut off output that is still being written into a pipe.
    process.exitCode = await main(process.argv.slice(2), system);
  } catch (error) {
    // An upgrade takes away the files that explain an error, too.
    if (systemCodeOf(error) !== 'MODULE_NOT_FOUND') throw error;
    process.stderr.write(
      'error: svc was upgraded or removed while this command was running. Run the same command again.\n',
    );
    process.exitCode = 1;
  }
  // An open pipe on stdin would keep the process alive; after a signal, so would a stdout that nobody reads.
  input?.destroy();
  if (ending?.aborted) process.exit();
}

/** The first signal asks the command to end in order; a second one ends the process at once. */
function endingSignal(): AbortSignal {
  setTimeout(prepareForLongWork, LONG_MS).unref();
  const controller = new AbortController();
  for (const [name, { code, words, hint }] of Object.entries(ENDINGS)) {
    process.on(name, () => {
      const error = new SvcError(code, words, { hint });
      if (controller.signal.aborted && !(name === 'SIGINT' && inFront > 0)) process.exit(error.exitCode);
      controller.abort(error);
    });
  }
  return controller.signal;
}

// Node 20 optimizes the WebAssembly of its HTTP parser after a few answers, and does not end before that is done. Here it
// waits until a command reads a large file, as later versions do.
function prepareForWork(): void {
  if (process.versions.node.startsWith('20.')) setFlagsFromString('--wasm-tiering-budget=100000000');
}

// What streams through a long command makes the heap grow: room for young objects to 100 MB, and for old ones to four
// times of what lives. Held small, memory stays flat (R32). V8 writes to stderr about a flag that it does not know: only
// versions that were tried get these.
function prepareForLongWork(): void {
  prepareForWork();
  if (Number.parseInt(process.versions.node) > 26) return;
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=40');
}

// Node opens the null device in place of a closed stream, and it can be read, other than that of `>/dev/null`. A parent
// process may open it the same way to discard what is printed.
function isOutputClosed(): boolean {
  if (process.platform === 'win32') return false;
  return orElse(() => fstatSync(1).rdev === statSync(devNull).rdev && readSync(1, Buffer.alloc(1)) === 0, false);
}

function yieldTerminal(over: Promise<unknown>): void {
  inFront += 1;
  const back = (): void => {
    inFront -= 1;
  };
  over.then(back, back);
}

/** Node keeps the name of a link here, and an executable the word that was typed. */
function programOf(started = ''): System['program'] {
  return /(?:^|[/\\])svc-cli(?:\.exe)?$/i.test(started) ? 'svc-cli' : undefined;
}

function homeDirectory(): string | undefined {
  const variable = process.env['HOME'];
  return variable === undefined ? orElse(homedir, undefined) : variable || undefined;
}

function orElse<T>(find: () => T, otherwise: T): T {
  try {
    return find();
  } catch {
    return otherwise;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
