import type { WriteStream } from 'node:tty';
import { isInstalled } from '../../base/files/names.ts';
import { type Environment, isOn, isUnattended, type OutputStream, type System } from '../../base/system.ts';
import { Messages, type NoticeLevel } from './messages.ts';
import { Output } from './output.ts';
import { Progress } from './progress.ts';
import { Prompts } from './prompt.ts';
import { type Palette, plainPalette } from './view.ts';

/** The global options that matter here. */
export interface TerminalSettings {
  readonly level: NoticeLevel;
  /** Whether stderr gets JSON objects for a collector of logs (`SVC_DEBUG=json`). */
  readonly jsonLog?: boolean;
  readonly color: ColorMode;
  readonly noInput: boolean;
  readonly yes: boolean;
  /** No colors, drawings or repainted lines, which a screen reader makes nothing of. */
  readonly plain: boolean;
  /** Whether a terminal shows what is written through a pager. */
  readonly pages: boolean;
  /** Removes secrets from all that leaves. */
  readonly redact: (text: string) => string;
}

/** Everything through which a command talks and listens. */
export interface Terminal {
  /** Standard output: data and nothing else. */
  readonly out: Output;
  /** Returns the width to which sentences on standard output are broken: infinity without a terminal, and with `--plain`. */
  readonly columns: () => number;
  /** Colors of standard output. */
  readonly palette: Palette;
  /** Colors of stderr, for the error report. */
  readonly noticePalette: Palette;
  /** Returns the width that the terminal on stderr has now; infinity where it is none, or does not know its size. */
  readonly noticeColumns: () => number;
  /** Everything but data, on stderr. */
  readonly notices: Messages;
  /** Shows long work on a terminal, plain lines elsewhere. */
  readonly progress: Progress;
  /** Questions to the person at the terminal, if there is one. */
  readonly prompts: () => Prompts;
  /** Whether block and braille characters may be drawn. */
  readonly unicode: boolean;
  /** Whether ✓ and ✗ are written on standard output: a terminal that can show them. */
  readonly marks: boolean;
  /** Whether words are to stand in for pictures, tables and repainted lines (`--plain`). */
  readonly plain: boolean;
  /** Gives the cursor back and waits for stderr. Call it last, whatever happened. */
  close(): Promise<void>;
}

/** Puts the pieces together over the process's streams. */
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
  const notices = new Messages(err, level, noticePalette, unicode, { form: settings.jsonLog ? { clock } : 'text' });
  const progress = new Progress({ notices, clock, screen, signal });
  const close = async (): Promise<void> => {
    progress.end();
    await pager?.leave();
    await notices.settled();
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

/** Whether a stream is a terminal whose cursor can be moved. A serial console does not know its size, and gets lines. */
export function isRepaintable(stream: OutputStream): stream is OutputStream & WriteStream {
  return stream.isTTY === true && 'moveCursor' in stream && (stream.columns ?? 0) > 0;
}

/** Values of `--color`. */
export type ColorMode = 'auto' | 'always' | 'never';

/** Whether a stream gets color. The first of these decides: `--color`, NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, CLICOLOR=0. */
export function wantsColor(mode: ColorMode, env: Environment, isTerminal: boolean): boolean {
  if (mode !== 'auto') return mode === 'always';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (isOn(env['CLICOLOR_FORCE'])) return true;
  if (env['CLICOLOR'] === '0') return false;
  return isTerminal && env['TERM'] !== 'dumb';
}

/** The palette of one stream; chalk is loaded only where there is color. */
export async function createPalette(
  mode: ColorMode,
  env: Environment,
  stream: { readonly isTerminal: boolean },
): Promise<Palette> {
  if (!wantsColor(mode, env, stream.isTerminal)) return plainPalette;
  const { Chalk } = await import('chalk');
  // The 16 basic colors: they follow the user's own theme, dark or light.
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
 * The command line of the pager, as a shell takes it: SVC_PAGER, then PAGER, then less. Undefined where nobody can
 * turn pages (no terminal, a dumb one, CI, a coding agent), where one of them is empty or `cat`, and where there is no such program.
 */
export function pagerFor({ env, platform, stdout }: Pick<System, 'env' | 'platform' | 'stdout'>): string | undefined {
  if (stdout.isTTY !== true || env['TERM'] === 'dumb' || isUnattended(env)) return undefined;
  const named = env['SVC_PAGER'] ?? env['PAGER'];
  // Windows comes with none that shows colors.
  const command = (named ?? (platform === 'win32' ? '' : 'less')).trim();
  const [program = ''] = command.split(/\s/, 1);
  if (command === '' || command === 'cat') return undefined;
  const hasShellSyntax = /[^\w./+-]/.test(program);
  return hasShellSyntax || platform === 'win32' || isInstalled(program, env) ? command : undefined;
}
