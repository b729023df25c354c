import { randomBytes } from 'node:crypto';
import type { TenantType } from '../routes/tenant.ts';
import { DEFAULT_SEED } from '../seed/entities.ts';
import { prepareDirectory, type StatePaths } from './directory.ts';
import type { JournalEvent } from './events.ts';
import { Journal } from './journal.ts';
import { apply, newWorld, type World } from './world.ts';

/** Made-up logs of a sandbox that was not told how many. */
const DEFAULT_LOG_COUNT = 3000;

/** What a sandbox's world is made from, where no journal says it already. */
export interface Origins {
  readonly seed?: number | undefined;
  readonly logCount?: number | undefined;
  readonly tenantType?: TenantType | undefined;
}

/** The state that all sandbox processes of a directory share, kept up to date from the journal. */
export class SandboxState {
  readonly #paths: StatePaths;
  readonly #journal: Journal;
  readonly #origins: Origins;
  readonly #realNow: () => number;
  #world: World | undefined;

  /** `realNow` is the clock without the sandbox's offset. Throws when the directory began with other origins. */
  constructor(paths: StatePaths, origins: Origins, realNow: () => number) {
    this.#paths = paths;
    this.#journal = new Journal(paths.journal);
    this.#origins = origins;
    this.#realNow = realNow;
    this.refresh();
    this.#checkOrigins();
  }

  /** What is known since the last refresh. */
  get world(): World {
    if (this.#world === undefined) throw new Error('the sandbox has no journal');
    return this.#world;
  }

  /** The sandbox's time. */
  now(): number {
    return this.#realNow() + this.world.clockOffset;
  }

  /** Takes in what other processes wrote; after a reset, begins anew. */
  refresh(): World {
    const news = this.#journal.read() ?? this.#begin();
    if (news.fresh) this.#world = undefined;
    for (const event of news.events) {
      if (this.#world === undefined && event.type === 'start') this.#world = newWorld(event);
      if (this.#world !== undefined) apply(this.#world, event);
    }
    return this.world;
  }

  /** Writes an event and takes it in. */
  record(event: JournalEvent): World {
    this.#journal.append(event);
    return this.refresh();
  }

  /** Lets go of the journal. */
  close(): void {
    this.#journal.close();
  }

  #begin(): { fresh: boolean; events: JournalEvent[] } {
    prepareDirectory(this.#paths);
    const { seed = DEFAULT_SEED, logCount = DEFAULT_LOG_COUNT, tenantType = 'test' } = this.#origins;
    const secret = randomBytes(32).toString('hex');
    this.#journal.begin({ type: 'start', at: this.#realNow(), seed, secret, logs: logCount, tenantType });
    const news = this.#journal.read();
    if (news === undefined) throw new Error(`no journal could be made in ${this.#paths.directory}`);
    return news;
  }

  #checkOrigins(): void {
    const { start } = this.world;
    const type = start.tenantType ?? 'test';
    const { seed = start.seed, logCount = start.logs, tenantType = type } = this.#origins;
    if (seed !== start.seed || logCount !== start.logs || tenantType !== type)
      throw new Error(
        `the sandbox in ${this.#paths.directory} was begun with seed ${start.seed}, ${start.logs} logs and a ${type} tenant; reset it first`,
      );
  }
}
