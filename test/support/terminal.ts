import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { spawn, type IPty } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { build } from 'rolldown';
import { onTestFailed, TestRunner } from 'vitest';

/** How a program is started on a pseudo-terminal. */
export interface TerminalRun {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** The environment in addition to TERM, PATH and LANG; nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a program on a pseudo-terminal ended. */
export interface TerminalExit {
  /** The exit code or, as in a shell, 128 plus the number of the signal that ended the program. */
  readonly exitCode: number;
}

// The last output of a program is lost when this process is too busy to read it within 0.2 seconds of the program's
// end. So a shell stays behind on the terminal, reports the exit code in a sequence that no screen shows, and is then
// killed.
const KEEPER = String.raw`trap : HUP INT QUIT TERM; "$@"; printf '\033]777;%s\007' "$?"; read -r _`;
const ENDING = '\u001b]777;';

/** A program on a pseudo-terminal of a given size, and the screen as a person sees it. */
export class TerminalSession {
  /** Resolves when the program has ended and all that it wrote is on the screen. */
  readonly exited: Promise<TerminalExit>;
  /** Everything the program wrote, including escape sequences. */
  raw = '';
  readonly #pty: IPty;
  readonly #screen: InstanceType<typeof xterm.Terminal>;
  #changed: () => void = () => {};

  constructor(command: string, args: readonly string[], run: TerminalRun = {}) {
    const { columns = 80, rows = 24, cwd = tmpdir(), env = {} } = run;
    this.#screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 10_000 });
    this.#pty = spawn('/bin/sh', ['-c', KEEPER, 'sh', command, ...args], {
      // The name becomes TERM, whatever the environment says.
      name: env['TERM'] ?? 'xterm-256color',
      cols: columns,
      rows,
      cwd,
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', ...env },
    });
    this.exited = new Promise((resolve) => {
      this.#pty.onData((data) => {
        this.raw += data;
        const { length } = this.raw;
        this.#screen.write(data, () => {
          this.#changed();
          const code = this.#takeEnding(length);
          if (code !== undefined) resolve({ exitCode: code });
        });
      });
      this.#pty.onExit(({ exitCode, signal }) => resolve({ exitCode: signal ? 128 + signal : exitCode }));
    });
  }

  /** Returns all lines, scrolled away or not, without spaces at line ends and empty lines at the end. */
  screen(): string {
    const { buffer } = this.#screen;
    const lines = Array.from(
      { length: buffer.active.length },
      (_, at) => buffer.active.getLine(at)?.translateToString(true) ?? '',
    );
    return lines.join('\n').trimEnd();
  }

  /** Returns the screen once it matches; fails when the program or the test ends before. */
  async waitFor(pattern: string | RegExp): Promise<string> {
    const matches = (): boolean =>
      typeof pattern === 'string' ? this.screen().includes(pattern) : pattern.test(this.screen());
    await new Promise<void>((resolve, reject) => {
      let isWaiting = true;
      const fail = (): void => {
        if (!isWaiting) return;
        isWaiting = false;
        const error = new Error(`never saw ${String(pattern)} on:\n${this.screen()}`);
        reject(error);
        throw error;
      };
      this.#changed = () => {
        if (!matches()) return;
        isWaiting = false;
        resolve();
      };
      this.#changed();
      void this.exited.then(fail).catch(() => undefined);
      // A test that reached its own time limit shows what it waited for. A hook cannot.
      if (TestRunner.getCurrentTest() !== undefined) onTestFailed(fail);
    });
    return this.screen();
  }

  /** Whether the cursor is visible, by the last escape sequence about it. */
  get cursorShows(): boolean {
    return this.raw.lastIndexOf('\u001b[?25h') >= this.raw.lastIndexOf('\u001b[?25l');
  }

  /** Types keys: `\r` is Enter, `\u0003` Ctrl-C. */
  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
    this.#screen.resize(columns, rows);
  }

  /** Sends a signal to every process on the terminal, as closing it would; does nothing once they have ended. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    try {
      process.kill(-this.#pty.pid, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }

  /**
   * Returns the exit code once the shell that stays behind has reported it, and ends that shell. Only the first `shown`
   * characters of the output are on the screen yet.
   */
  #takeEnding(shown: number): number | undefined {
    const at = this.raw.lastIndexOf(ENDING);
    const end = this.raw.indexOf('\u0007', at);
    if (at === -1 || end === -1 || end >= shown) return undefined;
    const code = Number(this.raw.slice(at + ENDING.length, end));
    this.raw = this.raw.slice(0, at);
    this.#pty.kill('SIGKILL');
    return code;
  }
}

/** A program of the tests, bundled so that plain node runs it; `remove` deletes the bundle. */
export interface Bundle {
  readonly path: string;
  remove(): void;
}

/** Bundles a TypeScript program with everything it imports. */
export async function bundleProgram(entry: string): Promise<Bundle> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-program-'));
  await build({
    input: entry,
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    logLevel: 'silent',
    output: { dir, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
  });
  const path = join(dir, `${basename(entry, '.ts')}.mjs`);
  return { path, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
