import path from 'node:path';
import { operatorOf } from '../../base/account.ts';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { once } from '../../base/once.ts';
import { VERSION } from '../../base/version.ts';
import type { Context } from '../../cli/app/command.ts';
import { sandboxLedger } from '../../cli/app/embedded-sandbox.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { requireSpelledPlaces } from '../../cli/config/variables.ts';
import { requireDirectory } from '../../cli/config/paths.ts';
import { countText } from '../../cli/output/time.ts';
import type { ObjectStore } from '../../client/store/store.ts';
import type { ListedJob } from '../../schema/account-updater.ts';
import { JobFiles } from '../job/job-files.ts';
import type { ClaimEntry, Entry, Who } from './entry.ts';
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

/** The newest claim of a job, in the cycle that has it, as that is now. */
export interface ClaimedJob {
  readonly ledger: Ledger;
  readonly cycle: LedgerCycle;
  readonly entries: readonly Entry[];
  readonly claim: ClaimEntry;
}

/** A ledger with what it knows of jobs. */
export interface KnownLedger {
  readonly ledger: Ledger;
  /** The ledger that this machine had alone, while its claims are not copied yet. */
  readonly former?: Ledger | undefined;
}

/** The ledger as one command uses it: the one that the setting names, or that of the state directory. */
export class CommandLedger {
  readonly #context: Context;
  /** The embedded sandbox belongs to this machine, and shares nothing. */
  readonly #isEmbedded: boolean;
  readonly #location: string | undefined;
  /** Whether the command enters nothing. */
  readonly onlyReads: boolean;
  readonly #opened = new Map<string, Promise<Ledger>>();
  #check: ((tenant: string) => Promise<void>) | undefined;
  /** The ledger that this machine begins to share, and the one that it had alone, while the claims of the latter are copied. */
  #joining: KnownLedger | undefined;

