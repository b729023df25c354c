import { SvcError } from '../../base/errors.ts';
import { countText, formatDuration } from '../../cli/output/time.ts';
import type { LostFiles } from './lost-files.ts';
import type { UncoveredTime } from './report-gaps.ts';

/** The error for times whose entries the service no longer had. */
export function entriesMissing(gaps: number): SvcError {
  return new SvcError('entries_missing', 'entries may be missing: the service no longer had them', {
    hint: 'The gaps are recorded in the archive. Run the command at least once within the retention of the logs.',
    facts: { gaps },
  });
}

/** Why `--keep` dropped nothing. */
export function clocksApart(apartMs: number): string {
  return `--keep dropped nothing: the clocks of this machine and of the service are ${formatDuration(apartMs)} apart`;
}

/** The error for a retention that could not tell which months are old. */
export function nothingDropped(apartMs: number): SvcError {
  return new SvcError('entries_missing', clocksApart(apartMs), {
    hint: 'What is new was archived. Correct the clock that is wrong; the next run drops the old months.',
    next: ['doctor'],
  });
}

/** The error for archived card numbers. The service deletes its logs after a day, so an entry left out would be lost. */
export function cardNumbersArchived(archive: string, count: number): SvcError {
  const were = count === 1 ? 'was archived as the service sent it' : 'were archived as the service sent them';
  return new SvcError('refused_input', `${countText(count, 'entry')} with what looks like a card number ${were}`, {
    hint: 'Nothing was left out. Find the application that writes them, and protect the archive as a store of card numbers. Which entries and members:',
    next: ['logs', 'search', archive, '--card-numbers'],
    facts: { card_numbers: count },
  });
}

/** The error for a requested time that an archive does not cover. */
export function notCovered(archive: string, uncovered: readonly UncoveredTime[]): SvcError {
  const warnings = uncovered.map(({ warning }) => warning);
  return new SvcError('entries_missing', `not all of the requested time is archived: ${warnings[0] ?? ''}`, {
    ...uncoveredAdvice(
      archive,
      uncovered.some(({ canBeAdded }) => canBeAdded),
    ),
    facts: { warnings },
  });
}

/** The error for an archive with a file that was written for a later record than the next one. */
export function recordsMissing(archive: string, record: string, file: string): SvcError {
  return new SvcError(
    'checksum_mismatch',
    `records of ${archive} are missing, from ${record} on: ${file} is of a later one`,
    {
      hint: 'Nothing was written. Restore the records from a backup, and archive to another directory until then, because the service forgets its logs. Where no backup has the records, move the files that verify names away, and keep them: the next run then goes on.',
      next: ['logs', 'verify', archive],
      facts: { path: record },
    },
  );
}

/** The error for a file of the position after the newest record that is missing or damaged. */
export function positionLost(archive: string, error: SvcError): SvcError {
  return error.with({
    hint: 'What is new was archived, and nothing is lost: the position was found again by the segments. verify names the file until another run has ended.',
    next: ['logs', 'verify', archive],
  });
}

/** The error for a segment that no record names, and that is not what its name says. */
export function notAsNamed(archive: string, path: string): SvcError {
  return new SvcError('checksum_mismatch', `${path} in ${archive} is not the file that its name says`, {
    hint: 'No record names it, and it was left where it is. Move it away.',
    next: ['logs', 'verify', archive],
    facts: { path },
  });
}

/** Returns what to do about a time that an archive does not cover. */
export function uncoveredAdvice(archive: string, canBeAdded: boolean): { hint: string; next: readonly string[] } {
  if (canBeAdded) return { hint: 'Update the archive; a gap stays one.', next: ['logs', 'archive', archive] };
  return {
    hint: 'Another run of the archive cannot add this time. Choose another one; what the archive covers:',
    next: ['logs', 'verify', archive, '--manifest-only'],
  };
}

/** The error for a file that retention dropped after the command had read the manifest. */
export function droppedMeanwhile(archive: string): SvcError {
  return new SvcError('entries_missing', `${archive}: retention dropped months while they were read`, {
    hint: 'Run the command again: it reads what is left.',
    retryable: true,
  });
}

const MAX_NAMED = 10;

/** The error for files of dropped months that cannot be removed, with the reason of the first. */
export function filesKept(kept: ReadonlyMap<string, SvcError>): SvcError {
  const [reason] = kept.values();
  if (reason === undefined) throw new SvcError('bug', 'all files were removed');
  const message = `${countText(kept.size, 'file')} of dropped months ${kept.size === 1 ? 'was' : 'were'} not removed`;
  return reason.with({
    message: `${message}: ${reason.message}`,
    hint: `Their entries are recorded as dropped, so no command reads them. ${reason.hint ?? ''} The next run with --keep removes them.`,
    facts: { kept_files: [...kept.keys()].slice(0, MAX_NAMED) },
  });
}

/** The error of a run whose retention failed. */
export function retentionFailed(archive: string, failure: SvcError): SvcError {
  const hint = `What is new was archived. ${failure.hint ?? ''}`.trimEnd();
  return failure.with({ hint, next: ['logs', 'verify', archive] });
}

/** The error for recorded files that are missing or have another size. */
export function filesLost(archive: string, lost: LostFiles): SvcError {
  const { missing, changed } = lost;
  return new SvcError('checksum_mismatch', `${archive}: ${lostText(lost)}`, {
    hint: 'What is new was archived. Restore the files from a backup; other files may be damaged, too.',
    next: ['logs', 'verify', archive],
    facts: { missing_files: missing.slice(0, MAX_NAMED), changed_files: changed.slice(0, MAX_NAMED) },
  });
}

/** Returns how many files are lost, and the first of them. */
export function lostText({ missing, changed }: LostFiles): string {
  const path = missing[0] ?? changed[0];
  if (path === undefined) return 'all files of the archive are there';
  const parts = [
    ...(missing.length === 0 ? [] : [`${countText(missing.length, 'file')} ${beVerb(missing)} missing`]),
    ...(changed.length === 0 ? [] : [`${countText(changed.length, 'file')} ${beVerb(changed)} changed`]),
  ];
  return `${parts.join(', ')}: ${path}${missing.length + changed.length > 1 ? ' …' : ''}`;
}

function beVerb(files: readonly string[]): string {
  return files.length === 1 ? 'is' : 'are';
}
