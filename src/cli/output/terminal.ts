import type { WriteStream } from 'node:tty';
import { isInstalled } from '../../base/files/names.ts';
import { type Environment, isOn, isUnattended, type OutputStream, type System } from '../../base/system.ts';
import { Messages, type NoticeLevel } from './messages.ts';
import { Output } from './output.ts';
import { Progress } from './progress.ts';
import { Prompts } from './prompt.ts';
import { type Palette, plainPalette } from './view.ts';

/** The global options that affect the terminal. */
export interface TerminalSettings {
  readonly level: NoticeLevel;
  /** Whether stderr gets JSON objects for a log collector (`SVC_DEBUG=json`). */
  readonly jsonLog?: boolean;
  readonly color: ColorMode;
  readonly noInput: boolean;
  readonly yes: boolean;
  /** Whether to avoid colors, drawings and repainted lines, which a screen reader cannot read. */
  readonly plain: boolean;
  /** Whether a terminal shows the output in a pager. */
  readonly pages: boolean;
  /** Removes secrets from all output. */
  readonly redact: (text: string) => string;
}

/** The streams of a command: output, messages, progress and prompts. */
export interface Terminal {
  /** Standard output: data and nothing else. */
  readonly out: Output;
  /** Returns the width for wrapping sentences on standard output; infinity without a terminal or with `--plain`. */
  readonly columns: () => number;
  /** Colors of standard output. */
  readonly palette: Palette;
  /** Colors of stderr, for the error report. */
  readonly noticePalette: Palette;
  /** Returns the current width of the terminal on stderr; infinity without a terminal, or if its size is unknown. */
  readonly noticeColumns: () => number;
  /** Messages on stderr. */
  readonly notices: Messages;
  /** Shows long work on a terminal, plain lines elsewhere. */
  readonly progress: Progress;
  /** Returns the prompts for the person at the terminal. */
  readonly prompts: () => Prompts;
  /** Whether block and braille characters may be drawn. */
  readonly unicode: boolean;
  /** Whether standard output is a terminal that can show ✓ and ✗. */
  readonly marks: boolean;
  /** Whether words replace drawings, tables and repainted lines (`--plain`). */
  readonly plain: boolean;
  /** Restores the cursor and waits for stderr. Must be called last, even after a failure. */
  close(): Promise<void>;
}

/** Opens the terminal of a command on the streams of the process. */
export async function openTerminal(system: System, settings: TerminalSettings): Promise<Terminal> {
  const { env, stdout, stderr, clock, signal, platform } = system;
  const { redact, level, color, noInput, yes, plain } = settings;
  const command = settings.pages && !plain ? pagerFor(system) : undefined;
  const pager = command === undefined ? undefined : new (await import('./pager.ts')).Pager(command, system);
  const after = (): Promise<void> | undefined => pager?.showing;
  const unicode = !plain && showsUnicode(env, platform);
  const repaints = isRepaintable(stderr) && !plain && !settings.jsonLog && !isUnattended(env);
  const screen = repaints ? { stream: stderr, redact, unicode } : undefined;
  const err = new Output(stderr, { name: 'standard error', redact, after });
  const out = new Output(pager ?? stdout, { name: 'standard output', redact, bypassPager: () => pager?.bypass() });
  const paint = plain && color === 'auto' ? 'never' : color;
  const noticePalette = await createPalette(paint, env, err);
  const logClock = settings.jsonLog ? clock : undefined;
  const notices = new Messages(err, level, { palette: noticePalette, unicode, logClock });
  const progress = new Progress({ notices, clock, screen, signal });
  const close = async (): Promise<void> => {
    progress.end();
    await pager?.leave();
    await notices.flushed();
  };
  return {
    out,
    columns: () => (out.isTerminal && !plain ? out.width : Infinity),
    palette: await createPalette(paint, env, out),
    noticePalette,
    noticeColumns: () => (stderr.isTTY === true && !plain && stderr.columns) || Infinity,
    notices,
    progress,
    prompts: () => new Prompts({ stdin: () => system.stdin, out: err, env, noInput, yes, signal, progress }),
    unicode,
    marks: unicode && out.isTerminal,
    plain,
    close,
  };
}

/** Whether a stream is a terminal whose cursor can be moved. A serial console, whose size is unknown, gets lines. */
export function isRepaintable(stream: OutputStream): stream is OutputStream & WriteStream {
  return stream.isTTY === true && 'moveCursor' in stream && (stream.columns ?? 0) > 0;
}

/** Values of `--color`. */
export type ColorMode = 'auto' | 'always' | 'never';

/** Whether a stream gets color. The first one set decides: `--color`, NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, CLICOLOR=0. */
export function wantsColor(mode: ColorMode, env: Environment, isTerminal: boolean): boolean {
  if (mode !== 'auto') return mode === 'always';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (isOn(env['CLICOLOR_FORCE'])) return true;
  if (env['CLICOLOR'] === '0') return false;
  return isTerminal && env['TERM'] !== 'dumb';
}

/** Creates the palette of a stream. Loads chalk only if the stream gets color. */
export async function createPalette(
  mode: ColorMode,
  env: Environment,
  stream: { readonly isTerminal: boolean },
): Promise<Palette> {
  if (!wantsColor(mode, env, stream.isTerminal)) return plainPalette;
  const { Chalk } = await import('chalk');
  // The 16 basic colors follow the user's theme, dark or light.
  const chalk = new Chalk({ level: 1 });
  return {
    good: (text) => chalk.green(text),
    warn: (text) => chalk.yellow(text),
    bad: (text) => chalk.red(text),
    alarm: (text) => chalk.bold.inverse.red(text),
    quiet: (text) => chalk.dim(text),
    strong: (text) => chalk.bold(text),
    accent: (text) => chalk.cyan(text),
  };
}

/** Whether the locale lets a terminal show block and braille characters. */
export function showsUnicode(env: Environment, platform: string): boolean {
  if (platform === 'win32') return env['WT_SESSION'] !== undefined || env['TERM_PROGRAM'] !== undefined;
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return /utf-?8/i.test(locale);
}

/**
 * Returns the command line of the pager, for a shell: from SVC_PAGER, else PAGER, else `less`. Returns undefined where nobody
 * can turn pages (no terminal, a dumb terminal, CI, a coding agent), for an empty command or `cat`, and for a missing program.
 */
export function pagerFor({ env, platform, stdout }: Pick<System, 'env' | 'platform' | 'stdout'>): string | undefined {
  if (stdout.isTTY !== true || env['TERM'] === 'dumb' || isUnattended(env)) return undefined;
  const named = env['SVC_PAGER'] ?? env['PAGER'];
  // Windows has no pager that shows colors.
  const command = (named ?? (platform === 'win32' ? '' : 'less')).trim();
  const [program = ''] = command.split(/\s/, 1);
  if (command === '' || command === 'cat') return undefined;
  const hasShellSyntax = /[^\w./+-]/.test(program);
  return hasShellSyntax || platform === 'win32' || isInstalled(program, env) ? command : undefined;
}
