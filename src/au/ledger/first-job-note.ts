// Notes that a key has no jobs, before a command creates its first one to find the tenant. If that command is killed, the pending job
// that it leaves then counts as its own, and not as one of a lost state directory.

import { createHmac, randomBytes } from 'node:crypto';
import path from 'node:path';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import { HOUR_MS } from '../../schema/durations.ts';
import { isObject, parsedJson } from '../../schema/json-value.ts';

const FILE = 'no-jobs';

/** A key and its service. The file has only their hash, under a random secret. */
export interface KeyOfService {
  readonly service: string;
  readonly key: string;
}

/** Notes that a key has no jobs at a time, in epoch milliseconds. The note of another key is replaced. */
export function noteNoJobs(directory: string, key: KeyOfService, now: number): void {
  makeDirectory(directory);
  const secret = randomBytes(32).toString('hex');
  const note = { version: 1, at: now, secret, key: hashOf(key, secret) };
  writeFileAtomicSync(path.join(directory, FILE), `${JSON.stringify(note)}\n`, { isFlushed: false });
}

/** Tells whether a key had no jobs within the last hour, after which the service removes a job without a file. */
export function hadNoJobs(directory: string, key: KeyOfService, now: number): boolean {
  const note = readNote(path.join(directory, FILE));
  const { at, secret } = note;
  if (typeof at !== 'number' || typeof secret !== 'string') return false;
  return Math.abs(now - at) <= HOUR_MS && note['key'] === hashOf(key, secret);
}

function readNote(file: string): Readonly<Record<string, unknown>> {
  try {
    const note = parsedJson(readRegularFileSync(file));
    return isObject(note) ? note : {};
  } catch {
    return {};
  }
}

function hashOf({ service, key }: KeyOfService, secret: string): string {
  return createHmac('sha256', secret).update(`${service}\0${key}`).digest('hex');
}
