import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { type Draft, type SealedFile, writeWhole } from '../../base/files/draft.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { requireFile, resolvePath } from '../../cli/app/files/typed-path.ts';
import { shellFor } from '../../cli/app/shell.ts';
import { flag, value, writing } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { isoTime } from '../../cli/output/time.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import type { View } from '../../cli/output/view.ts';
import type { Store } from '../../client/store/store.ts';
import type { MissingText } from '../archive/archive-text.ts';
import { archiveLocation, openArchive, withByteProgress, withProgress } from '../archive/open-archive.ts';
import type { Finding } from '../archive/records/chain.ts';
import { isoMissing, isoRange } from '../archive/records/coverage.ts';
import { INTERVAL_PARAMETERS, MONTH_PARAMETER, intervalOf } from '../options.ts';
import type { EvidenceFacts } from '../prove/evidence-facts.ts';
import type { EvidencePlan, WrittenEvidence } from '../prove/evidence.ts';
import type { Verified } from '../prove/verify.ts';
import { sentencesText } from '../sentences.ts';

const parameters = {
  dir: archiveLocation,
  ...INTERVAL_PARAMETERS,
  month: MONTH_PARAMETER,
  out: writing(
    value('--out <file>', 'the bundle to write (default: evidence.tar.gz, or evidence-2026-11.tar.gz)', text),
  ),
  force: flag('--force', 'replace a file that exists'),
} as const;

const OBJECTS = ['requested', 'missing'] as const;
const TEXTS = ['file', 'file_sha256', 'from', 'to', 'sha256', 'sums_sha256'] as const;
const COUNTS = [
  'coverage',
  'bytes',
  'records',
  'segments',
  'entries',
  'card_numbers',
  'gaps',
  'days',
  'reviewed',
  'actors',
  'problems',
  'record',
] as const;

/**
 * The summary of a bundle. Days are UTC. `coverage` is the share of the requested time that is archived. The script in the bundle takes the hash of `SHA256SUMS`, which proves the whole
 * bundle, or the hash of the newest record.
 */
interface Evidence extends Readonly<
  Record<(typeof TEXTS)[number], string> & Record<Exclude<(typeof COUNTS)[number], 'actors'>, number>
> {
  /** The number of actors; null if there were too many to count each. */
  readonly actors: number | null;
  readonly requested: Readonly<Record<'from' | 'to', string>>;
  readonly missing: readonly MissingText[];
}

const evidenceView: View<Evidence> = {
  name: 'evidence bundle',
  fields: [...TEXTS, ...OBJECTS, ...COUNTS],
  columns: [
    ...TEXTS.map((path) => ({ path, kind: 'id' }) as const),
    ...COUNTS.map((path) => ({ path, kind: 'number' }) as const),
  ],
};

export const evidence = defineCommand({
  description:
    'Verifies the archive, then writes one file, readable by its owner only: the entries of whole days (UTC), the chain of records with the signed reviews, who did what, what was found and what is missing, a page that shows it, and a script that checks it with awk, sha256sum and gzip. Send the printed hash (sums_sha256) to the auditor separately: without it, a bundle proves only itself.',
  details:
    'The entries are those that the service sent, and the chain begins at its first record. coverage is the share of the requested time that is archived; a day that is not over counts until now. Applications have the names that are known on this machine. The same archive, names and days that are over give the same bytes.',
  examples: [
    ['svc logs evidence audit --month last', 'last month'],
    ['svc logs evidence audit --since 2026-01-01 --until 2026-04-01 --out quarter.tar.gz', 'a quarter'],
  ],
  exitCodes: [5, 12, [14, 'retention dropped all of these days']],
  fields: evidenceView.fields,
  parameters,
  async run(context, input) {
    const now = context.clock.now();
    const name = input.out ?? usualName(input.month?.(now).since);
    if (name === '-')
      throw new SvcError('usage', 'the bundle is a file: --out takes a name', {
        hint: 'Such as --out evidence.tar.gz.',
      });
    const target = resolvePath(context, name);
    const { requireOutside } = await import('../archive/place.ts');
    requireOutside(context, { option: '--out', typed: name });
    await requireFile(target, input.force);
    const print = await recordPrinter(context, evidenceView);
    const bounds = { ...intervalOf(input, now), now };
    const store = await openArchive(context, input.dir);
    const { result, problems } = await verified(context, store);
    const { planEvidence, writeEvidence } = await import('../prove/evidence.ts');
    const plan = await planEvidence(store, bounds);
    const { segments } = plan;
    const [{ accessCsv, evidenceFacts }, { evidencePage }, { accessWarnings }] = await Promise.all([
      import('../prove/evidence-facts.ts'),
      import('../prove/evidence-page.ts'),
      import('../report/access-report.ts'),
    ]);
    const facts = await evidenceFacts(context, { store, dir: input.dir }, plan, problems);
    const { out } = context;
    const texts = {
      'access.csv': out.redact(accessCsv(facts.access)),
      'report.html': out.redact(evidencePage(plan, facts)),
    };
    let written: WrittenEvidence = { sumsSha256: '', cardNumbers: 0 };
    const write = async (draft: Draft): Promise<void> => {
      written = await withByteProgress(context, { dir: input.dir, label: 'evidence', store, segments }, (onBytes) =>
        writeEvidence(store, plan, draft, { verified: result, problems, texts, signal: context.signal, onBytes }),
      );
    };
    const bundle = await writeWhole(target, input.force, write, { writer: context.system });
    const evidence = evidenceOf(name, { bundle, plan, facts, written });
    if (isDrawn(context)) await context.out.write(summaryText(context, evidence));
    else await print(evidence);
    const { reportCoverage } = await import('../archive/archive-text.ts');
    reportCoverage(context, plan.requested, evidence.missing);
    for (const words of accessWarnings(facts.access)) context.notices.warn(words);
    warnOfCardNumbers(context, evidence);
    if (evidence.problems > 0)
      throw new SvcError('checksum_mismatch', `the archive has ${countText(evidence.problems, 'problem')}`, {
        hint: 'The bundle was written, and names them; no file of its days has one.',
        next: ['logs', 'verify', input.dir],
      });
  },
});

