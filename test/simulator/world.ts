import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { Chance } from '../support/chance.ts';
import { startSandbox } from '../support/sandbox.ts';
import { acceptSecondUpload, Adversary } from './adversary.ts';
import { Auditor } from './auditor.ts';
import { type Actor, runAs } from './context.ts';
import type { Circumstances } from './history.ts';
import { Machine } from './machine.ts';
import { DEAF_PORT, WorldNetwork } from './network.ts';
import { type Ended, ToolProcess } from './process.ts';
import { claimsIn, keptJobs } from './records.ts';
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

/** The key of another system of the tenant. */
const STRANGER_KEY = 'sandbox-private-key-account-updater-only';

/** The names of the homes, of which none begins another. */
const HOMES = ['home', 'second', 'third'];

/** A world: its time, its network, two tenants at one address, and the machines on which processes run. */
export class World {
  readonly time = new Time(START);
  readonly machines: readonly Machine[];
  readonly network: WorldNetwork;
  readonly adversary = new Adversary(this.time);
  readonly #chance: Chance;
  readonly #directory: string;
  readonly #services: RunningSandbox[] = [];
  #pids = FIRST_PID;

  private constructor(seed: number, machines: number) {
    this.#chance = new Chance(seed);
    this.network = new WorldNetwork((wire, { process }) => {
      if (process instanceof ToolProcess) process.hasConnected(wire);
    });
    this.#directory = mkdtempSync(join(DISK, 'svc-world-'));
    this.machines = HOMES.slice(0, machines).map(
      (name) => new Machine(join(this.#directory, name), join(this.#directory, `of-${name}`)),
    );
    if (this.sharedLedger === undefined) return;
    mkdirSync(this.sharedLedger, { recursive: true });
    for (const machine of this.machines) machine.mount(dirname(this.sharedLedger));
  }

  static async begin(seed: number, machines = 1): Promise<World> {
    const world = new World(seed, machines);
    process.chdir(world.home);
    const { intercept } = world.adversary;
    const pickupMs = world.#chance.oneOf([250, 250, 60_000, 700_000]);
    world.adversary.failing = world.#chance.oneOf([0, 0, 0, 0, 1, 2]);
    const processingMs = pickupMs + world.#chance.oneOf([2000, 2000, 120_000, 3_600_000]);
    await world.#serve({ directory: world.ours, intercept, logCount: LOG_COUNT, pickupMs, processingMs });
    await world.#serve({ directory: world.theirs, seed: 7, intercept: acceptSecondUpload, logCount: 0 });
    const server = world.network.servers[1] as Server;
    world.adversary.theirs = (incoming, outgoing) => void server.emit('request', incoming, outgoing);
    // Another system of each tenant submits a file, whose job the tool must leave alone. Without it, the list of jobs is
    // empty in some worlds, and does not show the tenant of the key.
    const isAlone = machines > 1 && new Chance(seed).happens(0.25);
    for (const key of isAlone ? ['their-private-key'] : [STRANGER_KEY, 'their-private-key'])
      await world.time.until(world.submitAsStranger(1, key));
    world.adversary.isClaimed = (job) => claimsIn(world).some((claim) => claim.job === job);
    world.adversary.kept = () => world.homes.flatMap(keptJobs);
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

  get homes(): readonly string[] {
    return this.machines.map(({ home }) => home);
  }

  /** The home of the first machine. */
  get home(): string {
    return this.machine().home;
  }

  machine(number = 0): Machine {
    const found = this.machines[number];
    if (found === undefined) throw new Error(`this world has no machine ${number}`);
    return found;
  }

  /** The directory of the ledger that the machines share; undefined for one machine, which has its own. */
  get sharedLedger(): string | undefined {
    return this.machines.length > 1 ? join(this.#directory, 'volume/ledger') : undefined;
  }

  /** The refresh directory that the machines have in common. */
  get sharedFolder(): string {
    return join(this.#directory, 'refresh');
  }

  /** Starts to note unflushed changes, so that machines can lose their power. */
  noteChanges(): void {
    for (const machine of this.machines) machine.noteChanges();
  }

  #losePower(machine: Machine): void {
    machine.losePower(this.time, (disk) => {
      runAs(undefined, () => disk?.lose(this.#chance.split()));
      this.adversary.recordsChanged();
    });
  }

  /** Returns the tenant whose keys a command has. */
  tenantOf(keys: Circumstances['keys']): string {
    return this.#services[keys === 'theirs' ? 1 : 0]?.tenants[0]?.id ?? '';
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
    return this.#running.length > 0;
  }

  get #running(): ToolProcess[] {
    return this.machines.flatMap(({ alive }) => [...alive.values()]);
  }

  /** Submits files as another system of the tenant. */
  async submitAsStranger(count: number, key = STRANGER_KEY): Promise<void> {
    await this.auditor.submit(key, count, (job) => this.adversary.strangers.add(job));
  }

  get auditor(): Auditor {
    return new Auditor(this.#bystander(), this.url);
  }

  /** Returns the first rows of a request file: enough for one upload, or for several. */
  requestFile(example: string): string {
    const lines = example.split('\n');
    return `${lines.slice(0, this.#chance.oneOf([9, 9, 2 * LIMITED_ROWS, lines.length - 1])).join('\n')}\n`;
  }

  writeFile(name: string, text: string, on = 0): void {
    writeFileSync(join(this.machine(on).home, name), text);
  }

  /** Runs a command to its end. It progresses only while somebody waits with `time.until`. */
  async start(argv: readonly string[], env: Readonly<Record<string, string>>, how: Circumstances): Promise<Ended> {
    const { on = 0 } = how;
    const machine = this.machine(on);
    await machine.outage;
    const pid = (this.#pids += 1);
    const { time, network, sharedLedger } = this;
    if (sharedLedger !== undefined && how.isUnmounted) machine.unmount();
    const chance = this.#chance.split();
    const started = new ToolProcess({
      argv,
      env: {
        SVC_BASE_URL: this.addressOf(how.at),
        SVC_PACING: 'off',
        ...(sharedLedger !== undefined && { SVC_LEDGER: join(machine.volume, 'ledger') }),
        ...env,
      },
      home: machine.home,
      on,
      time,
      network,
      chance,
      pid,
      // A lock in the shared folder may be that of another machine.
      isAlive: (other) => this.machines.some(({ alive }) => alive.has(other)),
      skewMs: how.skewMs ?? 0,
      ending: how.ending,
      fullAt: how.fullAt,
      fullFor: how.fullFor,
      disk: machine.disk,
      losePower: () => this.#losePower(machine),
    });
    started.hadCompany = this.isBusy;
    for (const other of this.#running) other.hadCompany = true;
    this.adversary.trouble(started, how.faults ?? [], chance.between(1, 1_000_000));
    machine.alive.set(pid, started);
    const ended = await started.run().finally(() => machine.alive.delete(pid));
    if (sharedLedger !== undefined && how.isUnmounted) machine.mount(dirname(sharedLedger));
    await machine.outage;
    return ended;
  }

  async end(): Promise<void> {
    for (const left of this.#running) left.die();
    for (const service of this.#services) await this.time.until(service.close());
    process.chdir(tmpdir());
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
