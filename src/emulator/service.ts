import type { Processing } from './account-updater/processing.ts';
import type { RateLimits } from './limits.ts';
import type { SandboxOptions } from './options.ts';
import type { SandboxState } from './state/state.ts';
import type { SetOutcome } from './state/world.ts';
import type { StoreFiles } from './store/files.ts';

/** The running sandbox of one tenant, for its routes. */
export interface Service {
  /** The number of the tenant, counted from 1. */
  readonly tenant: number;
  /** The options with which this process was started. */
  readonly options: SandboxOptions;
  readonly state: SandboxState;
  readonly files: StoreFiles;
  readonly processing: Processing;
  readonly limits: RateLimits | undefined;
  /** The outcomes of authentications that this process was started with. */
  readonly outcomes: readonly SetOutcome[];
  /** Returns scheme, host and port of this process's server. */
  origin(): string;
}
