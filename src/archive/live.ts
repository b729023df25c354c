import { parseTime } from '../render/time.ts';
import type { Log } from '../schema/log.ts';
import { Tail } from '../tail/follow.ts';
import type { TailEvent } from '../tail/options.ts';
import type { LogSource } from '../tail/source.ts';
import type { Standing } from '../tail/state.ts';
import type { Bounds } from './manifest.ts';
import type { Lane, Timed } from './merge.ts';

/** What is read of the service behind the end of an archive. */
export interface LiveOptions extends Bounds {
  /** How late an entry may come, in milliseconds. */
  readonly overlapMs: number;
  /** How long the service keeps entries, in milliseconds. */
  readonly retentionMs: number;
  readonly matches: (log: Log) => boolean;
  readonly onEvent?: ((event: TailEvent) => void) | undefined;
}

/**
 * What the service has and the archive does not, up to the present, in order of time: read as the archive itself
 * would go on, from where it stands, so that nothing is lost or doubled at the seam. What can still come late is held
 * back until it is known what comes before it.
 */
export function liveLane(source: LogSource, standing: Standing, options: LiveOptions): Lane {
  return { first: standing.settled, read: () => read(source, standing, options) };
}

async function* read(
  source: LogSource,
  standing: Standing,
  { since = -Infinity, until = Infinity, matches, ...options }: LiveOptions,
): AsyncGenerator<readonly Timed[]> {
  if (until <= standing.settled) return;
  const isTimed = since !== -Infinity || until !== Infinity;
  const isWanted = ({ at }: Timed): boolean => (at === Infinity ? !isTimed : at >= since && at < until);
  const tail = new Tail(source, { ...options, begin: standing, untilPresent: true, keep: matches });
  let held: Timed[] = [];
  for await (const logs of tail.batches()) {
    held = [...held, ...logs.map(timed)].toSorted(byTime);
    const { settled } = tail.standing();
    const ready = held.filter(({ at }) => at < settled);
    held = held.slice(ready.length);
    const wanted = ready.filter(isWanted);
    if (wanted.length > 0) yield wanted;
    if (settled >= until) return;
  }
  const wanted = held.filter(isWanted);
  if (wanted.length > 0) yield wanted;
}

function timed(log: Log): Timed {
  return { at: parseTime(log.created_at) ?? Infinity, log };
}

function byTime(one: Timed, other: Timed): number {
  return one.at === other.at ? 0 : one.at - other.at;
}
