import { SvcError, systemCodeOf } from '../errors.ts';
import { readRegularFileSync } from '../files/read-pipe.ts';
import { writeFileAtomicSync } from '../files/replace.ts';
import { isoTime } from '../output/time.ts';
import { Tally, type TallyLine } from './tally.ts';

/** What a checkpoint is of: two tails of different logs must not share one. */
export interface Subject {
  /** The service, as its base URL. */
  readonly service: string;
  readonly entityType: string | undefined;
  readonly entityId: string | undefined;
}

/** Writes where a tail stands, whole or not at all. @throws SvcError `local` */
export function writeCheckpoint(file: string, subject: Subject, standing: TailPosition): void {
  writeFileAtomicSync(file, checkpointText(subject, standing));
}

/** Reads where a tail stood, or undefined where there is no such file. @throws SvcError `local`, `config` */
export function readCheckpoint(file: string, subject: Subject): TailPosition | undefined {
  let text: string;
  try {
    text = readRegularFileSync(file);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    const code = systemCodeOf(error) ?? 'unknown';
    const problem = code === 'EINVAL' ? 'is not a regular file' : `could not be read (${code})`;
    throw new SvcError('local', `${file} ${problem}`, {
      hint: 'Name another file with --checkpoint, or see that this one may be read.',
      cause: error,
    });
  }
  return parseCheckpoint(file, text, subject);
}

/** The text of a checkpoint. Times are written for people; the entries passed on are only counted, by their hashes. */
export function checkpointText(
  { service, entityType, entityId }: Subject,
  { settled, readTo, newest, passed }: TailPosition,
): string {
  const head = {
    version: 1,
    service,
    entity_type: entityType ?? null,
    entity_id: entityId ?? null,
    settled: isoTime(settled),
    read_to: isoTime(readTo),
    newest: newest === undefined ? null : isoTime(newest),
    passed,
  };
  return `${JSON.stringify(head)}\n`;
}

/** Reads the text of a checkpoint. @throws SvcError `config` where it is damaged, newer, or of another log */
export function parseCheckpoint(file: string, text: string, subject: Subject): TailPosition {
  const found = parseObject(text);
  if (found === undefined) throw damaged(file);
  if (found['version'] !== 1) throw typeof found['version'] === 'number' ? newer(file) : damaged(file);
  const [settled, readTo] = [timeOf(found['settled']), timeOf(found['read_to'])];
  const newest = found['newest'] === null ? undefined : (timeOf(found['newest']) ?? Number.NaN);
  const passed = found['passed'];
  if (settled === undefined || readTo === undefined || Number.isNaN(newest) || !areLines(passed))
    throw damaged(file);
  checkSubject(file, found, subject);
  return { settled, readTo, newest, passed };
}

function checkSubject(file: string, found: Record<string, unknown>, subject: Subject): void {
  const asked = { service: subject.service, entity_type: subject.entityType, entity_id: subject.entityId };
  for (const [name, value] of Object.entries(asked)) {
    if (found[name] === (value ?? null)) continue;
    throw new SvcError('config', `${file} is the checkpoint of another log: its ${name} differs`, {
      hint: 'Give the options that it was made with, or another checkpoint file.',
      facts: { file, [name]: found[name] },
    });
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function areLines(value: unknown): value is TallyLine[] {
  return Array.isArray(value) && value.every(isLine);
}

function isLine(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [key, at, count] = value;
  return typeof key === 'string' && Number.isSafeInteger(at) && Number.isSafeInteger(count) && count > 0;
}

function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

function damaged(file: string): SvcError {
  return new SvcError('config', `${file} is no checkpoint, or a damaged one`, {
    hint: 'Name another file, or delete this one and say with --since where to begin.',
  });
}

function newer(file: string): SvcError {
  return new SvcError('config', `${file} was written by a newer svc`, {
    hint: 'Update svc on this machine.',
  });
}

/** Where a tail stands. All times in epoch milliseconds, by the service's clock. */
export interface TailPosition {
  /** Everything before this time is done with. */
  readonly settled: number;
  /** Up to here the log has been read; what comes late from before is still looked for. */
  readonly readTo: number;
  /** The time of the newest entry met. */
  readonly newest: number | undefined;
  /** The entries from `settled` on that have been passed on. */
  readonly passed: readonly TallyLine[];
}

/** The standing of a tail that begins at a time. */
export function beginAt(time: number): TailPosition {
  return { settled: time, readTo: time, newest: undefined, passed: [] };
}

/** Where a tail stands, as it changes. Its size is bounded by what happens within the overlap. */
export class TailState {
  settled: number;
  readTo: number;
  newest: number | undefined;
  readonly passed: Tally;

  constructor({ settled, readTo, newest, passed }: TailPosition) {
    this.settled = settled;
    this.readTo = readTo;
    this.newest = newest;
    this.passed = new Tally(passed);
  }

  /** Is done with everything before this time. */
  settle(time: number): void {
    if (time <= this.settled) return;
    this.settled = time;
    this.passed.forgetBefore(time);
  }

  standing(): TailPosition {
    const { settled, readTo, newest, passed } = this;
    return { settled, readTo, newest, passed: passed.lines() };
  }
}
