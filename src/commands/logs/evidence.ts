import { type Context, defineCommand } from '../../app/command.ts';
import { flag, requireFile, resolvePath, text, value } from '../../app/parameter.ts';
import { isDrawn, recordPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import { writeWhole } from '../../files/draft.ts';
import type { Finding } from '../../logs/archive/chain.ts';
import type { ArchiveStore } from '../../logs/archive/store.ts';
import type { Verified } from '../../logs/archive/verify.ts';
import { countText } from '../../output/time.ts';
import type { View } from '../../output/view.ts';
import {
  archiveLocation,
  gapSentence,
  openArchive,
  sentencesText,
  withByteProgress,
  withProgress,
} from './archives.ts';
import { INTERVAL_PARAMETERS, intervalOf } from './entries.ts';

const parameters = {
  dir: archiveLocation,
  ...INTERVAL_PARAMETERS,
  out: value('--out <file>', 'the bundle to write, such as evidence.tar.gz', text),
  force: flag('--force', 'replace a file that exists'),
} as const;

const TEXTS = ['file', 'file_sha256', 'from', 'to', 'sha256'] as const;
const COUNTS = ['bytes', 'records', 'segments', 'entries', 'gaps', 'problems', 'record'] as const;

/** What a bundle holds: of days (UTC), with the newest record and its hash, which the script of the bundle takes. */
type Evidence = Readonly<Record<(typeof TEXTS)[number], string> & Record<(typeof COUNTS)[number], number>>;

const evidenceView: View<Evidence> = {
  name: 'evidence bundle',
  fields: [...TEXTS, ...COUNTS],
  columns: [
    ...TEXTS.map((path) => ({ path, kind: 'id' }) as const),
    ...COUNTS.map((path) => ({ path, kind: 'number' }) as const),
  ],
};

export const evidence = defineCommand({
  description:
    'Verifies the archive, then writes what an auditor needs into one file, readable by its owner only: the entries of whole days (UTC) as the service sent them, the chain from its first record, what was found, covered and missing, and a short script that checks all of it with sha256sum and gzip, without svc. Give the hash that is printed to the auditor separately: without it, a bundle proves only itself. The same archive and days give the same bytes.',
  examples: [['svc logs evidence audit --since 2026-01-01 --until 2026-04-01 --out evidence.tar.gz', 'a quarter']],
  exitCodes: [5, 12],
  fields: evidenceView.fields,
  parameters,
  async run(context, input) {
    if (input.out === undefined || input.out === '-')
      throw new SvcError('usage', 'name the bundle to write: --out takes a file', {
        hint: 'Such as --out evidence.tar.gz.',
      });
    const target = resolvePath(context, input.out);
    await requireFile(target, input.force);
    const print = await recordPrinter(context, evidenceView);
    const bounds = intervalOf(input, context.clock.now());
    const store = await openArchive(context, input.dir);
    const { result, problems } = await verified(context, store);
    const { planEvidence, writeEvidence } = await import('../../logs/archive/evidence.ts');
    const plan = await planEvidence(store, bounds);
    const { from, to, records, segments, last } = plan;
    const bundle = await writeWhole(target, input.force, (draft) =>
      withByteProgress(context, { dir: input.dir, label: 'evidence', segments }, (onBytes) =>
        writeEvidence(store, plan, draft, { verified: result, problems, signal: context.signal, onBytes }),
      ),
    );
    const made = {
      file: input.out,
      bytes: bundle.bytes,
      file_sha256: bundle.sha256,
      from,
      to,
      records: records.length,
      segments: segments.length,
      entries: plan.entries,
      gaps: result.coverage.gaps().length,
      problems: problems.length,
      record: last.record.sequence,
      sha256: last.sha256,
    };
    if (isDrawn(context)) await context.out.write(summaryText(context, made, result));
    else await print(made);
    context.notices.warn(
      'the bundle holds the entries as the service sent them, card numbers included: keep it as safe as the archive',
    );
    if (made.problems > 0)
      throw new SvcError('checksum_mismatch', `the archive has ${countText(made.problems, 'problem')}`, {
        hint: 'The bundle was written, and names them; none is in the files of its own days.',
        next: ['logs', 'verify', input.dir],
      });
  },
});

async function verified(context: Context, store: ArchiveStore): Promise<{ result: Verified; problems: Finding[] }> {
  const { Verification } = await import('../../logs/archive/verify.ts');
  return withProgress(context, 'verify', async (onProgress) => {
    const verification = new Verification(store, { signal: context.signal, onProgress });
    const problems: Finding[] = [];
    for await (const found of verification.findings()) problems.push(...found);
    return { result: verification.result(), problems };
  });
}

function summaryText(context: Context, made: Evidence, { coverage }: Verified): string {
  const { file, from, to, records, segments, entries, sha256 } = made;
  return sentencesText(context, [
    ['good', `written: ${file}`],
    `${countText(entries, 'entry')} of ${from} to ${to} in ${countText(segments, 'segment')}, and all ${countText(records, 'record')} of the chain`,
    ...coverage.gaps().map((gap) => gapSentence(context, gap)),
    `newest hash, for the auditor by another way: ${sha256}`,
    `the auditor checks it with: tar -xzf ${file} && sh evidence/verify.sh <newest hash>`,
  ]);
}
