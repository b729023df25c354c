import { randomBytes } from 'node:crypto';
import type { TenantType } from '../../schema/tenant.ts';
import type { SandboxOptions } from '../options.ts';
import { DEFAULT_SEED, newTenantId, seedOf } from '../seed/logs.ts';
import { FIRST_TENANT } from '../keys.ts';
import type { JournalEvent } from './events.ts';
import { Journal, prepareDirectory, startIn, type StatePaths, statePaths } from './journal.ts';
import { apply, newWorld, type World } from './world.ts';

const DEFAULT_LOG_COUNT = 3000;

/** The options from which a new sandbox's data is generated. */
export type Origins = Pick<SandboxOptions, 'seed' | 'logCount' | 'jobIds'> & {
  /** The number of the tenant; 1 by default. */
  readonly tenant?: number | undefined;
  /** `test` by default. */
  readonly tenantType?: TenantType | undefined;
};

/** The state that all sandbox processes of a directory share, kept up to date from the journal. */
export class SandboxState {
  readonly #paths: StatePaths;
  readonly #journal: Journal;
  readonly #origins: Origins;
  readonly #realNow: () => number;
  #world: World | undefined;

  /** `realNow` is the clock without the sandbox's offset. Throws if the directory was created with other options. */
  constructor(paths: StatePaths, origins: Origins, realNow: () => number) {
    this.#paths = paths;
    this.#journal = new Journal(paths.journal);
    this.#origins = origins;
    this.#realNow = realNow;
    this.refresh();
    this.#checkOrigins();
  }

  /** The state as of the last refresh. */
  get world(): World {
    if (this.#world === undefined) throw new Error('the sandbox has no journal');
    return this.#world;
  }

  now(): number {
    return this.#realNow() + this.world.clockOffset;
  }

  /** Applies the events that other processes wrote. Starts over after a reset. */
  refresh(): World {
    const { fresh, events } = this.#journal.read() ?? this.#begin();
    if (fresh) this.#world = undefined;
    for (const event of events) {
      if (this.#world === undefined && event.type === 'start') this.#world = newWorld(event);
      if (this.#world !== undefined) apply(this.#world, event);
    }
    return this.world;
  }

  record(event: JournalEvent): World {
    this.#journal.append(event);
    return this.refresh();
  }

  close(): void {
    this.#journal.close();
  }

  #begin(): { fresh: boolean; events: JournalEvent[] } {
    prepareDirectory(this.#paths);
    const {
      seed = DEFAULT_SEED,
      logCount: logs = DEFAULT_LOG_COUNT,
      tenantType = 'test',
      tenant,
      jobIds,
    } = this.#origins;
    const secret = randomBytes(32).toString('hex');
    const at = this.#realNow();
    const tenantId = newTenantId(seed, at);
    this.#journal.begin({ type: 'start', at, seed, secret, logs, tenantType, tenant, tenantId, jobIds });
    const read = this.#journal.read();
    if (read === undefined) throw new Error(`no journal could be created in ${this.#paths.directory}`);
    return read;
  }

  #checkOrigins(): void {
    const { start } = this.world;
    const type = start.tenantType ?? 'test';
    const ids = start.jobIds ?? 'uuid';
    const { seed = start.seed, logCount = start.logs, tenantType = type, jobIds = ids } = this.#origins;
    if (seed !== start.seed || logCount !== start.logs || tenantType !== type || jobIds !== ids)
      throw new OtherOptionsError(
        `the sandbox in ${this.#paths.directory} was created with seed ${start.seed}, ${start.logs} logs, ${ids} ids of jobs and a ${type} tenant`,
      );
  }
}

/** The error for a directory whose sandbox was created with other options. */
export class OtherOptionsError extends Error {}

/** Returns the seed of a tenant's data in a directory, which a sandbox need not have used yet. */
export function seedIn(directory: string | undefined, tenant = FIRST_TENANT): number {
  const start = directory === undefined ? undefined : startIn(directory);
  return seedOf(start?.seed ?? DEFAULT_SEED, tenant);
}

/** Reads the state of a directory, and creates none: undefined if no sandbox has used the directory. */
export function readState<T>(
  directory: string,
  realNow: () => number,
  read: (state: SandboxState) => T,
): T | undefined {
  return startIn(directory) && withState(directory, realNow, read);
}

/** Opens the state of a directory for `use`. Every sandbox that runs on the directory sees the recorded events. */
export function withState<T>(directory: string, realNow: () => number, use: (state: SandboxState) => T): T {
  const paths = statePaths(directory);
  prepareDirectory(paths);
  const state = new SandboxState(paths, {}, realNow);
  try {
    return use(state);
  } finally {
    state.close();
  }
}

/** Returns the time after a move of a sandbox's clock, for the time before it and the time of the machine's clock. */
export type ClockMove = (before: number, real: number) => number;

/**
 * Moves the clock of every sandbox on a state directory, or without `move` only reads the clock. Uploads expire, jobs finish,
 * logs age and sessions end as if the time had passed. Returns the time before and after, and the offset to the machine's
 * clock. Nothing changes if `move` throws.
 */
export function moveClock(directory: string, realNow: () => number, move?: ClockMove) {
  const now = realNow();
  const before = now + (readState(directory, realNow, ({ world }) => world.clockOffset) ?? 0);
  const after = move?.(before, now) ?? before;
  const ahead = after - now;
  if (after !== before)
    withState(directory, realNow, (state) => state.record({ type: 'clock', at: before, offset: ahead }));
  return { before, after, ahead };
}
