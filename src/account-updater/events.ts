import { isSvcError, SvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import type { Flaw } from '../transfer/receive.ts';

/** What happens while a job or a run is waited for. */
export type WaitEvent =
  | {
      readonly kind: 'polled';
      readonly status: string;
      readonly waitedMs: number;
      readonly nextMs: number;
      /** The service's time, in epoch milliseconds. */
      readonly at: number;
      /** When a job that is waited for alone was created, in the service's words. */
      readonly since?: string | undefined;
    }
  | { readonly kind: 'unreachable'; readonly reason: string; readonly nextMs: number };

/** The steps of a job's life on this side. `job` is the id of a job, or of a run in which several are waited for. */
export type RunEvent =
  | { readonly kind: 'created'; readonly job: AccountUpdaterJob }
  | { readonly kind: 'uploading'; readonly job: string; readonly done: number; readonly total: number }
  | { readonly kind: 'unclear'; readonly job: string; readonly reason: string }
  | { readonly kind: 'replaced'; readonly gone: string; readonly job: string }
  | { readonly kind: 'uploaded'; readonly job: string }
  | ({ readonly job: string } & WaitEvent)
  | { readonly kind: 'completed'; readonly job: string }
  | {
      readonly kind: 'downloading';
      readonly job: string;
      readonly done: number;
      readonly total: number | undefined;
    }
  | { readonly kind: 'downloaded'; readonly job: string; readonly path: string }
  /** Results came that are not proven whole; they are downloaded again after a pause. */
  | {
      readonly kind: 'unproven';
      readonly job: string;
      readonly flaws: readonly Flaw[];
      readonly nextMs: number;
    }
  /** A pending job that an unclear creation may have left. */
  | { readonly kind: 'orphan'; readonly job: string }
  /** The service does not know a job that may have its file: it is polled on, since that proves nothing. */
  | { readonly kind: 'missing'; readonly job: string }
  /** The file of a part is proven never to have been processed, and its job is gone: it needs another one. */
  | { readonly kind: 'gone'; readonly job: string }
  /** A part's job ended without results. */
  | { readonly kind: 'failed'; readonly job: string; readonly errors: readonly string[] };

/** What every step of a run takes beside its client, whose clock and signal it uses. */
export interface RunOptions {
  /** Told of each step as soon as it is taken: an id that was not told is lost when the process dies. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  readonly random?: (() => number) | undefined;
}

/**
 * Turns the end of a wait that was cut short into one that says how to go on: an interrupt keeps its own exit
 * code, a `--timeout` that is over becomes `pending`.
 */
export async function withResumeHint<T>(command: string, job: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'timeout')) throw error;
    const code = error.code === 'timeout' ? 'pending' : error.code;
    throw new SvcError(code, `${error.message}; ${job} can be continued`, {
      hint: `Continue with '${command}'.`,
      facts: { job },
    });
  }
}
