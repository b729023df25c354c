import * as z from 'zod/mini';
import { refuseNewer, SvcError } from '../../base/errors.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { PART_STATES, partOf, type RecordedPart } from './part.ts';
import type { RunRecord } from './record.ts';

/** Parses the text of a record. @throws SvcError `config` for a damaged record or one of a newer version */
export function parseRecord(text: string, file: string): RunRecord {
  const value = parsedJson(text);
  refuseNewer(value, VERSION, file);
  const result = recordSchema.safeParse(value);
  if (result.success) {
    // The schema does not restrict the names of proofs, because other versions may add some.
    const record = result.data as Omit<RunRecord, 'parts' | 'version'> & { readonly parts: readonly RecordedPart[] };
    return { ...record, version: VERSION, parts: record.parts.map(partOf) };
  }
  throw new SvcError('config', `${file} is damaged: ${problemOf(result.error)}`, {
    hint: 'It was left unchanged. The jobs themselves are safe, and their results can be downloaded by job.',
    next: ['au', 'jobs'],
    facts: { file },
  });
}

/** The version of the record of a run. */
const VERSION = 2;

const string = z.string();
const optionalString = z.optional(string);
const count = z.int().check(z.nonnegative());
const optionalList = z.optional(z.array(string));
const resultsFile = { file: string, bytes: count, sha256: string };
const fileOfJob = { ...resultsFile, job: string };

const partSchema = z
  .looseObject({
    number: count,
    first_row: count,
    rows: count,
    rows_file: z.optional(string.check(z.regex(/^rows-\d{4}\.csv$/))),
    start: count,
    end: count,
    bytes: count,
    sha256: string,
    joined: z.optional(
      z.looseObject({
        rows: count,
        by: string,
        tokens_once: z.optional(z.literal(true)),
        delivered: z.optional(z.literal(true)),
        provable_at: optionalString,
        provable_until: optionalString,
      }),
    ),
    state: z.enum(PART_STATES),
    job: optionalString,
    creating_since: optionalString,
    sent: optionalString,
    sent_at: optionalString,
    expires_at: optionalString,
    missing_since: optionalString,
    unprovable: z.optional(z.literal(true)),
    done_at: optionalString,
    seen: optionalString,
    seen_at: optionalString,
    errors: optionalList,
    results: z.optional(z.looseObject({ ...fileOfJob, proof: string, compared: z.optional(z.boolean()) })),
    unproven: z.optional(z.looseObject(fileOfJob)),
    earlier_jobs: z.optional(z.array(z.looseObject({ job: string, sent_at: optionalString }))),
  })
  .check(
    z.refine(({ state, job }) => state === 'planned' || state === 'creating' || job !== undefined),
    z.refine(({ state, results }) => state !== 'downloaded' || results !== undefined),
  );

/** Unknown members of later versions are kept, so that a record can move between versions. */
const recordSchema = z.looseObject({
  version: z.literal(VERSION),
  id: string,
  created_at: string,
  profile: string,
  base_url: string,
  also_at: optionalList,
  tenant_id: optionalString,
  cycle: optionalString,
  input: z.looseObject({
    name: string,
    path: optionalString,
    rows: count,
    bytes: count,
    sha256: string,
    header_bytes: count,
    submitted_sha256: optionalString,
  }),
  out: optionalString,
  parts: z.array(partSchema).check(z.minLength(1)),
  writing: z.optional(z.looseObject(resultsFile)),
  results: z.optional(z.looseObject(resultsFile)),
  counts: z.optional(z.looseObject({ updated: count, warned: count, errors: count })),
  left_out_errors: z.optional(count),
  unrecorded_jobs: optionalList,
  no_unrecorded_jobs: z.optional(z.boolean()),
  other_jobs: optionalList,
  abandoned_at: optionalString,
  pruned_at: optionalString,
});

/** Names the first invalid member, but never its value. */
function problemOf({ issues: [issue] }: z.core.$ZodError): string {
  const [member, index] = issue?.path ?? [];
  if (member === undefined) return 'not a JSON object';
  if (member === 'parts' && typeof index === 'number') return `part ${index + 1} is malformed`;
  return `${String(member)} is missing or malformed`;
}
