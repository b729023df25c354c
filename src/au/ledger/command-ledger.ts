// Opens the ledger that a command uses: the shared one that is set, or the one in this machine's state directory.

import path from 'node:path';
import { operatorOf } from '../../base/account.ts';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { once } from '../../base/once.ts';
import { VERSION } from '../../base/version.ts';
import type { Context } from '../../cli/app/command.ts';
import { sandboxLedger } from '../../cli/app/embedded-sandbox.ts';
import { isEmbeddedSandbox, serviceOf } from '../../cli/app/service.ts';
import { requireSpelledPlaces } from '../../cli/config/variables.ts';
import { requireDirectory } from '../../cli/config/paths.ts';
import { countText } from '../../cli/output/number.ts';
import type { ObjectStore } from '../../client/store/store.ts';
import type { ListedJob } from '../../schema/account-updater.ts';
import { JobFiles } from '../job/job-files.ts';
import type { ClaimEntry, Entry, Who } from './entry.ts';
import { type KeyOfService, noteFirstJob, withoutFirstJob } from './first-job-note.ts';
import type { LedgerCycle, LedgerHost } from './cycle.ts';
import type { Ledger } from './ledger.ts';
import {
  folderOfTenant,
  isSamePlace,
  openCopies,
  openLedgerStore,
  openOwnLedgers,
  openSharedStore,
  readUsedLedger,
  requireSameLedger,
  sharedLedgersUsed,
  type UsedLedger,
  writeUsedLedger,
} from './place.ts';
import { PlannedObjects } from './objects.ts';

/** The newest claim of a job, with its cycle and ledger. */
export interface ClaimedJob {
  readonly ledger: Ledger;
  readonly cycle: LedgerCycle;
  readonly entries: readonly Entry[];
  readonly claim: ClaimEntry;
}

/** The ledger to compare with the service's jobs. */
export interface LedgerToCompare {
  readonly ledger: Ledger;
  /** This machine's own ledger, until its claims are copied to the shared one. */
  readonly former?: Ledger | undefined;
}

/** The ledger of one command, opened once for each tenant. */
export class CommandLedger {
  readonly #context: Context;
  readonly #location: string | undefined;
  /** Whether the command adds no entries. */
  readonly onlyReads: boolean;
  readonly #opened = new Map<string, Promise<Ledger>>();
  #checkBeforeEntry: ((tenant: string) => Promise<void>) | undefined;
  /** The shared ledger and this machine's own one, while the claims are copied from the own to the shared one. */
  #joining: LedgerToCompare | undefined;

  /**
   * With `onlyReads`, no ledger begins, no entry is added, and the machine does not remember the ledger that is set.
   * @throws SvcError `config` if a misspelled variable may name the ledger or the state directory
   */
  constructor(context: Context, { onlyReads = false } = {}) {
    this.#context = context;
    this.onlyReads = onlyReads;
    // The ledger of the embedded sandbox is never shared.
    const isEmbedded = serviceOf(context) === 'sandbox';
    this.#location = isEmbedded ? undefined : context.settings.ledger.value;
    if (!onlyReads && !isEmbedded) requireSpelledPlaces(context.system);
  }

  /** Whether several machines share the ledger. */
  get isShared(): boolean {
    return this.#location !== undefined;
  }

  /** The place of the ledger, for messages. */
  get place(): string {
    return this.#location ?? this.#root();
  }

