import type { Stretch } from '../../archive/coverage.ts';
import type { Verified } from '../../archive/verify.ts';
import type { Context } from '../../cli/context.ts';
import { cleanText } from '../../render/clean.ts';
import { formatBytes, formatNumber } from '../../render/quantity.ts';
import { formatDuration, formatTime } from '../../render/time.ts';
import { wrapWords } from '../../render/wrap.ts';
import { type ArchiveCheckRow, checkRow } from '../../views/archive-check.ts';

/** Rows for what is covered and what is not, and for the archive as a whole. */
export function summaryRows({
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
export function summaryText(context: Context, found: Verified, findings: number): string {
  const { begin, coverage, entries, shared, segments, bytes, sha256: newest } = found;
  const { palette, out } = context;
  const columns = out.isTerminal ? out.width : Infinity;
  const wrap = (text: string): string[] => wrapWords(text, columns);
  const verdict =
    findings === 0
      ? wrap('as it was written: nothing was changed, removed, reordered, cut or added').map(palette.good)
      : wrap(`not as it was written: ${counted(findings, 'finding')}`).map(palette.bad);
  const lines = [
    ...(findings > 0 ? [''] : []),
    ...(begin ? wrap(`tenant ${cleanText(begin.tenant_id)} of ${cleanText(begin.service)}`) : []),
    ...wrap(`${counted(entries, 'entry')} in ${counted(segments, 'segment')}, ${formatBytes(bytes)}`),
    ...(shared === 0 ? [] : wrap(`${counted(shared, 'entry')} of other tenants, which share them`)),
    ...coverage.covered().flatMap((one) => wrap(`covered: ${shown(context, one)}`)),
    ...coverage
      .gaps()
      .flatMap((one) => wrap(`gap, entries may be missing: ${shown(context, one)}`).map(palette.warn)),
    ...wrap(`newest hash: ${newest ?? 'none'}`),
    ...verdict,
  ];
  return `${lines.join('\n')}\n`;
}

function shown({ settings, out, clock }: Context, one: Stretch): string {
  const style = settings.time.value ?? (out.isTerminal ? 'local' : 'utc');
  const [from, to] = [one.from, one.to].map((at) =>
    formatTime(new Date(at).toISOString(), style, clock.now()),
  );
  return `${from ?? ''} to ${to ?? ''} (${formatDuration(one.to - one.from)})`;
}

/** A number with its noun. */
export function counted(count: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${formatNumber(count)} ${count === 1 ? noun : plural}`;
}

/** The two ends of a stretch as a row has them. */
export function stretchRow({ from, to }: Stretch): { from: string | null; to: string | null } {
  return { from: iso(from), to: iso(to) };
}

function iso(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
