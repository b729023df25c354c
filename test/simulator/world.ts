import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { startSandbox } from '../support/sandbox.ts';
import { acceptSecondUpload, Adversary } from './adversary.ts';
import { Auditor } from './auditor.ts';
import { Backups } from './backups.ts';
import { type Actor, runAs } from './context.ts';
import type { Circumstances } from './history.ts';
import { DEAF_PORT, WorldNetwork } from './network.ts';
import { UnflushedChanges } from './power.ts';
import { type Ended, ToolProcess } from './process.ts';
import { Chance } from './random.ts';
import { recordedParts } from './records.ts';
import { Time } from './time.ts';

// A file system in memory if there is one, because renames on a disk take longer than everything else.
const DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const START = Date.UTC(2026, 0, 5, 12);

/** The first process id, higher than any on a real machine. */
const FIRST_PID = 5_000_000;

/** The row limit of an upload in most worlds. */
const LIMITED_ROWS = 15;

/** The number of made-up log entries from the day before a world begins. */
const LOG_COUNT = 200;

/** A world: its time, its network, two tenants at one address, and a home in which processes run. */
export class World {
  readonly time = new Time(START);
  readonly home: string;
  readonly network: WorldNetwork;
  readonly adversary = new Adversary(this.time);
  readonly backups: Backups;
  readonly #chance: Chance;
  readonly #directory: string;
  readonly #alive = new Map<number, ToolProcess>();
  readonly #services: RunningSandbox[] = [];
  #pids = FIRST_PID;
  #disk: UnflushedChanges | undefined;
  /** Resolves when the machine has started again after a loss of power. */
  #outage: Promise<void> | undefined;

  private constructor(seed: number) {
    this.#chance = new Chance(seed);
    this.network = new WorldNetwork((wire, { process }) => {
      if (process instanceof ToolProcess) process.hasConnected(wire);
    });
    this.#directory = mkdtempSync(join(DISK, 'svc-world-'));
    this.home = join(this.#directory, 'home');
    this.backups = new Backups(this.home, join(this.#directory, 'backups'));
    mkdirSync(this.home);
  }

  static async begin(seed: number): Promise<World> {
    const world = new World(seed);
    process.chdir(world.home);
    const { intercept } = world.adversary;
    const pickupMs = world.#chance.oneOf([250, 250, 60_000, 700_000]);
    world.adversary.failing = world.#chance.oneOf([0, 0, 0, 0, 1, 2]);
    const processingMs = pickupMs + world.#chance.oneOf([2000, 2000, 120_000, 3_600_000]);
    await world.#serve({ directory: world.ours, intercept, logCount: LOG_COUNT, pickupMs, processingMs });
    await world.#serve({ directory: world.theirs, seed: 7, intercept: acceptSecondUpload, logCount: 0 });
    const server = world.network.servers[1] as Server;
    world.adversary.theirs = (incoming, outgoing) => void server.emit('request', incoming, outgoing);
    // Another system of each tenant submits a file, whose job the tool must leave alone.
    for (const key of ['sandbox-private-key-account-updater-only', 'their-private-key'])
      await world.time.until(world.auditor.submit(key));
    world.adversary.recorded = () => recordedParts(world.home);
    return world;
  }

  async #serve(options: Parameters<typeof startSandbox>[0]): Promise<void> {
    const started = runAs(this.#bystander(), () => startSandbox({ clock: this.time, ...options }));
    this.#services.push(await this.time.until(started));
  }

  /** Returns an actor that is not a process of the tool, such as the service. */
  #bystander(): Actor {
    return { time: this.time, network: this.network, chance: this.#chance.split(), process: undefined };
  }

  /** The directory in which the service keeps the data of the tenant. */
  get ours(): string {
    return join(this.#directory, 'ours');
  }

  /** The directory in which the service keeps the data of the other tenant. */
  get theirs(): string {
    return join(this.#directory, 'theirs');
  }

  /** Starts to note unflushed changes, so that the world can lose its power. */
  noteChanges(): void {
    this.#disk = new UnflushedChanges(this.home, join(this.#directory, 'kept'));
  }

  /** Kills every process. A minute later, the machine starts again without some of the unflushed changes. */
  #losePower(): void {
    for (const process of this.#alive.values()) process.die();
    this.#outage ??= (async () => {
      await this.time.clock().sleep(60_000);
      runAs(undefined, () => this.#disk?.lose(this.#chance.split()));
      this.adversary.recordsChanged();
      this.#outage = undefined;
    })();
  }

  get url(): string {
    return this.#services[0]?.url ?? '';
  }

  /** Returns the base URL that an operator gives to a command. */
  addressOf(at: Circumstances['at']): string {
    if (at === 'nowhere') return `http://127.0.0.1:${DEAF_PORT}`;
    return at === 'by name' ? this.url.replace('127.0.0.1', 'localhost') : this.url;
  }

  /** Whether a process runs now. */
  get isBusy(): boolean {
    return this.#alive.size > 0;
  }

  get auditor(): Auditor {
    return new Auditor(this.#bystander(), this.url);
  }

  /** Returns the first rows of a request file: enough for one upload, or for several. */
  requestFile(example: string): string {
    const lines = example.split('\n');
    return `${lines.slice(0, this.#chance.oneOf([9, 9, 2 * LIMITED_ROWS, lines.length - 1])).join('\n')}\n`;
  }

  writeFile(name: string, text: string): void {
    writeFileSync(join(this.home, name), text);
  }

  /** Runs a command to its end. It progresses only while somebody waits with `time.until`. */
  async start(argv: readonly string[], env: Readonly<Record<string, string>>, how: Circumstances): Promise<Ended> {
    await this.#outage;
    const pid = (this.#pids += 1);
    const { home, time, network } = this;
    const chance = this.#chance.split();
    const started = new ToolProcess({
      argv,
      env: { SVC_BASE_URL: this.addressOf(how.at), SVC_PACING: 'off', ...env },
      home,
      time,
      network,
      chance,
      pid,
      isAlive: (other) => this.#alive.has(other),
      skewMs: how.skewMs ?? 0,
      ending: how.ending,
      fullAt: how.fullAt,
      fullFor: how.fullFor,
      disk: this.#disk,
      losePower: () => this.#losePower(),
    });
    started.hadCompany = this.#alive.size > 0;
    for (const other of this.#alive.values()) other.hadCompany = true;
    this.adversary.trouble(started, how.faults ?? [], chance.between(1, 1_000_000));
    this.#alive.set(pid, started);
    const ended = await started.run().finally(() => this.#alive.delete(pid));
    await this.#outage;
    return ended;
  }

  async end(): Promise<void> {
    for (const left of this.#alive.values()) left.die();
    for (const service of this.#services) await this.time.until(service.close());
    process.chdir(tmpdir());
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