  /** Tells whether this machine used a shared ledger before, for any tenant. @throws SvcError `config` */
  wasShared(): boolean {
    return sharedLedgersUsed(this.#root()).size > 0;
  }

  /** Yields each tenant with jobs and its ledger, for reading. Skips tenants that use another ledger, with a note. */
  async *everyTenant(): AsyncGenerator<readonly [string, Ledger]> {
    const context = this.#context;
    const objects = await (this.#location === undefined
      ? openOwnLedgers(context, this.#root())
      : openLedgerStore(context, this.#location));
    const tenants = new Set<string>();
    for await (const { path: name } of objects.list('')) {
      const [, tenant] = /^([^/]+)\/cycles\//.exec(name) ?? [];
      if (tenant !== undefined) tenants.add(tenant);
    }
    // The list of a bucket may lag, and a ledger may have lost what this machine has copies of.
    for (const [tenant, { ledger }] of this.isShared ? sharedLedgersUsed(this.#root()) : [])
      if (ledger !== undefined && isSamePlace(ledger, objects.name)) tenants.add(tenant);
    const reading = new CommandLedger(context, { onlyReads: true });
    for (const tenant of tenants) {
      const otherLedger = this.#otherSharedLedger(tenant, objects.name);
      if (otherLedger === undefined) yield [tenant, await reading.open(tenant)];
      else context.notices.note(`tenant ${tenant} uses the ledger ${otherLedger}, which is not set and was not read`);
    }
  }

  /** Returns the shared ledger that this machine used for a tenant, if it is not the one in `place`. */
  #otherSharedLedger(tenant: string, place: string): string | undefined {
    const used = readUsedLedger(this.tenantDirectory(tenant))?.ledger;
    return this.isShared && used !== undefined && isSamePlace(used, place) ? undefined : used;
  }

  /** Tells whether the store confirmed the file of a job to this machine. */
  readonly isStored = (job: string): boolean => this.jobFiles(job).sent === 'stored';

  /** Returns the newest claim of a job; undefined if the ledger has none. */
  async claimed(tenant: string, job: string): Promise<ClaimedJob | undefined> {
    const ledger = await this.open(tenant);
    const cycle = await ledger.cycleOfJob(job);
    const entries = (await cycle?.read()) ?? [];
    const claim = entries.filter((entry) => entry.kind === 'claim').findLast((each) => each.job === job);
    return cycle && claim && { ledger, cycle, entries, claim };
  }

  /** Returns the files that this machine keeps of a job. */
  jobFiles(job: string): JobFiles {
    return new JobFiles(stateOf(this.#context).jobs, job);
  }

  /** Returns the tenant of a job, which selects the ledger. @throws SvcError `bad_response` for a job without a tenant */
  tenantOf({ id, tenant_id: tenant }: Pick<ListedJob, 'id' | 'tenant_id'>): string {
    if (tenant) return tenant;
    throw new SvcError('bad_response', 'the service does not name the tenant of a job, which the ledger needs', {
      hint: 'Nothing was sent. Contact support with the job id.',
      facts: { job: id },
    });
  }

  /** Notes that a command creates the first job of the key, which shows the tenant, and once it is known, which job that is. */
  async noteFirstJob(job?: string): Promise<void> {
    noteFirstJob(this.#root(), await this.#keyOfService(), this.#context.clock.now(), job);
  }

  /** Returns the jobs that were pending when this machine's own ledger of a tenant was first used, as `Ledger.pendingBefore`. */
  async pendingBefore(tenant: string, pending: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.isShared) return new Set();
    const others = pending.filter((job) => !this.jobFiles(job).exists);
    const foreign = withoutFirstJob(this.#root(), await this.#keyOfService(), this.#context.clock.now(), others);
    return (await this.open(tenant)).pendingBefore(foreign);
  }

  async #keyOfService(): Promise<KeyOfService> {
    return { service: serviceOf(this.#context), key: (await this.#context.key('private')).value };
  }

  /** Returns the directory of a tenant's own ledger, and of the copies of its shared ledgers. */
  tenantDirectory(tenant: string): string {
    return path.join(this.#root(), folderOfTenant(tenant));
  }

  /** Opens the ledger of a tenant. */
  open(tenant: string): Promise<Ledger> {
    return once(this.#opened, tenant, () => this.#open(tenant));
  }

  async #open(tenant: string): Promise<Ledger> {
    const context = this.#context;
    const kept = this.tenantDirectory(tenant);
    const used = readUsedLedger(kept);
    const place = this.#location === undefined ? undefined : await openSharedStore(context, this.#location, used);
    requireSameLedger(used, { ...context.settings.ledger, value: place?.name }, kept);
    if (place === undefined) return this.openOwn(tenant);
    const copies = await openCopies(context, kept, place);
    const planned = this.onlyReads ? new PlannedObjects(place) : undefined;
    const isFirstUse = used?.ledger === undefined || used.pending === true;
    const cache = planned?.copiesIn(copies) ?? copies;
    const ledger = await this.#openAt(planned ?? place, tenant, { isFirstUse, cache });
    if (ledger.isReadOnly) {
      // The claims of this machine are copied once it may write there.
      this.#remember(kept, { ledger: ledger.name, pending: true });
      return ledger;
    }
    if (isFirstUse && !(await this.#join(tenant, ledger))) return ledger;
    this.#remember(kept, { ledger: ledger.name });
    return ledger;
  }

  /**
   * Copies the claims of this machine's own ledger to the shared one. If the shared ledger has begun, it is compared with the
   * service's jobs first. Returns false if nothing was copied, because the command adds no entries and so sets no comparison.
   */
  async #join(tenant: string, ledger: Ledger): Promise<boolean> {
    const former = await this.openOwn(tenant);
    const { announceClaims, copyClaims, hasUncopied } = await import('./move-ledger.ts');
    this.#joining = { ledger, former };
    try {
      if (!this.onlyReads && (await ledger.isBegun()) && (await hasUncopied(former, ledger))) {
        if (this.#checkBeforeEntry === undefined) return false;
        try {
          await this.#checkBeforeEntry(tenant);
        } catch (error) {
          if (isSvcError(error, 'outcome_unknown')) await announceClaims(former, ledger);
          throw error;
        }
      }
      // Closing makes another process on this machine that still uses its own ledger stop before the next upload.
      await former.close(ledger.name);
      await copyClaims(former, ledger);
      return true;
    } finally {
      this.#joining = undefined;
    }
  }

  /** Returns the ledger to compare with the service's jobs. */
  async ledgerToCompare(tenant: string): Promise<LedgerToCompare> {
    return this.#joining ?? { ledger: await this.open(tenant) };
  }

  /** Opens this machine's own ledger, which it uses without a shared one. */
  async openOwn(tenant: string, { onlyReads = this.onlyReads } = {}): Promise<Ledger> {
    const objects = await openOwnLedgers(this.#context, this.#root());
    const options = { isFirstUse: false, isOwn: true };
    return this.#openAt(onlyReads ? new PlannedObjects(objects) : objects, tenant, options);
  }

  async #openAt(objects: ObjectStore, tenant: string, host: Partial<LedgerHost>): Promise<Ledger> {
    const { Ledger: Opened } = await import('./ledger.ts');
    const { clock } = this.#context;
    const callbacks = { onPutBack: this.#onPutBack, onFirstEntry: () => this.#onFirstEntry(tenant) };
    return Opened.open(objects, tenant, { clock, who: this.#who(), ...callbacks, ...host });
  }

  #who(): Who {
    return { ...operatorOf(this.#context.system), version: VERSION };
  }

  /** Sets a check that runs once, before this command adds its next entry. */
  beforeFirstEntry(check: ((tenant: string) => Promise<void>) | undefined): void {
    this.#checkBeforeEntry = check;
  }

  async #onFirstEntry(tenant: string): Promise<void> {
    // #join compares the jobs itself before it copies claims.
    if (this.#joining !== undefined) return;
    const check = this.#checkBeforeEntry;
    await check?.(tenant);
    // A check that failed stays set: a wait may outlast the outage and try the entry again.
    if (this.#checkBeforeEntry === check) this.#checkBeforeEntry = undefined;
  }

  /** Warns of objects that were put back from this machine's copies. A command that only reads warns that they are missing. */
  readonly #onPutBack = (place: string, names: readonly string[]): void => {
    const { notices } = this.#context;
    const objects = `${countText(names.length, 'object')}, ${names.length === 1 ? '' : 'such as '}${names[0]}`;
    if (this.onlyReads)
      notices.warn(
        `the ledger in ${place} lacks ${objects}: this machine has a copy, which the next command that sends rows puts back`,
      );
    else notices.warn(`the ledger in ${place} lacked ${objects}: put back from the copies of this machine`);
  };

  /** Remembers the ledger of a tenant. From then on, this machine sends nothing with another ledger. */
  #remember(kept: string, used: UsedLedger): void {
    if (!this.onlyReads) writeUsedLedger(kept, used);
  }

  /** Returns the directory that contains a directory for each tenant. */
  #root(): string {
    return stateOf(this.#context).ledgers;
  }
}

/** Returns the directories of the ledgers and of the files of jobs. They need no base URL. */
export function stateOf(context: Context): { readonly ledgers: string; readonly jobs: string } {
  if (isEmbeddedSandbox(context)) {
    const ledgers = sandboxLedger(context);
    return { ledgers, jobs: path.join(ledgers, 'jobs') };
  }
  const state = requireDirectory(context.system, 'state');
  return { ledgers: path.join(state, 'ledger'), jobs: path.join(state, 'jobs') };
}
