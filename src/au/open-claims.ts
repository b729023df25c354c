// Reads from the state directory which jobs are open, without a request and without opening a ledger.

import fs from 'node:fs';
import path from 'node:path';
import { readRegularFileSync } from '../base/files/read.ts';
import { isObject, parsedJson } from '../schema/json-value.ts';

/** A claim whose results nobody has read, as this machine last saw the ledger. */
export interface OpenClaim {
  readonly job: string;
  /** The time of the claim, in epoch milliseconds. */
  readonly at: number;
  /** Whether a ledger that machines share has the claim. */
  readonly isShared: boolean;
}

/**
 * Returns the open claims in the ledgers below a directory, of one tenant or of all: in this machine's own ledgers, and in its
 * copies of shared ones. Unreadable files are skipped.
 */
export function openClaims(ledgers: string, tenant?: string): OpenClaim[] {
  const tenants = tenant === undefined ? namesIn(ledgers) : [tenant];
  return tenants.flatMap((name) => openClaimsOf(path.join(ledgers, name)));
}

function openClaimsOf(own: string): OpenClaim[] {
  const open = new Map<string, OpenClaim>();
  const delivered = new Set<string>();
  // The own ledger comes first: what happened to the claims that it shares with others since is only in their copies.
  for (const place of placesOf(own))
    for (const { kind, job, at, delivered: isDelivered } of cyclesIn(place).flatMap(entriesOf)) {
      if (typeof job !== 'string') continue;
      if (kind === 'claim' && typeof at === 'string')
        open.set(job, { job, at: Date.parse(at), isShared: place !== own });
      else if (kind === 'release') open.delete(job);
      else if (kind === 'done' && isDelivered !== false) delivered.add(job);
    }
  return [...open.values()].filter(({ job }) => !delivered.has(job));
}

/** Returns the directories of a tenant's own ledger and of its copies of shared ones. */
function placesOf(own: string): string[] {
  const seen = path.join(own, 'seen');
  return [own, ...namesIn(seen).map((location) => path.join(seen, location, path.basename(own)))];
}

/** Returns the directories of all ledgers that this machine has read, with those of the embedded sandbox. */
function allPlaces(ledgers: string): string[] {
  return [ledgers, path.join(ledgers, 'sandbox')].flatMap((root) =>
    namesIn(root).flatMap((name) => placesOf(path.join(root, name))),
  );
}

/** Returns the named cycles in the state directory. */
export function cyclesSeen(ledgers: string): string[] {
  const cycles = allPlaces(ledgers).flatMap(cyclesIn);
  return cycles.map((cycle) => path.basename(cycle)).filter((name) => !/^(?:file|old)-/.test(name));
}

/** A job in the ledger, with its cycle and file. */
export interface SeenClaim {
  readonly job: string;
  /** Null for a file without a cycle. */
  readonly cycle: string | null;
  readonly file: string;
}

/** Returns the jobs that this machine has seen in its ledgers, newest first, or only those of the newest cycles of each. */
export function claimsSeen(ledgers: string, mostCycles = Infinity): SeenClaim[] {
  return allPlaces(ledgers)
    .flatMap((place) => newestFirst(cyclesIn(place)).slice(0, mostCycles))
    .flatMap((cycle) => {
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

function cyclesIn(place: string): string[] {
  const cycles = path.join(place, 'cycles');
  return namesIn(cycles).map((name) => path.join(cycles, name));
}

function newestFirst(cycles: readonly string[]): string[] {
  return cycles.toSorted((a, b) => changedAt(b) - changedAt(a));
}

function entriesOf(cycle: string): Readonly<Record<string, unknown>>[] {
  return namesIn(cycle)
    .filter((one) => /^\d{8}\.json$/.test(one))
    .map((name) => entryIn(path.join(cycle, name)));
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
