import * as z from 'zod/mini';

/** The folder of the index, which could be recreated from the segments. */
export const INDEX = '_index/';

/** An index file in a record. The head at the end of the file has the hashes of everything before it. */
export const indexRefSchema = z.looseObject({
  path: z.string().check(z.regex(/^_index\/date=(\d{4}-\d\d-\d\d|unknown)\/\d{8,}-\d{8,}-[0-9a-f]{12}\.idx$/)),
  /** The numbers of the first and last record whose segments the file covers. */
  from: z.int().check(z.nonnegative()),
  to: z.int().check(z.nonnegative()),
  bytes: z.int().check(z.positive()),
  head_bytes: z.int().check(z.positive()),
  head_sha256: z.string(),
});

export type IndexRef = z.infer<typeof indexRefSchema>;

/** Adds the index files of a later record, which replace those that they cover. */
export function withIndex(refs: readonly IndexRef[], added: readonly IndexRef[] = []): IndexRef[] {
  return [...refs.filter((ref) => !added.some((one) => isCovered(ref, one))), ...added];
}

export function isCovered(ref: Pick<IndexRef, 'from' | 'to'>, other: Pick<IndexRef, 'from' | 'to'>): boolean {
  return ref.from >= other.from && ref.to <= other.to;
}

/** Returns the number of the only record that an index file covers; NaN for merged and other files. */
export function indexNumber(path: string): number {
  const [, from, to] = /\/(\d+)-(\d+)-[^/]+$/.exec(path) ?? [];
  return from !== undefined && from === to ? Number(from) : Number.NaN;
}
