// Reads from the state directory which jobs are open, without a request and without opening a ledger.

import fs from 'node:fs';
import path from 'node:path';
import { readRegularFileSync } from '../base/files/read.ts';
import { isObject, parsedJson } from '../schema/json-value.ts';

/** The number of newest cycles that are read. Claims in older cycles are older than any open job. */
const MAX_CYCLES = 6;

/** A claim whose results nobody has read, as this machine last saw the ledger. */
export interface OpenClaim {
  readonly job: string;
  /** The time of the claim, in epoch milliseconds. */
  readonly at: number;
}

/** Returns the open claims in the state directory, for a reminder. Unreadable files are skipped. */
export function openClaims(ledgers: string, tenant: string | undefined): OpenClaim[] {
  const tenants = tenant === undefined ? namesIn(ledgers).filter((name) => name !== 'sandbox') : [tenant];
  return tenants
    .flatMap((name) => placesOf(path.join(ledgers, name)))
    .filter((top) => !fs.existsSync(path.join(top, 'moved.json')))
    .flatMap(claimsIn);
}

/** Returns the open claims of all ledgers that this machine has seen below a directory. */
export function openClaimsIn(ledgers: string): OpenClaim[] {
  return namesIn(ledgers)
    .flatMap((name) => placesOf(path.join(ledgers, name)))
    .flatMap((top) => namesIn(path.join(top, 'cycles')).map((name) => path.join(top, 'cycles', name)))
    .flatMap(claimsOfCycle);
}

/** Returns the open claims in this machine's own ledgers, without the embedded sandbox. */
export function ownOpenClaims(ledgers: string): OpenClaim[] {
  return namesIn(ledgers)
    .filter((name) => name !== 'sandbox')
    .map((name) => path.join(ledgers, name))
    .filter((top) => !fs.existsSync(path.join(top, 'moved.json')))
    .flatMap(claimsIn);
}

/** Returns the directories of a tenant's own ledger and of its copies of shared ones. */
function placesOf(own: string): string[] {
  const seen = path.join(own, 'seen');
  return [own, ...namesIn(seen).map((location) => path.join(seen, location, path.basename(own)))];
}

/** Returns the named cycles in the state directory. */
export function cyclesSeen(ledgers: string): string[] {
  const roots = [ledgers, path.join(ledgers, 'sandbox')];
  const tops = roots.flatMap((root) => namesIn(root).flatMap((name) => placesOf(path.join(root, name))));
  return tops.flatMap((top) => namesIn(path.join(top, 'cycles'))).filter((name) => !/^(?:file|old)-/.test(name));
}

/** A job in the ledger, with its cycle and file. */
export interface SeenClaim {
  readonly job: string;
  /** Null for a file without a cycle. */
  readonly cycle: string | null;
  readonly file: string;
}

/** Returns the jobs that this machine has seen in the newest cycles of its ledgers, newest first. */
export function claimsSeen(ledgers: string): SeenClaim[] {
  const tops = [ledgers, path.join(ledgers, 'sandbox')].flatMap((root) =>
    namesIn(root).flatMap((name) => placesOf(path.join(root, name))),
  );
  return tops.flatMap(newestCycles).flatMap((cycle) => {
    const name = path.basename(cycle);
    return entriesOf(cycle)
      .toReversed()
      .flatMap(({ kind, job, file }) => {
        const named = isObject(file) ? file['name'] : undefined;
        if (kind !== 'claim' || typeof job !== 'string' || typeof named !== 'string') return [];
        return [{ job, cycle: name.startsWith('file-') ? null : name, file: named }];
      });
  });
}

function claimsIn(top: string): OpenClaim[] {
  return newestCycles(top).flatMap(claimsOfCycle);
}

function newestCycles(top: string): string[] {
  const cycles = path.join(top, 'cycles');
  const newest = namesIn(cycles).map((name) => path.join(cycles, name));
  return newest.toSorted((a, b) => changedAt(b) - changedAt(a)).slice(0, MAX_CYCLES);
}

function entriesOf(cycle: string): Readonly<Record<string, unknown>>[] {
  return namesIn(cycle)
    .filter((one) => /^\d{8}\.json$/.test(one))
    .map((name) => entryIn(path.join(cycle, name)));
}

function claimsOfCycle(cycle: string): OpenClaim[] {
  const open = new Map<string, OpenClaim>();
  for (const entry of entriesOf(cycle)) {
    const { kind, job, at, delivered } = entry;
    if (typeof job !== 'string' || delivered === false) continue;
    if (kind !== 'claim') open.delete(job);
    else if (typeof at === 'string') open.set(job, { job, at: Date.parse(at) });
  }
  return [...open.values()];
}

function entryIn(file: string): Readonly<Record<string, unknown>> {
  try {
    const value = parsedJson(readRegularFileSync(file));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function namesIn(directory: string): string[] {
  try {
    return fs.readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}

function changedAt(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
