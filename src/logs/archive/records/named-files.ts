import type { Store, StoredFile } from '../../../client/store/store.ts';
import { type ArchiveRecord, MANIFEST, partNumber, type RecordContent, type SideFile, sideNumber } from './record.ts';

/** The prefix of all paths of segments. */
export const SEGMENTS = 'tenant=';

/** The part of a record that names files. */
type Naming = RecordContent & Pick<ArchiveRecord, 'position' | 'checkpoint'>;

/** The files that a record names, by kind. */
export interface NamedFiles {
  readonly segments: readonly { readonly path: string }[];
  /** The files beside the records. */
  readonly side: readonly SideFile[];
}

/** Returns every file that a record names. Whoever lists, checks or removes files of an archive asks this function. */
export function filesNamedBy(record: Naming): NamedFiles {
  const { passed } = record.position;
  const side = [Array.isArray(passed) ? undefined : passed, record.checkpoint].filter((file) => file !== undefined);
  if (record.kind !== 'segments') return { segments: [], side };
  return { segments: record.segments, side };
}

/** Returns the paths of all files that a record names. */
export function pathsNamedBy(record: Naming): string[] {
  const { segments, side } = filesNamedBy(record);
  return [...segments, ...side].map(({ path }) => path);
}

/**
 * Lists the files of the kinds that records name: segments, and files beside the records. With a day (UTC), segments only
 * from that day on.
 */
export async function* namedKinds(store: Store, day?: string): AsyncGenerator<StoredFile> {
  if (day === undefined) yield* store.list(SEGMENTS);
  else
    for (const name of await store.names())
      if (name.startsWith(SEGMENTS)) yield* store.list(name, `${name}date=${day}`);
  for await (const file of store.list(MANIFEST, `${MANIFEST}a`)) if (!Number.isNaN(sideNumber(file.path))) yield file;
}

/** Returns the number of the record that a file was written for; NaN for any other file. */
export function writtenFor(path: string): number {
  return path.startsWith(SEGMENTS) ? partNumber(path) : sideNumber(path);
}
