import { SvcError } from '../errors.ts';
import type { PartState, RunRecord } from './record.ts';

const STATES: ReadonlySet<string> = new Set<PartState>([
  'planned',
  'creating',
  'created',
  'uploading',
  'uploaded',
  'completed',
  'downloaded',
  'failed',
  'unknown',
]);

const PART_TEXTS = [
  'job',
  'seen',
  'creating_since',
  'sent',
  'sent_at',
  'expires_at',
  'missing_since',
  'done_at',
] as const;

/** The text of a record, as it is stored. */
export function recordText(record: RunRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

/** Reads the text of a record. @throws SvcError `config` for one that is damaged or of a newer version */
export function parseRecord(text: string, file: string): RunRecord {
  const value = parseJson(text);
  const version = isObject(value) ? value['version'] : undefined;
  if (typeof version === 'number' && version > 1) {
    throw new SvcError('config', `${file} was written by a newer svc (its version is ${version})`, {
      hint: 'Update svc on this machine.',
    });
  }
  const problem = problemOf(value);
  if (problem === undefined) return value as RunRecord;
  throw new SvcError('config', `${file} is damaged: ${problem}`, {
    hint: "It is left as it is. The jobs themselves are safe: 'svc au list' shows them, and 'svc au download' brings their results.",
    facts: { file },
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemOf(value: unknown): string | undefined {
  if (!isObject(value)) return 'it is no JSON object';
  if (value['version'] !== 1) return 'it has no version';
  for (const name of ['id', 'created_at', 'profile', 'base_url']) {
    if (typeof value[name] !== 'string') return `${name} is missing`;
  }
  if (!isInput(value['input'])) return 'input is not as it should be';
  const parts = value['parts'];
  if (!Array.isArray(parts) || parts.length === 0) return 'it has no parts';
  const notText = ['out', 'tenant_id', 'cycle', 'abandoned_at'].find((name) => !isText(value[name]));
  if (notText !== undefined) return `${notText} is no text`;
  if (!isListOf(value['also_at'] ?? [], (url) => typeof url === 'string'))
    return 'also_at is no list of texts';
  if (!['results', 'writing'].every((name) => value[name] === undefined || isResults(value[name])))
    return 'results are not as they should be';
  const bad = parts.findIndex((part: unknown) => !isPart(part));
  return bad === -1 ? undefined : `part ${bad + 1} is not as it should be`;
}

function isInput(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { name, sha256, path } = value;
  const texts = typeof name === 'string' && typeof sha256 === 'string';
  return (
    texts &&
    (path === undefined || typeof path === 'string') &&
    isCount(value, ['rows', 'bytes', 'header_bytes'])
  );
}

function isPart(value: unknown): boolean {
  if (!isObject(value) || typeof value['sha256'] !== 'string') return false;
  const { state, job, results, unproven, errors = [], earlier_jobs: earlier = [] } = value;
  if (typeof state !== 'string' || !STATES.has(state)) return false;
  const needsJob = state !== 'planned' && state !== 'creating';
  if (needsJob && typeof job !== 'string') return false;
  if (!PART_TEXTS.every((name) => isText(value[name]))) return false;
  if ((state === 'downloaded' || results !== undefined) && !isResults(results)) return false;
  if (unproven !== undefined && !isResults(unproven)) return false;
  if (!isListOf(errors, (error) => typeof error === 'string')) return false;
  if (!isListOf(earlier, (one) => isObject(one) && typeof one['job'] === 'string')) return false;
  return isCount(value, ['number', 'first_row', 'rows', 'start', 'end', 'bytes']);
}

function isResults(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { file, sha256 } = value;
  return typeof file === 'string' && typeof sha256 === 'string' && isCount(value, ['bytes']);
}

/** A text, or nothing. */
function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isListOf(value: unknown, isRight: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every((item: unknown) => isRight(item));
}

function isCount(value: Record<string, unknown>, names: readonly string[]): boolean {
  return names.every((name) => Number.isSafeInteger(value[name]) && Number(value[name]) >= 0);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