function usualName(month: number | undefined): string {
  return month === undefined ? 'evidence.tar.gz' : `evidence-${isoTime(month).slice(0, 7)}.tar.gz`;
}

interface Written {
  readonly bundle: SealedFile;
  readonly plan: EvidencePlan;
  readonly facts: EvidenceFacts;
  readonly written: WrittenEvidence;
}

function evidenceOf(file: string, { bundle, plan, facts, written }: Written): Evidence {
  const { from, to, records, segments, entries, requested, last } = plan;
  const missing = requested.missing.map(isoMissing);
  const { access, days, dayCount, problems } = facts;
  return {
    file,
    bytes: bundle.bytes,
    file_sha256: bundle.sha256,
    from,
    to,
    requested: isoRange(requested),
    coverage: requested.share,
    missing,
    records: records.length,
    segments: segments.length,
    entries,
    card_numbers: written.cardNumbers,
    gaps: missing.filter(({ reason }) => reason === 'gap').length,
    days: dayCount,
    reviewed: days.filter(({ state }) => state === 'reviewed').length,
    actors: access.isFull ? null : access.rows.length,
    problems: problems.length,
    record: last.record.sequence,
    sha256: last.sha256,
    sums_sha256: written.sumsSha256,
  };
}

async function verified(context: Context, store: Store): Promise<{ result: Verified; problems: Finding[] }> {
  const { commitWait, nothingVerified, verifyArchive } = await import('../prove/verify.ts');
  return withProgress(context, 'verify', async (onProgress) => {
    const result = nothingVerified();
    const problems: Finding[] = [];
    const options = { signal: context.signal, onProgress, commitWait: commitWait(context, store) };
    const findings = verifyArchive(store, options, result);
    for await (const found of findings) for (const finding of found) problems.push(finding);
    return { result, problems };
  });
}

function warnOfCardNumbers({ notices }: Context, { entries, card_numbers: found }: Evidence): void {
  const all = countText(entries, 'entry');
  if (found === 0) return notices.note(`no card number was found in ${all}; keep the bundle as safe as the archive`);
  notices.warn(
    `what looks like a card number was found in ${formatNumber(found)} of ${all}: keep the bundle as safe as the archive`,
  );
}

function summaryText(context: Context, made: Evidence): string {
  const { file, from, to, records, segments, entries, days, reviewed, actors, sha256, sums_sha256: sums } = made;
  // tar takes what is before a colon for the name of another machine.
  const local = path.isAbsolute(file) || !/^[^/]*:/.test(file) ? file : `./${file}`;
  const actorText = actors === null ? 'too many actors to count each' : countText(actors, 'actor');
  return sentencesText(context, [
    ['good', `written: ${file}`],
    `${countText(entries, 'entry')} of ${from} to ${to} in ${countText(segments, 'segment')}, and all ${countText(records, 'record')} of the chain`,
    `${formatNumber(reviewed)} of ${countText(days, 'day')} reviewed; ${actorText}; report.html shows all of it`,
    `newest hash: ${sha256}`,
    `hash of the bundle (send it to the auditor separately, not with the bundle): ${sums}`,
    `the auditor checks everything in the bundle with: tar -xzf ${shellFor(context.system).word(local)} && sh evidence/verify.sh <hash of the bundle>`,
  ]);
}
