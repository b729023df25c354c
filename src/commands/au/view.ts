import type { RequestFileCheck } from '../../account-updater/request-file.ts';
import { drawBar } from '../../output/bars.ts';
import { hangingIndent, wrapWords } from '../../output/text.ts';
import { formatNumber } from '../../output/time.ts';
import type { Palette, Tone, View } from '../../output/view.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';

/** How Account Updater jobs are shown. Both addresses are secrets. */
export const jobView: View<AccountUpdaterJob> = {
  name: 'job',
  fields: [
    'id',
    'tenant_id',
    'status',
    'created_by',
    'created_at',
    'expires_at',
    'upload_url',
    'errors',
    'download_url',
  ],
  columns: [
    { path: 'id', kind: 'id' },
    { path: 'status', kind: 'status', paint: statusTone },
    { path: 'created_at', kind: 'time', priority: 3 },
    { path: 'expires_at', kind: 'time', priority: 1 },
    { path: 'errors', kind: 'text', priority: 2 },
  ],
  secret: ['upload_url', 'download_url'],
};

function statusTone(status: unknown): Tone | undefined {
  if (status === 'completed') return 'good';
  if (status === 'failed') return 'bad';
  return status === 'pending' ? 'quiet' : undefined;
}

/** The status of a run, in the same words wherever one is shown; `unknown` where the service may have a file of it. */
export type ShownStatus = 'pending' | 'completed' | 'failed' | 'abandoned' | 'unknown' | 'damaged';

/** A run in one line. */
export interface RunRow {
  readonly run: string;
  readonly status: ShownStatus;
  /** Null, as what follows, where the record cannot be read. */
  readonly created_at: string | null;
  /** The refresh of the file that it is, if that was named. */
  readonly cycle: string | null;
  readonly file: string | null;
  readonly rows: number | null;
  /** Ids, of those that were created. */
  readonly jobs: readonly string[] | null;
  /** How many jobs its file takes. */
  readonly job_count: number | null;
  /** How far it is, in words. */
  readonly progress: string;
}

/** How a list of runs is shown. */
export const runView: View<RunRow> = {
  name: 'run',
  fields: ['run', 'status', 'created_at', 'cycle', 'file', 'rows', 'jobs', 'job_count', 'progress'],
  columns: [
    { path: 'run', kind: 'id' },
    { path: 'status', kind: 'status', paint: tone },
    { path: 'created_at', kind: 'time', priority: 1 },
    { path: 'cycle', kind: 'text', priority: 5 },
    { path: 'rows', kind: 'number', priority: 2 },
    { path: 'progress', kind: 'text', priority: 4 },
    { path: 'file', kind: 'text', priority: 3 },
  ],
};

/** One part of a run. */
export interface PartRow {
  readonly part: number;
  readonly rows: number;
  readonly state: string;
  /** The job's status in the service's word, when it was last looked at. */
  readonly job_status: string | null;
  readonly job: string | null;
  readonly errors: readonly string[];
}

/** How the parts of a run are shown. */
export const partView: View<PartRow> = {
  name: 'part',
  fields: ['part', 'rows', 'state', 'job_status', 'job', 'errors'],
  columns: [
    { path: 'part', kind: 'number' },
    { path: 'rows', kind: 'number', priority: 1 },
    { path: 'state', kind: 'status', paint: tone },
    { path: 'job', kind: 'id' },
    { path: 'errors', kind: 'text', priority: 2 },
  ],
};

function tone(state: unknown): Tone | undefined {
  if (state === 'completed' || state === 'downloaded') return 'good';
  if (state === 'unknown') return 'warn';
  return state === 'failed' ? 'bad' : undefined;
}

/** A request file that was submitted, and its results where they were waited for. */
export interface Submission {
  /** Its record on this machine: what to go on with. */
  readonly run: string;
  readonly status: string;
  readonly file: string;
  readonly rows: number;
  /** Its job, where it has just one. */
  readonly job: string | null;
  readonly jobs: readonly string[];
  readonly results?: Results | Pick<Results, 'file'>;
}

/** The results of a job in numbers. */
export interface Results {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly updated: number;
  readonly warned: number;
  readonly errors: number;
  /** Rows with result codes of no known kind. */
  readonly unknown: number;
  /** Rows that came back without any result, because nothing about them changed. */
  readonly unchanged: number;
  readonly codes: readonly CodeRow[];
}

/** How often a result code came. */
export interface CodeRow {
  readonly code: string;
  readonly class: string;
  readonly count: number;
  readonly action: string;
}

