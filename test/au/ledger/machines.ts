import { type RowsToClaim, claimRows } from '../../../src/au/ledger/claim-rows.ts';
import { Ledger } from '../../../src/au/ledger/ledger.ts';
import { FileRows, readRows } from '../../../src/au/ledger/request-rows.ts';
import { type SettledClaims, settleClaims, type SettleOptions } from '../../../src/au/jobs/settle-claims.ts';
import { sha256Of } from '../../../src/base/files/draft.ts';
import type { Client } from '../../../src/client/api/client.ts';
import type { AccountUpdaterJob } from '../../../src/schema/account-updater.ts';
import { FakeClock } from '../../support/clock.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { FakeService } from '../fake-service.ts';
import { HEADER } from '../rows.ts';
import { WHO } from './entries.ts';

export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

/** A machine that shares a ledger and a service with others. */
export interface Machine {
  readonly ledger: Ledger;
  readonly client: Client;
}

/** Machines that share a ledger in memory, a service and a clock. */
export class Machines {
  readonly clock = new FakeClock({ start: Date.UTC(2026, 11, 1, 5) });
  readonly service = new FakeService(this.clock);
  readonly objects = new MemoryObjects();

  /** Returns a machine with the copies that it kept of the ledger; without any, one that never used it before. */
  async open(host: string, cache?: MemoryObjects): Promise<Machine> {
    const ledger = await Ledger.open(this.objects, 'ours', { clock: this.clock, who: { ...WHO, host }, cache });
    return { ledger, client: this.service.client(new AbortController().signal, () => undefined) };
  }

  /** Lets the service have the file of a job, and finish it. */
  store(job: string, status: 'processing' | 'completed' | 'failed'): void {
    const found = this.service.jobs.find(({ id }) => id === job);
    if (found) found.stored = { text: '', at: this.clock.now() - (status === 'processing' ? 10_000 : 2 * MINUTE) };
    if (status === 'failed') this.service.failed.add(job);
  }

  /** Returns the kinds and jobs of the entries of a cycle, such as `claim job-1`. */
  async entries(cycle = '2026-12'): Promise<string[]> {
    const { ledger } = await this.open('reader');
    return (await ledger.cycle(cycle).read()).map(({ kind, job }) => `${kind} ${job}`);
  }
}

/** Returns a request file with these tokens. */
export function fileOf(tokens: readonly string[]): { readonly text: string; open(): AsyncGenerator<Uint8Array, void> } {
  const text = [HEADER, ...tokens.map((token) => `${token},26,12,M`), ''].join('\n');
  return {
    text,
    async *open() {
      yield Buffer.from(text);
    },
  };
}

/** Returns the keys of the rows of a file in a ledger. */
export async function fileRows(
  { salt }: Pick<Ledger, 'salt'>,
  source: Parameters<typeof readRows>[1],
): Promise<FileRows> {
  return FileRows.of(salt, async (other) => (await readRows(other, source)).rows);
}

/** Returns what a machine claims for a job: rows with these tokens. */
export async function claimOf(
  { ledger }: Pick<Machine, 'ledger'>,
  job: AccountUpdaterJob,
  tokens: readonly string[],
  more: Partial<RowsToClaim> = {},
): Promise<RowsToClaim> {
  const source = fileOf(tokens);
  const sha256 = sha256Of(source.text);
  return {
    job,
    cycle: '2026-12',
    rows: await fileRows(ledger, source),
    source,
    part: 1,
    file: { name: 'tokens.csv', sha256, rows: tokens.length },
    bytes: Buffer.byteLength(source.text),
    sha256,
    ...more,
  };
}

/** Creates a job and claims rows for it. */
export async function claim(
  machine: Machine,
  tokens: readonly string[],
  more: Partial<RowsToClaim> = {},
): Promise<AccountUpdaterJob> {
  const job = await machine.client.accountUpdater.create();
  await claimRows(machine.ledger, await claimOf(machine, job, tokens, more));
  return job;
}

/** Returns machines of which one has claimed rows for job-1. */
export async function oneClaim(tokens: readonly string[] = ['a', 'b']): Promise<Machines> {
  const machines = new Machines();
  await claim(await machines.open('runner-7'), tokens);
  return machines;
}

/** Settles the claims of a cycle that have rows with these tokens. */
export async function settle(
  { ledger, client }: Machine,
  tokens: readonly string[],
  how: SettleOptions = {},
): Promise<SettledClaims> {
  const rows = await fileRows(ledger, fileOf(tokens));
  return settleClaims(client, ledger.cycle('2026-12'), rows, {
    createJob: () => client.accountUpdater.create(),
    ...how,
  });
}
