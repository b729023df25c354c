import { isSvcError, type SvcError } from '../../base/errors.ts';
import type { Store } from '../../client/store/store.ts';
import { entryOf, Tally, type TailPosition } from '../entry.ts';
import { fromStored } from '../position.ts';
import { positionLost } from './archive-errors.ts';
import { isWithin, readManifest } from './manifest.ts';
import { readSegment } from './read-segment.ts';
import type { Link } from './records/record.ts';
import { readPosition } from './side-files.ts';

/** The position after a record, and why its file could not be read. */
export interface FoundPosition {
  readonly position: TailPosition;
  readonly damage: SvcError | undefined;
}

/**
 * Reads the position after the newest record. Where its file is missing or damaged, makes it again from the segments,
 * because new entries must be archived regardless, and no backup can have the file of the newest record.
 * @throws SvcError `checksum_mismatch` if segments with entries of it are missing or damaged, too
 */
export async function findPosition(store: Store, last: Link): Promise<FoundPosition> {
  try {
    return { position: await readPosition(store, last), damage: undefined };
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch')) throw error;
    return { position: await positionFromSegments(store, last), damage: positionLost(store.name, error) };
  }
}

async function positionFromSegments(store: Store, { record }: Link): Promise<TailPosition> {
  const position = fromStored({ ...record.position, passed: [] });
  const { settled } = position;
  const passed = new Tally();
  // All entries after `settled` that have been passed on are archived, and so are those without a readable time.
  for (const segment of (await readManifest(store)).segments) {
    if (segment.first !== null && !isWithin(segment, { since: settled })) continue;
    for await (const logs of readSegment(store, segment))
      for (const entry of logs.map(entryOf)) if (entry.at >= settled) passed.add(entry);
  }
  return { ...position, passed: passed.lines()() };
}
