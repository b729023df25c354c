import type { Client } from '../api/client.ts';
import type { Clock } from '../clock.ts';
import type { ApiKey } from '../http/core.ts';
import type { KeyKind } from '../http/request.ts';
import type { Trace } from '../http/trace.ts';
import type { Settings } from '../config/settings.ts';
import type { Query } from '../query/query.ts';
import type { Palette } from '../render/view.ts';
import type { Environment, System } from '../system.ts';
import type { Notices } from '../terminal/notices.ts';
import type { Output } from '../terminal/output.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Prompts } from '../terminal/prompt.ts';
import type { Globals } from './globals.ts';

/** Which client is wanted, where it is not just the one of the settings. */
export interface ClientChoice {
  /** In place of the base URL of the settings. */
  readonly baseUrl?: URL | undefined;
  /** In place of the keys of the settings. */
  readonly key?: ((kind: KeyKind) => Promise<ApiKey>) | undefined;
  /** Ends its work earlier than the command's own signal would. */
  readonly signal?: AbortSignal | undefined;
}

/** What a command gets. Cheap things are values; what costs to load or to open is a function. */
export interface Context {
  readonly system: System;
  readonly globals: Globals;
  /** Flags, environment and profile put together, each value with its origin. */
  readonly settings: Settings;
  readonly clock: Clock;
  /** Aborts on a signal, when `--timeout` is over, or when the reader of stdout has gone. */
  readonly signal: AbortSignal;
  /** What `--jq` asks for, where it is given. */
  readonly query: Query | undefined;
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
  /** Whether words are to stand in for pictures and tables (`--plain`). */
  readonly plain: boolean;
  /** Tells of exchanges with `--debug`, and of long pauses always. */
  readonly trace: Trace;
  /** From now on this value is removed from all that leaves. */
  addSecret(value: string): void;
  /**
   * The client of the service, or of the embedded sandbox, which starts with it. One a command, unless `choice`
   * differs. With `--dry-run` or `--curl` it can only read.
   */
  client(choice?: ClientChoice): Promise<Client>;
  /** The key of a kind, found when it is first asked for, and where it came from. Throws what `resolveKey` throws. */
  readonly key: (kind: KeyKind) => Promise<ApiKey>;
  /** Where buckets and their credentials are read from: the environment, or the embedded sandbox with buckets of its own. */
  storeEnvironment(): Promise<Environment>;
  /** Runs when the command is over, however it ends, last registered first. */
  onClose(close: () => Promise<void> | void): void;
}
