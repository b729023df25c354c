import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Backups } from './backups.ts';
import { UnflushedChanges } from './power.ts';
import type { ToolProcess } from './process.ts';
import { STATE } from './records.ts';
import type { Time } from './time.ts';

/** How long a machine takes to start again after a loss of power. */
const OUTAGE_MS = 60_000;

/** A machine of a world: a home in which processes run, on a disk that may lose its power. */
export class Machine {
  readonly home: string;
  readonly backups: Backups;
  /** Where the machine has the volume with the ledger that machines share. */
  readonly volume: string;
  readonly #kept: string;
  /** The processes that run now, by id. */
  readonly alive = new Map<number, ToolProcess>();
  #disk: UnflushedChanges | undefined;
  /** Resolves when the machine has started again after a loss of power. */
  outage: Promise<void> | undefined;

  /** The machine keeps copies of its state in `directory`, outside of its home. */
  constructor(home: string, directory: string) {
    this.home = home;
    mkdirSync(home);
    mkdirSync(directory);
    this.backups = new Backups(home, join(directory, 'backups'));
    this.volume = join(directory, 'volume');
    this.#kept = join(directory, 'kept');
  }

  /** The changes that a loss of power would undo; undefined if the machine never loses its power. */
  get disk(): UnflushedChanges | undefined {
    return this.#disk;
  }

  /** Makes a directory that all machines see the volume of this machine. */
  mount(shared: string): void {
    rmSync(this.volume, { recursive: true, force: true });
    symlinkSync(shared, this.volume);
  }

  /** Leaves an empty directory in the place of the volume. */
  unmount(): void {
    rmSync(this.volume, { recursive: true, force: true });
    mkdirSync(this.volume);
  }

  /** Starts to note unflushed changes, so that the machine can lose its power. */
  noteChanges(): void {
    this.#disk = new UnflushedChanges(this.home, this.#kept);
  }

  /** Kills every process. A minute later, the machine starts again without some of the unflushed changes. */
  losePower(time: Time, lost: (disk: UnflushedChanges | undefined) => void): void {
    for (const process of this.alive.values()) process.die();
    this.outage ??= (async () => {
      await time.clock().sleep(OUTAGE_MS);
      lost(this.#disk);
      this.outage = undefined;
    })();
  }

  /** Restores the state directory as it was before the last `commands` commands. */
  restoreState(commands: number): void {
    this.#disk?.settle();
    this.backups.restore(commands);
  }

  /** Loses the state directory and the cache, such as a container that is replaced. */
  loseState(): void {
    this.#disk?.settle();
    for (const name of [STATE, '.cache']) rmSync(join(this.home, name), { recursive: true, force: true });
  }
}
