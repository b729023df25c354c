import type { Verification, Verified } from '../../archive/verify.ts';
import { archivePlace, openArchive } from '../../cli/archive-place.ts';
import { ByteProgress } from '../../cli/byte-progress.ts';
import { defineCommand } from '../../cli/command.ts';
import { flag, value } from '../../cli/parameter.ts';
import { isForPeople, listPrinter } from '../../cli/print.ts';
import { sha256 } from '../../cli/values.ts';
import { SvcError } from '../../errors.ts';
import { type ArchiveCheckRow, archiveCheckView, checkRow } from '../../views/archive-check.ts';
import { counted, stretchRow, summaryRows, summaryText } from './verify-summary.ts';

/** `svc logs verify` */
export const verify = defineCommand({
  name: 'verify',
  summary: 'prove that nothing in an archive was changed, removed, reordered, cut or added',
  description:
    'Reads every byte. One row a finding, then the stretches of time that are covered and those that are not, and last the archive with its counts and the hash of its newest record. Keep that hash somewhere else: given with --expect, it proves later that nothing before it was removed or written anew.',
  examples: [
    ['svc logs verify ./audit', 'findings, coverage, gaps, count and newest hash'],
    ['svc logs verify ./audit --expect "$(cat audit.sha256)"', 'does it still hold what was noted down?'],
    ['svc logs verify ./audit --strict --quiet -o jsonl', 'for cron: exit code 12, or 14 with gaps'],
  ],
  exitCodes: [5, 12, 14],
  fields: archiveCheckView.fields,
  parameters: {
    dir: archivePlace,
    expect: value('--expect <sha256>', 'the chain must hold the record with this hash', sha256),
    strict: flag('--strict', 'end with exit code 14 when entries may be missing'),
  },
  async run(context, { dir, expect, strict }) {
    const isPicture = isForPeople(context) && context.globals.fields === undefined;
    const print = await listPrinter(context, archiveCheckView);
    const { Verification: Verifying } = await import('../../archive/verify.ts');
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

/** @throws SvcError `altered` where anything is wrong, `entries_missing` with gaps where that was asked for */
function judge(
  { coverage }: Verified,
  { findings }: Tally,
  { name, strict }: { readonly name: string; readonly strict: boolean },
): void {
  if (findings > 0) {
    throw new SvcError(
      'altered',
      `the archive at ${name} is not as it was written: ${counted(findings, 'finding')}`,
      {
        hint: 'Bring the files named back from a copy; what cannot be brought back counts as lost or forged.',
        facts: { findings },
      },
    );
  }
  const gaps = coverage.gaps();
  if (!strict || gaps.length === 0) return;
  throw new SvcError('entries_missing', `the archive at ${name} has ${counted(gaps.length, 'gap')}`, {
    hint: "Nothing of what is there was changed. Run 'svc logs archive' at least once within the retention of the logs.",
    facts: { gaps: gaps.map(stretchRow) },
  });
}
