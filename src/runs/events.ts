import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import type { WaitEvent } from './wait.ts';

/** The steps of a job's life on this side. */
export type RunEvent =
  | { readonly kind: 'created'; readonly job: AccountUpdaterJob }
  | { readonly kind: 'uploading'; readonly done: number; readonly total: number }
  | { readonly kind: 'unclear'; readonly job: string; readonly reason: string }
  | { readonly kind: 'replaced'; readonly gone: string; readonly job: string }
  | { readonly kind: 'uploaded'; readonly job: string }
  | ({ readonly job: string } & WaitEvent)
  | { readonly kind: 'completed'; readonly job: string }
  | { readonly kind: 'downloading'; readonly done: number; readonly total: number | undefined }
  | { readonly kind: 'downloaded'; readonly path: string };

/** What every step of a run takes beside its client, whose clock and signal it uses. */
export interface RunOptions {
  /** Told of each step as soon as it is taken: an id that was not told is lost when the process dies. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  readonly random?: (() => number) | undefined;
}
