import * as z from 'zod/mini';

const count = z.int().check(z.nonnegative());
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const day = z.iso.date();

/** What a record says of a signed review. Members are in the order in which they are written. */
export const reviewSchema = z.looseObject({
  /** What was reviewed: the entries of a `day`, or the `access` of all actors. A newer svc may know more. */
  of: z.string().check(z.minLength(1)),
  /** The first and the last reviewed day, UTC. */
  from: day,
  to: day,
  /** The number of entries of these days that the archive had. */
  entries: count,
  /** The times of these days that the archive did not cover, and why. */
  missing: z.array(z.looseObject({ from: z.iso.datetime(), to: z.iso.datetime(), reason: z.string() })),
  /**
   * The number of findings of each kind: of deletions and changes the groups of entries, otherwise actors or operations. Null
   * for a kind that could not be judged.
   */
  findings: z.record(z.string(), z.nullable(count)),
  /** The number of log entries of each kind. Reviews of access do not have it. */
  findings_entries: z.optional(z.record(z.string(), z.nullable(count))),
  /** The hash of what was reviewed: the object that the command prints, without its location, counts, signatures and record. */
  sha256,
  /** The hash of the page that was written for the review, if there was one. */
  page_sha256: z.optional(sha256),
  /** The newest record when the review was made, and its hash: it names exactly what was reviewed. */
  record: count,
  record_sha256: sha256,
  /** Who signed: a typed name, or the user and host. */
  by: z.string().check(z.minLength(1)),
  /** The user and host that ran the command. */
  account: z.string().check(z.minLength(1)),
  note: z.optional(z.string()),
});

/** What a record says of a signed review. */
export type ReviewContent = z.infer<typeof reviewSchema>;
