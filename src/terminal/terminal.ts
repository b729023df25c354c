import type { Palette } from '../render/view.ts';
import type { System } from '../system.ts';
import { createPalette, showsUnicode, type ColourMode } from './colour.ts';
import { LiveLine } from './live-line.ts';
import { Notices, type NoticeLevel } from './notices.ts';
import { Output } from './output.ts';
import { Progress } from './progress.ts';
import { Prompts } from './prompt.ts';

/** The global options that matter here. */
export interface TerminalSettings {
  readonly level: NoticeLevel;
  readonly color: ColourMode;
  readonly noInput: boolean;
  readonly yes: boolean;
  /** Removes secrets from all that leaves. */
  readonly redact: (text: string) => string;
}

/** Everything through which a command talks and listens. */
export interface Terminal {
  /** Standard output: data and nothing else. */
  readonly out: Output;
  /** Colours of standard output. */
  readonly palette: Palette;
  /** Colours of stderr, for the error report. */
  readonly noticePalette: Palette;
  readonly notices: Notices;
  readonly progress: Progress;
  readonly prompts: Prompts;
  /** Whether block and braille characters may be drawn. */
  readonly unicode: boolean;
  /** Gives the cursor back and waits for stderr. Call it last, whatever happened. */
  close(): Promise<void>;
}

/** Puts the pieces together over the process's streams. */
export async function openTerminal(system: System, settings: TerminalSettings): Promise<Terminal> {
  const { env, stdout, stderr, clock, signal, platform } = system;
  const { redact, level, color, noInput, yes } = settings;
  const bare = new Output(stderr, { name: 'standard error', redact });
  const live = bare.isTerminal && env['TERM'] !== 'dumb' ? new LiveLine(bare) : undefined;
  const err = new Output(stderr, { name: 'standard error', redact, around: live });
  // Only when both show on the same screen does data on stdout disturb the live line.
  const around = stdout.isTTY === true ? live : undefined;
  const out = new Output(stdout, { name: 'standard output', redact, around });
  const noticePalette = await createPalette(color, env, err);
  const notices = new Notices(err, level, noticePalette);
  const unicode = showsUnicode(env, platform);
  const progress = new Progress({ notices, clock, live, signal, unicode });
  const close = async (): Promise<void> => {
    progress.end();
    await notices.settled();
  };
  return {
    out,
    palette: await createPalette(color, env, out),
    noticePalette,
    notices,
    progress,
    prompts: new Prompts({ stdin: () => system.stdin, out: bare, env, noInput, yes, signal, live }),
    unicode,
    close,
  };
}
