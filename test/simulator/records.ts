import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openJobs } from '../../src/au/ledger/claims.ts';
import type { ClaimEntry, Entry } from '../../src/au/ledger/entry.ts';
import type { World } from './world.ts';

/** The tool's state directory. */
export const STATE = '.local/state/svc';

/** What a machine keeps of a job. */
export interface Kept {
  readonly job: string;
  /** The directory of its files. */
  readonly directory: string;
  /** How much of its file was sent, as the machine recorded it. */
  readonly sent: string;
}

/** Returns what a home keeps of each job. */
export function keptJobs(home: string): Kept[] {
  const root = join(home, STATE, 'jobs');
  if (!existsSync(root)) return [];
  return readdirSync(root).map((job) => {
    const directory = join(root, job);
    return { job, directory, sent: textIn(join(directory, 'sent')).split('\n', 1)[0] ?? '' };
  });
}

function textIn(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** A claim of a ledger, with the name of its cycle and the tenant. */
export type Claimed = Pick<ClaimEntry, 'job' | 'file' | 'sha256'> & { readonly cycle: string; readonly tenant: string };

type Ledgers = Pick<World, 'homes' | 'sharedLedger'>;

/** Returns the claims in the ledgers of a world, in the order of each cycle. */
export function claimsIn(world: Ledgers): Claimed[] {
  return cyclesIn(world).flatMap(({ tenant, cycle, entries }) =>
    entries.flatMap((entry) => {
      if (entry.kind !== 'claim') return [];
      const { job, file, sha256 } = entry;
      return [{ job, file, sha256, cycle, tenant }];
    }),
  );
}

/** Returns the jobs of a tenant whose results nobody received. */
export function openJobsOf(world: Ledgers, tenant: string): string[] {
  return cyclesIn(world).flatMap((cycle) => (cycle.tenant === tenant ? openJobs(cycle.entries) : []));
}

/** Returns the jobs of a ledger whose results nobody received. */
export function openJobsIn(ledger: string): string[] {
  return entriesIn(ledger).flatMap(({ entries }) => openJobs(entries));
}

interface CycleEntries {
  readonly tenant: string;
  readonly cycle: string;
  readonly entries: Entry[];
}

/** Returns the readable entries of each cycle, in the shared ledger or else in that of each machine. */
function cyclesIn({ homes, sharedLedger }: Ledgers): CycleEntries[] {
  return [...homes.map((home) => join(home, STATE, 'ledger')), sharedLedger ?? ''].flatMap(entriesIn);
}

function entriesIn(ledger: string): CycleEntries[] {
  const cycles = new Map<string, CycleEntries>();
  if (!existsSync(ledger)) return [];
  for (const name of readdirSync(ledger, { recursive: true, encoding: 'utf8' }).toSorted()) {
    // What a machine keeps of a shared ledger is a copy.
    const [, tenant = '', cycle] = /^([^/]+)\/cycles\/([^/]+)\/\d+\.json$/.exec(name) ?? [];
    const entry = cycle === undefined ? undefined : entryIn(join(ledger, name));
    if (cycle === undefined || !entry) continue;
    const place = `${tenant}/${cycle}`;
    const known = cycles.get(place) ?? { tenant, cycle, entries: [] };
    cycles.set(place, known);
    known.entries.push(entry);
  }
  return [...cycles.values()];
}

function entryIn(file: string): Entry | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Entry;
  } catch {
    return undefined;
  }
}
