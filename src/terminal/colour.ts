import { plainPalette, type Palette } from '../render/view.ts';
import type { Environment } from '../system.ts';

/** Values of `--color`. */
export type ColourMode = 'auto' | 'always' | 'never';

/**
 * Whether a stream gets colour. The flag decides; then FORCE_COLOR (0 and false mean no); then NO_COLOR; then
 * only a terminal does, and not a dumb one.
 */
export function wantsColour(mode: ColourMode, env: Environment, isTerminal: boolean): boolean {
  if (mode !== 'auto') return mode === 'always';
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return isTerminal && env['TERM'] !== 'dumb';
}

/** The palette of one stream; chalk is loaded only where there is colour. */
export async function createPalette(
  mode: ColourMode,
  env: Environment,
  stream: { readonly isTerminal: boolean },
): Promise<Palette> {
  if (!wantsColour(mode, env, stream.isTerminal)) return plainPalette;
  const { Chalk } = await import('chalk');
  // The 16 basic colours: they follow the user's own theme, dark or light.
  const chalk = new Chalk({ level: 1 });
  return {
    good: (text) => chalk.green(text),
    warn: (text) => chalk.yellow(text),
    bad: (text) => chalk.red(text),
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
