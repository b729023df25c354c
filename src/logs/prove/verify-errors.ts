import { SvcError } from '../../base/errors.ts';
import { countText, utcTime } from '../../cli/output/time.ts';
import { type Coverage, isoRange, type MissingRange } from '../archive/records/coverage.ts';
import type { TimeRange } from '../entry.ts';

/** Why no record lists a file that belongs to the next record. */
export const LEFT_BY_RUN =
  'no record lists it: a killed run left it, or a run is writing it; the next run of svc logs archive adds what is in it';

/** The number of problems, the required ranges that are missing, and whether no segment was read. */
interface Problems {
  readonly manifestOnly: boolean;
  readonly findings: number;
  readonly missing: readonly MissingRange[];
}

/** The error for months that retention should not have dropped. */
export function monthsDropped(archive: string, { findings, missing }: Problems): SvcError {
  return new SvcError('checksum_mismatch', `months of the archive at ${archive} were dropped`, {
    hint: 'If this was your retention, give its --keep here too, such as --keep 13M. Otherwise restore the files from a backup.',
    facts: { findings, ...missingFacts(missing) },
  });
}

/** The error for files that only an unfinished run explains. */
export function filesLeft(archive: string, { findings, missing, manifestOnly }: Problems): SvcError {
  return new SvcError(
    'checksum_mismatch',
    `the archive at ${archive} has ${countText(findings, 'file')} that no record names`,
    {
      hint: `${manifestOnly ? 'No segment was read.' : 'Everything else is intact.'} A killed run left them, or a run is still writing; the next run adds what is in them. If none ran, the newest record was removed: compare with --expect.`,
      next: ['logs', 'archive', archive],
      facts: { findings, ...missingFacts(missing) },
    },
  );
}

/** The error for an archive with any other problem. */
export function archiveDamaged(archive: string, { findings, missing }: Problems): SvcError {
  return new SvcError('checksum_mismatch', `the archive at ${archive} is damaged: ${countText(findings, 'problem')}`, {
    hint: 'Restore these files from a backup, then verify again; treat what cannot be restored as lost or tampered with.',
    next: ['logs', 'verify', archive],
    facts: { findings, ...missingFacts(missing) },
  });
}

/** Returns what a verification without findings proves. */
function intactText({ manifestOnly }: Pick<Problems, 'manifestOnly'>): string {
  return manifestOnly ? 'The records are intact; no segment was read.' : 'What is archived is intact.';
}

/** The error for an archive that lacks a required range. */
export function rangesMissing(archive: string, first: MissingRange, problems: Problems): SvcError {
  const { missing } = problems;
  const others = missing.length - 1;
  const more = others === 0 ? '' : `, and ${countText(others, 'other range')}`;
  return new SvcError('entries_missing', `the archive at ${archive} ${lackText(first)}${more}`, {
    ...adviceOn(archive, problems, isAfterNow(first)),
    facts: missingFacts(missing),
  });
}

/** Returns what to do about ranges that are missing. Another run of the archive changes nothing about a wrong clock or a gap. */
function adviceOn(archive: string, problems: Problems, isClockWrong: boolean): { hint: string; next?: string[] } {
  const intact = intactText(problems);
  if (isClockWrong) return { hint: `${intact} Correct the clock that is wrong.`, next: ['doctor'] };
  if (problems.missing.some(({ reason }) => reason === 'not archived yet'))
    return {
      hint: `${intact} Find out why the archive was not updated, then update it; a gap stays one.`,
      next: ['logs', 'archive', archive],
    };
  return {
    hint: `${intact} No later run can add what is missing. Once that is explained, give --covers a later time.`,
  };
}

/** The error for an archive with gaps. */
export function hasGaps(archive: string, gaps: readonly TimeRange[], problems: Problems): SvcError {
  return new SvcError('entries_missing', `the archive at ${archive} has ${countText(gaps.length, 'gap')}`, {
    hint: `${intactText(problems)} Archive the logs at least once within their retention.`,
    facts: { gaps: gaps.map(isoRange) },
  });
}

function missingFacts(missing: readonly MissingRange[]): { readonly missing?: readonly object[] } {
  if (missing.length === 0) return {};
  return { missing: missing.map(({ reason, ...range }) => Object.assign(isoRange(range), { reason })) };
}

function isAfterNow({ reason }: MissingRange): boolean {
  return reason === "after this machine's time";
}

function lackText(range: MissingRange): string {
  const { from, to, reason } = range;
  return isAfterNow(range)
    ? `ends at ${utcTime(to)}, after this machine's time: check the clock`
    : `lacks ${utcTime(from)} to ${utcTime(to)} (${reason})`;
}

/** The time ranges that an archive has to cover. Times are epoch milliseconds. */
export interface Requirement {
  readonly now: number;
  /** The longest accepted time since the log was last read. */
  readonly maxAgeMs: number;
  /** The time since which everything must be archived. Without it, only the end of the archive is checked. */
  readonly since: number | undefined;
}

/** Returns the required ranges that an archive does not cover, in order. */
export function missingFrom(coverage: Coverage, { now, maxAgeMs, since }: Requirement): MissingRange[] {
  const end = coverage.covered().at(-1)?.to;
  // An end in the future shows a wrong clock. Until that time is reached, even a stopped archive would seem current.
  if (end !== undefined && end > now + maxAgeMs) return [{ from: now, to: end, reason: "after this machine's time" }];
  const oldest = Math.max(0, now - maxAgeMs);
  const isStale = end === undefined || end < oldest || (since !== undefined && end < since);
  // A run that ended after it recorded a gap has left that gap at the end, behind what is covered.
  const recordedTo = since === undefined ? end : coverage.whole()?.to;
  const required: TimeRange = { from: Math.max(0, since ?? end ?? oldest), to: isStale ? now : (recordedTo ?? now) };
  return coverage.missing(required);
}
