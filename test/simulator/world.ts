import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningSandbox } from '../../src/emulator/options.ts';
import { startSandbox } from '../../src/emulator/server.ts';
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

// In memory where there is such a disk: a rename on another takes longer than all else.
const DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const START = Date.UTC(2026, 0, 5, 12);

/** No machine has processes of these numbers. */
const FIRST_PID = 5_000_000;

/** How many rows one upload takes in worlds. */
const LIMITED_ROWS = 15;

/** Made-up entries of the day before a world begins. */
const LOG_COUNT = 200;

/** One world: its time, its network, two tenants at one address, and a home for processes one after another. */
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
  /** Lasts from a loss of power until the machine has started again. */
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
    // By another system of the tenant: its jobs are nobody's business.
    for (const key of ['sandbox-private-key-account-updater-only', 'their-private-key'])
      await world.time.until(world.auditor.submit(key));
    world.adversary.recorded = () => recordedParts(world.home);
    return world;
  }

  async #serve(options: Parameters<typeof startSandbox>[0]): Promise<void> {
    const started = runAs(this.#bystander(), () => startSandbox({ clock: this.time, ...options }));
    this.#services.push(await this.time.until(started));
  }

  /** Who is in the world without being a process of the tool. */
  #bystander(): Actor {
    return { time: this.time, network: this.network, chance: this.#chance.split(), process: undefined };
  }

  /** Where the service keeps what it knows of the tenant. */
  get ours(): string {
    return join(this.#directory, 'ours');
  }

  /** … and of the other tenant. */
  get theirs(): string {
    return join(this.#directory, 'theirs');
  }

  /** From now on its power may be lost: what is not flushed is noted. */
  noteChanges(): void {
    this.#disk = new UnflushedChanges(this.home, join(this.#directory, 'kept'));
  }

  /** Every process dies. Later the machine starts again, and finds of its disk what was flushed. */
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

  /** The base URL that an operator gives. */
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

  /** The first rows of a request file: for one upload, or for several. */
  requestFile(example: string): string {
    const lines = example.split('\n');
    return `${lines.slice(0, this.#chance.oneOf([9, 9, 2 * LIMITED_ROWS, lines.length - 1])).join('\n')}\n`;
  }

  writeFile(name: string, text: string): void {
    writeFileSync(join(this.home, name), text);
  }

  /** Starts a command line. The world goes on only while somebody waits in its time. */
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
