import { claimAgain, type ClaimingAgain, claimRows, RowsTaken } from '../../../src/au/ledger/claim-rows.ts';
import type { CommandLedger } from '../../../src/au/ledger/command-ledger.ts';
import { Ledger } from '../../../src/au/ledger/ledger.ts';
import { tokensOf } from '../../../src/au/ledger/request-rows.ts';
import { repeatsToken } from '../../../src/au/request/tokens-once.ts';
import { settleClaims } from '../../../src/au/ledger/settle-claims.ts';
import { partSource } from '../../../src/au/run/part-source.ts';
import { SpareJob } from '../../../src/au/jobs/spare-job.ts';
import { type OpenRun, uploadParts } from '../../../src/au/send/upload-parts.ts';
import type { Clock } from '../../../src/base/system.ts';
import type { Client } from '../../../src/client/api/client.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { WHO } from './entries.ts';
import { fileRows } from './machines.ts';

/** How often a command compares the parts with the ledger. */
const MOST_TIMES = 3;

/** The cycle of files without one. */
const CYCLE = 'file';

type UsedByUploads = Pick<CommandLedger, 'claim' | 'claimAgain' | 'isShared' | 'open'>;

/** The ledger of one machine as the upload of parts uses it, without a state directory. */
export class MemoryLedger implements UsedByUploads {
  readonly isShared = false;
  readonly objects = new MemoryObjects();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(tenant: string): Promise<Ledger> {
    return Ledger.open(this.objects, tenant, { clock: this.#clock, who: WHO, isFirstUse: false });
  }

  async claim({ job, ...what }: Parameters<UsedByUploads['claim']>[0]): Promise<void> {
    const ledger = await this.open(job.tenant_id ?? '');
    const tokens = (salt: string): ReturnType<typeof tokensOf> => tokensOf(salt, what.source);
    const hasTokenTwice = (): Promise<boolean> => repeatsToken(what.source);
    await claimRows(ledger, { job, tokens, hasTokenTwice, ...(await this.#claiming(ledger, what)) });
  }

  async claimAgain({ job, ...what }: Parameters<UsedByUploads['claimAgain']>[0]): Promise<void> {
    const ledger = await this.open(what.record.tenant_id ?? '');
    await claimAgain(ledger, { job, ...(await this.#claiming(ledger, what)) });
  }

  async #claiming(
    ledger: Ledger,
    { record, part, source, sha256 }: Omit<Parameters<UsedByUploads['claimAgain']>[0], 'job'>,
  ): Promise<Omit<ClaimingAgain, 'job'>> {
    const { id, input, cycle = CYCLE } = record;
    return {
      cycle,
      rows: await fileRows(ledger, source),
      run: id,
      part: part.number,
      file: { name: input.name, sha256: input.sha256, rows: input.rows },
      bytes: part.bytes,
      sha256,
    };
  }

  /** Uploads a run as a command does: before each attempt, the claims of jobs that ended are ended. */
  async upload(
    client: Client,
    run: OpenRun,
    file: string,
    options: Omit<Parameters<typeof uploadParts>[3], 'ledger' | 'typed'> = {},
  ): Promise<void> {
    const spare = new SpareJob(client);
    for (let time = 1; ; time += 1) {
      await this.#settle(client, run, file, spare);
      try {
        return await uploadParts(client, run, file, {
          spare,
          ...options,
          ledger: this,
          typed: { confirmed: { payAgain: true, newLedger: true } },
        });
      } catch (error) {
        if (!(error instanceof RowsTaken) || time === MOST_TIMES) throw error;
      }
    }
  }

  async #settle(client: Client, run: OpenRun, file: string, spare: SpareJob): Promise<void> {
    const { tenant_id: tenant, cycle = CYCLE, parts } = run.record;
    if (tenant === undefined) return;
    const ledger = await this.open(tenant);
    const earlier = parts.flatMap((part) => part.earlier_jobs ?? []);
    if (earlier.length === 0) return;
    const jobsOf = (jobs: typeof earlier): ReadonlySet<string> => new Set(jobs.map(({ job }) => job));
    const ended = jobsOf(earlier.filter(({ ended: how, sent_at: at }) => how === 'gone' && at === undefined));
    const shown = jobsOf(earlier.filter(({ ended: how }) => how === 'failed'));
    for (const part of parts.filter(({ job }) => job === undefined)) {
      const rows = await fileRows(ledger, await partSource(part, run, file));
      await settleClaims(client, ledger.cycle(cycle), rows, { ended, shown, newer: () => spare.get() });
    }
  }
}
