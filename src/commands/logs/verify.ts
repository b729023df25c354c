import { type Context, defineCommand } from '../../app/command.ts';
import { flag, sha256, value } from '../../app/parameter.ts';
import { isDrawn, listPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import { isoRange } from '../../logs/archive/coverage.ts';
import type { DropRecord } from '../../logs/archive/record.ts';
import type { Verification, Verified } from '../../logs/archive/verify.ts';
import { countText, formatBytes } from '../../output/time.ts';
import type { View } from '../../output/view.ts';
import {
  archiveLocation,
  gapSentence,
  openArchive,
  rangeText,
  type Sentence,
  sentencesText,
  sumOfMonths,
  withProgress,
} from './archives.ts';

const COUNTS = ['records', 'segments', 'entries', 'bytes'] as const;

/** How the rows are shown; a table shows only those of findings. */
const archiveCheckView: View<ArchiveCheckRow> = {
  name: 'row of a verification',
  fields: ['kind', 'problem', 'path', 'message', 'from', 'to', ...COUNTS, 'sha256'],
  columns: [
    { path: 'problem', kind: 'text', paint: () => 'bad' },
    { path: 'path', kind: 'id' },
    { path: 'message', kind: 'text' },
  ],
};

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
    expect: value('--expect <sha256>', 'the archive must contain the record with this hash', sha256),
    strict: flag('--strict', 'exit with 14 when entries may be missing'),
  },
  async run(context, { dir, expect, strict }) {
    const hasSentences = isDrawn(context);
    const print = await listPrinter(context, archiveCheckView);
    const { Verification: Verifying } = await import('../../logs/archive/verify.ts');
    const store = await openArchive(context, dir);
    const tally = { findings: 0 };
    const verification = await withProgress(context, 'verify', async (onProgress) => {
      const verifying = new Verifying(store, { expect, signal: context.signal, onProgress });
      await print(rowsOf(verifying, tally, !hasSentences));
      return verifying;
    });
    if (hasSentences) await context.out.write(summaryText(context, verification.result(), tally.findings));
    judge(verification.result(), tally.findings, store.name, strict);
  },
});

async function* rowsOf(verification: Verification, tally: { findings: number }, withSummary: boolean) {
  for await (const found of verification.findings()) {
    tally.findings += found.length;
    yield found.map(({ message, ...more }) => checkRow('finding', message, more));
  }
  if (withSummary) yield summaryRows(verification.result());
}

/** @throws SvcError `checksum_mismatch` where anything is wrong, `entries_missing` for gaps with --strict */
function judge({ coverage }: Verified, findings: number, name: string, strict: boolean): void {
  if (findings > 0)
    throw new SvcError('checksum_mismatch', `the archive at ${name} is damaged: ${countText(findings, 'problem')}`, {
      hint: 'Restore these files from a backup; treat what cannot be restored as lost or tampered with.',
      facts: { findings },
    });
  const gaps = coverage.gaps();
  if (!strict || gaps.length === 0) return;
  throw new SvcError('entries_missing', `the archive at ${name} has ${countText(gaps.length, 'gap')}`, {
    hint: 'What is archived is intact. Archive the logs at least once within their retention.',
    facts: { gaps: gaps.map(isoRange) },
  });
}

function summaryRows({ coverage, records, segments, entries, bytes, sha256: newest }: Verified): ArchiveCheckRow[] {
  const covered = coverage.covered().map(isoRange);
  const gaps = coverage.gaps().map(isoRange);
  return [
    ...coverage.drops.map(dropRow),
    ...covered.map((range) => checkRow('covered', 'nothing is missing here', range)),
    ...gaps.map((range) => checkRow('gap', 'entries may be missing here', range)),
    checkRow('archive', `${countText(entries, 'entry')} in ${countText(segments, 'segment')}`, {
      from: covered[0]?.from ?? null,
      to: covered.at(-1)?.to ?? null,
      records,
      segments,
      entries,
      bytes,
      sha256: newest ?? null,
    }),
  ];
}

function dropRow({ before, by, written_at: at, months }: DropRecord): ArchiveCheckRow {
  return checkRow('dropped', `dropped by retention, by ${by} at ${at}`, {
    from: `${months[0]?.month ?? before.slice(0, 7)}-01T00:00:00.000Z`,
    to: before,
    ...sumOfMonths(months),
  });
}

function summaryText(context: Context, found: Verified, findings: number): string {
  const { begin, coverage, entries, shared, segments, bytes, sha256: newest } = found;
  const verdict: Sentence =
    findings === 0
      ? ['good', 'archive intact: nothing changed, removed, reordered, truncated or added']
      : ['bad', `archive damaged: ${countText(findings, 'problem')}`];
  const text = sentencesText(context, [
    ...(begin ? [`tenant ${begin.tenant_id} of ${begin.service}`] : []),
    `${countText(entries, 'entry')} in ${countText(segments, 'segment')}, ${formatBytes(bytes)}`,
    ...(shared === 0 ? [] : [`${countText(shared, 'entry')} of other tenants, which share them`]),
    ...coverage.drops.map((drop) => {
      const { message, to, entries: count } = dropRow(drop);
      return `${message}: ${countText(count ?? 0, 'entry')} from before ${to ?? ''}`;
    }),
    ...coverage.covered().map((range) => `covered: ${rangeText(context, range)}`),
    ...coverage.gaps().map((gap) => gapSentence(context, gap)),
    `newest hash: ${newest ?? 'none'}`,
    verdict,
  ]);
  return findings > 0 ? `\n${text}` : text;
}

/** Every row has the same members; those that do not apply are null. The last row is the archive as a whole. */
export interface ArchiveCheckRow
  extends
    Readonly<Record<'problem' | 'path' | 'from' | 'to' | 'sha256', string | null>>,
    Readonly<Record<(typeof COUNTS)[number], number | null>> {
  readonly kind: 'finding' | 'dropped' | 'covered' | 'gap' | 'archive';
  readonly message: string;
}

const NO_VALUES = Object.fromEntries(archiveCheckView.fields.map((name) => [name, null]));

function checkRow(kind: ArchiveCheckRow['kind'], message: string, more: Partial<ArchiveCheckRow> = {}) {
  return { ...NO_VALUES, kind, message, ...more } as ArchiveCheckRow;
}
