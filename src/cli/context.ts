import type { Client } from '../api/client.ts';
import type { Clock } from '../clock.ts';
import type { Settings } from '../config/settings.ts';
import type { Palette } from '../render/view.ts';
import type { System } from '../system.ts';
import type { Notices } from '../terminal/notices.ts';
import type { Output } from '../terminal/output.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Prompts } from '../terminal/prompt.ts';
import type { Globals } from './globals.ts';

/** What a command gets. Cheap things are values; what costs to load or to open is a function. */
export interface Context {
  readonly system: System;
  readonly globals: Globals;
  /** Flags, environment and profile put together, each value with its origin. */
  readonly settings: Settings;
  readonly clock: Clock;
  /** Aborts on a signal, when `--timeout` is over, or when the reader of stdout has gone. */
  readonly signal: AbortSignal;
  /** Data, and only data. */
  readonly out: Output;
  /** Everything else, on stderr. */
  readonly notices: Notices;
  /** Shows long work on a terminal, plain lines elsewhere. */
  readonly progress: Progress;
  /** Questions to the person at the terminal, if there is one. */
  readonly prompts: Prompts;
  /** Colours of stdout. */
  readonly palette: Palette;
  /** Colours of stderr. */
  readonly noticePalette: Palette;
  /** Whether block characters may be drawn. */
  readonly unicode: boolean;
  /** From now on this value is removed from all that leaves. */
  addSecret(value: string): void;
  /** The client of the service, or of the embedded sandbox, which starts with it. */
  client(): Promise<Client>;
  /** Runs when the command is over, however it ends, last registered first. */
  onClose(close: () => Promise<void> | void): void;
}
