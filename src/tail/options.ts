import type { Log } from '../schema/log.ts';
import type { Standing } from './state.ts';

/** How to follow. */
export interface TailOptions {
  /** Where to begin: a time, or the standing of an earlier tail. */
  readonly begin: Standing;
  /** How late an entry may come, in milliseconds. */
  readonly overlapMs: number;
  /** How long the service keeps entries, in milliseconds. */
  readonly retentionMs: number;
  /** Always this pause between two looks; by default 1 s to 15 s. */
  readonly intervalMs?: number | undefined;
  /** End after this time. */
  readonly forMs?: number | undefined;
  /** End when nothing new came for this long. */
  readonly idleMs?: number | undefined;
  /** End as soon as the present is reached; an outage ends it too, with its error. */
  readonly untilPresent?: boolean | undefined;
  /** End after this many entries. */
  readonly most?: number | undefined;
  /** At most this many entries in a batch; by default all that a look found. */
  readonly atOnce?: number | undefined;
  /** Which entries are passed on; the others are only counted. */
  readonly keep?: ((log: Log) => boolean) | undefined;
  /**
   * Told what identifies an entry before it is passed on: of equal entries each has an id of its own, and an entry that
   * comes again after a restart has the same one.
   */
  readonly onPass?: ((log: Log, id: string) => void) | undefined;
  readonly onEvent?: ((event: TailEvent) => void) | undefined;
  /** Called with a standing once the reader has taken all entries up to it. */
  readonly onStanding?: ((standing: Standing) => void) | undefined;
}

/** What happens beside the entries. */
export type TailEvent =
  /** Nothing came of a look; said once for each outage. */
  | { readonly kind: 'cut off'; readonly reason: string; readonly nextMs: number }
  /** The first look since an outage that reached the present. */
  | { readonly kind: 'caught up'; readonly afterMs: number; readonly entries: number }
  /** A look at the present, and the pause before the next one. */
  | { readonly kind: 'looked'; readonly nextMs: number }
  /** A stretch of the past was read. `readTo` and `now` by the service's clock. */
  | { readonly kind: 'catching up'; readonly readTo: number; readonly now: number }
  /** The service may no longer have had what was created in this stretch of time. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number };
