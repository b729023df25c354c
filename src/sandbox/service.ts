import type { Processing } from './account-updater/processing.ts';
import type { ObjectFiles } from './buckets/objects.ts';
import type { RateLimits } from './limits.ts';
import type { SandboxState } from './state/state.ts';
import type { StoreFiles } from './store/files.ts';

/** How fast jobs go, in milliseconds from the upload: when processing begins, and when the result is there. */
export interface JobSpeed {
  readonly pickup: number;
  readonly processing: number;
}

/** What the routes of one running sandbox work with. */
export interface Service {
  readonly state: SandboxState;
  readonly files: StoreFiles;
  /** What the buckets hold. */
  readonly objects: ObjectFiles;
  readonly processing: Processing;
  /** Absent where no limits hold. */
  readonly limits: RateLimits | undefined;
  readonly speed: JobSpeed;
  /** Scheme, host and port that this process serves. */
  origin(): string;
}