/** How a submission is shown. */
export const submissionView: View<Submission> = {
  name: 'submission',
  fields: [
    'run',
    'status',
    'file',
    'rows',
    'job',
    'jobs',
    'results.file',
    'results.bytes',
    'results.sha256',
    'results.updated',
    'results.warned',
    'results.errors',
    'results.unknown',
    'results.unchanged',
    'results.codes',
  ],
  columns: [
    { path: 'run', kind: 'id' },
    { path: 'status', kind: 'status', paint: tone },
    { path: 'rows', kind: 'number' },
    { path: 'file', kind: 'text', priority: 2 },
    { path: 'job', kind: 'id', priority: 1 },
  ],
};

const TONES: Readonly<Record<string, Tone>> = { updated: 'good', warned: 'warn', error: 'bad' };
const BAR_COLUMNS = 16;

/** How results are drawn. */
export interface DrawResultsOptions {
  readonly palette: Palette;
  readonly unicode: boolean;
  readonly plain: boolean;
  /** How wide it may be; infinite where nothing is to be broken. */
  readonly columns: number;
}

/** The results as a picture: one bar a result code, and what it asks for. */
export function drawResults(rows: number, results: Results, options: DrawResultsOptions): string {
  const { palette } = options;
  const { updated, warned, errors, unknown, unchanged, codes } = results;
  const unknownWords = unknown > 0 ? `, ${formatNumber(unknown)} with codes not known here` : '';
  const total = `${formatNumber(rows)} rows: ${formatNumber(updated)} updated, ${formatNumber(warned)} warnings, ${formatNumber(errors)} errors, ${formatNumber(unchanged)} unchanged${unknownWords}`;
  const title = wrapWords(total, options.columns).map((line) => palette.strong(line));
  return ['', ...title, '', ...codeLines(codes, options), ''].join('\n');
}

function codeLines(
  codes: readonly CodeRow[],
  { palette, unicode, plain, columns }: DrawResultsOptions,
): string[] {
  const most = Math.max(0, ...codes.map(({ count }) => count));
  const codeWidth = Math.max(0, ...codes.map(({ code }) => code.length));
  const countWidth = formatNumber(most).length;
  // On a narrow terminal the bar gives way; the numbers say the same.
  const room = columns - codeWidth - countWidth - 5;
  const barWidth = plain ? 0 : Math.max(0, Math.min(BAR_COLUMNS, room));
  return codes.map(({ code, class: kind, count, action }) => {
    const bar = drawBar(count, most, barWidth, { unicode, plain });
    const padded = bar + ' '.repeat(barWidth - bar.length);
    const tone = TONES[kind];
    const picture = barWidth === 0 ? '' : `${tone === undefined ? padded : palette[tone](padded)}  `;
    const lead = `${code.padEnd(codeWidth)}  ${formatNumber(count).padStart(countWidth)}  ${picture}`;
    return hangingIndent(
      lead,
      codeWidth + countWidth + 4 + (barWidth === 0 ? 0 : barWidth + 2),
      action,
      columns,
    );
  });
}

/** What is known of a request file that was checked. */
export interface CheckedFileRow {
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Rows that repeat the token of a row above. */
  readonly repeated_tokens: number;
  /** How many jobs it takes. */
  readonly job_count: number;
}

/** How a checked request file is shown. */
export const checkedFileView: View<CheckedFileRow> = {
  name: 'request file',
  fields: ['file', 'rows', 'bytes', 'sha256', 'repeated_tokens', 'job_count'],
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'rows', kind: 'number' },
    { path: 'bytes', kind: 'number' },
    { path: 'sha256', kind: 'id' },
    { path: 'repeated_tokens', kind: 'number' },
    { path: 'job_count', kind: 'number' },
  ],
};

/** A checked file as it is shown. */
export function checkedFileRow(name: string, check: RequestFileCheck): CheckedFileRow {
  return {
    file: name,
    rows: check.rows,
    bytes: check.bytes,
    sha256: check.sha256,
    repeated_tokens: check.duplicates.count,
    job_count: check.parts.length,
  };
}

/** A result file that was downloaded. */
export interface Downloaded {
  readonly job: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** How a download is shown. */
export const downloadView: View<Downloaded> = {
  name: 'download',
  fields: ['job', 'file', 'bytes', 'sha256'],
  columns: [
    { path: 'job', kind: 'id' },
    { path: 'file', kind: 'text' },
    { path: 'bytes', kind: 'number' },
    { path: 'sha256', kind: 'id' },
  ],
};