  /**
   * What only reads begins no ledger, enters nothing, and does not bind this machine to the ledger that is set.
   * @throws SvcError `config` where a misspelled variable may name the ledger or the state directory
   */
  constructor(context: Context, { onlyReads = false } = {}) {
    this.#context = context;
    this.onlyReads = onlyReads;
    this.#isEmbedded = serviceOf(context) === 'sandbox';
    this.#location = this.#isEmbedded ? undefined : context.settings.ledger.value;
    if (!onlyReads && !this.#isEmbedded) requireSpelledPlaces(context.system);
  }

  /** Whether machines share the ledger. */
  get isShared(): boolean {
    return this.#location !== undefined;
  }

  /** Tells whether this machine used a ledger that machines share, for any tenant. @throws SvcError `config` */
  wasShared(): boolean {
    return sharedLedgersUsed(this.#root()).size > 0;
  }

  /** Returns the ledgers with jobs of all tenants in the place, to be read, but not of tenants that use another ledger. */
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
    const reading = new CommandLedger(context, { onlyReads: true });
    for (const tenant of tenants) {
      const elsewhere = this.#elsewhere(tenant, objects.name);
      if (elsewhere === undefined) yield [tenant, await reading.open(tenant)];
      else context.notices.note(`tenant ${tenant} uses the ledger ${elsewhere}, which is not set and was not read`);
    }
  }

  /** Returns the ledger that this machine shares for a tenant, if it is not the one in the place. */
  #elsewhere(tenant: string, place: string): string | undefined {
    const used = readUsedLedger(this.placeOf(tenant))?.ledger;
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

  /** The directories of the files of jobs, and of what this machine knows of ledgers. */
  get places(): { readonly jobsRoot: string; readonly ledgers: string } {
    const ledgers = this.#root();
    return { jobsRoot: path.join(this.#isEmbedded ? ledgers : path.dirname(ledgers), 'jobs'), ledgers };
  }

  /** Returns what this machine keeps of a job. */
  jobFiles(job: string): JobFiles {
    return new JobFiles(this.places.jobsRoot, job);
  }

  /** Returns the tenant of a job, which names the ledger, so that a job without one is not used. @throws SvcError `bad_response` */
  tenantOf({ id, tenant_id: tenant }: Pick<ListedJob, 'id' | 'tenant_id'>): string {
    if (tenant) return tenant;
    throw new SvcError('bad_response', 'the service does not name the tenant of a job, which the ledger needs', {
      hint: 'Nothing was sent. Contact support with the job id.',
      facts: { job: id },
    });
  }

  /** Returns the directory in which this machine remembers what it did for a tenant. */
  placeOf(tenant: string): string {
    return path.join(this.#root(), folderOfTenant(tenant));
  }

  /** Opens the ledger of a tenant. */
  open(tenant: string): Promise<Ledger> {
    return once(this.#opened, tenant, () => this.#open(tenant));
  }

  async #open(tenant: string): Promise<Ledger> {
    const context = this.#context;
    const kept = this.placeOf(tenant);
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
      // What this machine has is entered once it may write.
      this.#remember(kept, { ledger: ledger.name, pending: true });
      return ledger;
    }
    if (isFirstUse && !(await this.#join(tenant, ledger))) return ledger;
    this.#remember(kept, { ledger: ledger.name });
    return ledger;
  }

  /**
   * Copies the claims of the ledger that this machine had alone into the one that it begins to share. Like every entry, they
   * come after the comparison with the jobs of the service, once the ledger began. Returns whether it did: a command that adds
   * no entries sets no comparison, and copies none.
   */
  async #join(tenant: string, ledger: Ledger): Promise<boolean> {
    const former = await this.openOwn(tenant);
    const { announceClaims, copyClaims, hasUncopied } = await import('./move-ledger.ts');
    this.#joining = { ledger, former };
    try {
      if (!this.onlyReads && (await ledger.isBegun()) && (await hasUncopied(former, ledger))) {
        if (this.#check === undefined) return false;
        try {
          await this.#check(tenant);
        } catch (error) {
          if (isSvcError(error, 'outcome_unknown')) await announceClaims(former, ledger);
          throw error;
        }
      }
      // A process that is still at work with the ledger of this machine stops before its next upload.
      await former.close(ledger.name);
      await copyClaims(former, ledger);
      return true;
    } finally {
      this.#joining = undefined;
    }
  }

  /** Returns what is compared with the jobs of the service. */
  async known(tenant: string): Promise<KnownLedger> {
    return this.#joining ?? { ledger: await this.open(tenant) };
  }

  /** Opens the ledger that this machine has alone, or had before it shared one. */
  async openOwn(tenant: string, { onlyReads = this.onlyReads } = {}): Promise<Ledger> {
    const objects = await openOwnLedgers(this.#context, this.#root());
    const own = { isFirstUse: false, isOwn: true };
    return this.#openAt(onlyReads ? new PlannedObjects(objects) : objects, tenant, own);
  }

  async #openAt(objects: ObjectStore, tenant: string, host: Partial<LedgerHost>): Promise<Ledger> {
    const { Ledger: Opened } = await import('./ledger.ts');
    const { clock } = this.#context;
    const told = { onPutBack: this.#onPutBack, onFirstEntry: () => this.#onFirstEntry(tenant) };
    return Opened.open(objects, tenant, { clock, who: this.#who(), ...told, ...host });
  }

  #who(): Who {
    return { ...operatorOf(this.#context.system), version: VERSION };
  }

  /** Sets what is checked before this command adds its next entry. */
  beforeFirstEntry(check: ((tenant: string) => Promise<void>) | undefined): void {
    this.#check = check;
  }

  async #onFirstEntry(tenant: string): Promise<void> {
    // What a machine enters when it begins to share was compared before.
    if (this.#joining !== undefined) return;
    const check = this.#check;
    await check?.(tenant);
    // One that failed, as during an outage that a wait outlasts, is tried again before the entry is.
    if (this.#check === check) this.#check = undefined;
  }

  /** Says what was put back from the copies of this machine, or would be. */
  readonly #onPutBack = (place: string, names: readonly string[]): void => {
    const { notices } = this.#context;
    const objects = `${countText(names.length, 'object')}, ${names.length === 1 ? '' : 'such as '}${names[0]}`;
    if (this.onlyReads)
      notices.warn(
        `the ledger in ${place} lacks ${objects}: this machine has a copy, which the next command that sends rows puts back`,
      );
    else notices.warn(`the ledger in ${place} lacked ${objects}: put back from the copies of this machine`);
  };

  /** Remembers the ledger of a tenant. From then on, this machine sends nothing without it. */
  #remember(kept: string, used: UsedLedger): void {
    if (!this.onlyReads) writeUsedLedger(kept, used);
  }

  /** Returns the directory for the ledgers of this machine, and for what it remembers of shared ones. */
  #root(): string {
    return this.#isEmbedded
      ? sandboxLedger(this.#context)
      : path.join(requireDirectory(this.#context.system, 'state'), 'ledger');
  }
}
