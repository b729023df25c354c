// Notes that a command creates the first job of a key, to find the tenant. If that command is killed, the pending job that it leaves
// counts as its own, and not as one of a lost state directory.

import { createHmac, randomBytes } from 'node:crypto';
import path from 'node:path';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import { HOUR_MS } from '../../schema/durations.ts';
import { isObject, parsedJson } from '../../schema/json-value.ts';

const FILE = 'first-job';

/** A key and its service. The file has only their hash, under a random secret. */
export interface KeyOfService {
  readonly service: string;
  readonly key: string;
}

/**
 * Notes at a time, in epoch milliseconds, that the first job of a key is created, or which job that is. The note of another key is
 * replaced.
 */
export function noteFirstJob(directory: string, key: KeyOfService, now: number, job?: string): void {
  makeDirectory(directory);
  const secret = randomBytes(32).toString('hex');
  const note = { version: 1, at: now, secret, key: hashOf(key, secret), job };
  writeFileAtomicSync(path.join(directory, FILE), `${JSON.stringify(note)}\n`, { isFlushed: false });
}

/**
 * Returns the pending jobs of a key without the one that a command of this machine created first. A command that was killed before
 * it knew the id left one job at most. A note counts for an hour, after which the service removes a job without a file.
 */
export function withoutFirstJob(
  directory: string,
  key: KeyOfService,
  now: number,
  pending: readonly string[],
): readonly string[] {
  const { at, secret, key: hash, job } = readNote(path.join(directory, FILE));
  if (typeof at !== 'number' || typeof secret !== 'string') return pending;
  if (Math.abs(now - at) > HOUR_MS || hash !== hashOf(key, secret)) return pending;
  if (job === undefined) return pending.length === 1 ? [] : pending;
  return pending.filter((id) => id !== job);
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
