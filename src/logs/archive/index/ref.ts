import * as z from 'zod/mini';

/** The folder of all that can be recreated from the segments. */
export const INDEX = '_index/';

/** A file of an index as a record names it. Its head, at the end, has hashes of all that is before it. */
export const indexRefSchema = z.looseObject({
  path: z.string().check(z.regex(/^_index\/date=(\d{4}-\d\d-\d\d|unknown)\/\d{8,}-\d{8,}-[0-9a-f]{12}\.idx$/)),
  /** The first and the last of the records whose segments it covers. */
  from: z.int().check(z.nonnegative()),
  to: z.int().check(z.nonnegative()),
  bytes: z.int().check(z.positive()),
  head_bytes: z.int().check(z.positive()),
  head_sha256: z.string(),
});

export type IndexRef = z.infer<typeof indexRefSchema>;

/** The files of an index, after those of a later record. */
export function withIndex(refs: readonly IndexRef[], added: readonly IndexRef[] = []): IndexRef[] {
  return [...refs.filter((ref) => !added.some((one) => isCovered(ref, one))), ...added];
}

export function isCovered(ref: Pick<IndexRef, 'from' | 'to'>, other: Pick<IndexRef, 'from' | 'to'>): boolean {
  return ref.from >= other.from && ref.to <= other.to;
}

/** The number of the record whose segments alone a file of an index covers; NaN for merged and other files. */
export function indexNumber(path: string): number {
  const [, from, to] = /\/(\d+)-(\d+)-[^/]+$/.exec(path) ?? [];
  return from !== undefined && from === to ? Number(from) : Number.NaN;
}
