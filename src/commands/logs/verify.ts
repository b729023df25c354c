import { type Context, defineCommand } from '../../app/command.ts';
import { flag, sha256, value } from '../../app/parameter.ts';
import { isForPeople, listPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import type { CoverageRange } from '../../logs/archive/coverage.ts';
import type { Verification, Verified } from '../../logs/archive/verify.ts';
import { cleanText, wrapWords } from '../../output/text.ts';
import { formatBytes, isoTime } from '../../output/time.ts';
import { MARKS, type View } from '../../output/view.ts';
import { ByteProgress } from '../au/options.ts';
import { archiveLocation, countText, openArchive, rangeText } from './archive-location.ts';

/** How the rows are shown; a table shows only those of findings. */
const archiveCheckView: View<ArchiveCheckRow> = {
  name: 'row of a verification',
  fields: [
    'kind',
    'problem',
    'path',
    'message',
    'from',
    'to',
    'records',
    'segments',
    'entries',
    'bytes',
    'sha256',
  ],
  columns: [
    { path: 'problem', kind: 'text', paint: () => 'bad' },
    { path: 'path', kind: 'id' },
    { path: 'message', kind: 'text' },
  ],
};

/** `svc logs verify` */
export const verify = defineCommand({
  description:
    'Reads every byte. Prints a row for each problem, then the time ranges that are covered and those that are not, and last the archive with its counts and the hash of its newest record. Keep that hash somewhere else: given with --expect, it proves later that nothing before it was removed or rewritten.',
  examples: [
    ['svc logs verify ./audit', 'problems, coverage, gaps, counts and newest hash'],
    ['svc logs verify ./audit --expect "$(cat audit.sha256)"', 'check against a hash saved earlier'],
    ['svc logs verify ./audit --strict --quiet -o jsonl', 'for cron: exit code 12, or 14 with gaps'],
  ],
  exitCodes: [5, 12, 14],
  fields: archiveCheckView.fields,
  parameters: {
    dir: archiveLocation,
    expect: value('--expect <sha256>', 'the chain must hold the record with this hash', sha256),
    strict: flag('--strict', 'end with exit code 14 when entries may be missing'),
  },
  async run(context, { dir, expect, strict }) {
    const isPicture = isForPeople(context) && context.globals.fields === undefined;
    const print = await listPrinter(context, archiveCheckView);
    const { Verification: Verifying } = await import('../../logs/archive/verify.ts');
    const store = await openArchive(context, dir);
    const progress = new ByteProgress(context, 'verify');
    const verification = new Verifying(store, {
      expect,
      signal: context.signal,
      onProgress: (done, total) => progress.update(done, total),
    });
    const tally: Tally = { findings: 0 };
    try {
      await print(rowsOf(verification, tally, !isPicture));
      progress.done();
    } finally {
      progress.stop();
    }
    if (isPicture) await context.out.write(summaryText(context, verification.result(), tally.findings));
    judge(verification.result(), tally, { name: store.name, strict });
  },
});

interface Tally {
  findings: number;
}

/** A row a finding as they come, then what there is in all. */
async function* rowsOf(
  verification: Verification,
  tally: Tally,
  withSummary: boolean,
): AsyncGenerator<readonly ArchiveCheckRow[]> {
  for await (const found of verification.findings()) {
    tally.findings += found.length;
    yield found.map(({ message, ...more }) => checkRow('finding', message, more));
  }
  if (withSummary) yield summaryRows(verification.result());
}

/** @throws SvcError `checksum_mismatch` where anything is wrong, `entries_missing` with gaps where that was asked for */
function judge(
  { coverage }: Verified,
  { findings }: Tally,
  { name, strict }: { readonly name: string; readonly strict: boolean },
): void {
  if (findings > 0) {
    throw new SvcError(
      'checksum_mismatch',
      `the archive at ${name} is damaged: ${countText(findings, 'problem')}`,
      {
        hint: 'Restore these files from a backup; treat what cannot be restored as lost or tampered with.',
        facts: { findings },
      },
    );
  }
  const gaps = coverage.gaps();
  if (!strict || gaps.length === 0) return;
  throw new SvcError('entries_missing', `the archive at ${name} has ${countText(gaps.length, 'gap')}`, {
    hint: "What is archived is intact. Run 'svc logs archive' at least once within the retention of the logs.",
    facts: { gaps: gaps.map(stretchRow) },
  });
}

/** Rows for what is covered and what is not, and for the archive as a whole. */
function summaryRows({
  coverage,
  records,
  segments,
  entries,
  bytes,
  sha256: newest,
}: Verified): ArchiveCheckRow[] {
  const covered = coverage.covered();
  return [
    ...covered.map((one) => checkRow('covered', 'nothing is missing here', stretchRow(one))),
    ...coverage.gaps().map((one) => checkRow('gap', 'entries may be missing here', stretchRow(one))),
    checkRow('archive', `${entries} entries in ${segments} segments`, {
      from: iso(covered[0]?.from),
      to: iso(covered.at(-1)?.to),
      records,
      segments,
      entries,
      bytes,
      sha256: newest ?? null,
    }),
  ];
}

/** The same in words, with the verdict. */
function summaryText(context: Context, found: Verified, findings: number): string {
  const { begin, coverage, entries, shared, segments, bytes, sha256: newest } = found;
  const { palette, out, marks } = context;
  const columns = out.isTerminal ? out.width : Infinity;
  const wrap = (text: string): string[] => wrapWords(text, columns);
  const verdict =
    findings === 0
      ? wrap(
          `${marks ? MARKS.good : ''}archive intact: nothing changed, removed, reordered, truncated or added`,
        ).map(palette.good)
      : wrap(`${marks ? MARKS.bad : ''}archive damaged: ${countText(findings, 'problem')}`).map(palette.bad);
  const lines = [
    ...(findings > 0 ? [''] : []),
    ...(begin ? wrap(`tenant ${cleanText(begin.tenant_id)} of ${cleanText(begin.service)}`) : []),
    ...wrap(`${countText(entries, 'entry')} in ${countText(segments, 'segment')}, ${formatBytes(bytes)}`),
    ...(shared === 0 ? [] : wrap(`${countText(shared, 'entry')} of other tenants, which share them`)),
    ...coverage.covered().flatMap((one) => wrap(`covered: ${rangeText(context, one)}`)),
    ...coverage
      .gaps()
      .flatMap((one) => wrap(`gap, entries may be missing: ${rangeText(context, one)}`).map(palette.warn)),
    ...wrap(`newest hash: ${newest ?? 'none'}`),
    ...verdict,
  ];
  return `${lines.join('\n')}\n`;
}

/** The two ends of a stretch as a row has them. */
function stretchRow({ from, to }: CoverageRange): { from: string | null; to: string | null } {
  return { from: iso(from), to: iso(to) };
}

function iso(time: number | undefined): string | null {
  return time === undefined ? null : isoTime(time);
}

/**
 * A line of what `svc logs verify` finds: something wrong, a stretch of time that is covered or that is not, and in
 * the end the archive as a whole. Every row has the same members; those that do not apply are null.
 */
export interface ArchiveCheckRow {
  readonly kind: 'finding' | 'covered' | 'gap' | 'archive';
  readonly problem: string | null;
  readonly path: string | null;
  readonly message: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly records: number | null;
  readonly segments: number | null;
  readonly entries: number | null;
  readonly bytes: number | null;
  /** Of the newest record: it stands for all that was written. */
  readonly sha256: string | null;
}

/** A row with nothing but its kind and its words. */
function checkRow(
  kind: ArchiveCheckRow['kind'],
  message: string,
  more: Partial<ArchiveCheckRow> = {},
): ArchiveCheckRow {
  return {
    kind,
    problem: null,
    path: null,
    message,
    from: null,
    to: null,
    records: null,
    segments: null,
    entries: null,
    bytes: null,
    sha256: null,
    ...more,
  };
}
