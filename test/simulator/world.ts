import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../src/sandbox/server.ts';
import type { RunningSandbox } from '../../src/sandbox/options.ts';
import { Adversary } from './adversary.ts';
import { type Actor, runAs } from './context.ts';
import { WorldNetwork } from './network.ts';
import { type Ended, type Ending, ToolProcess } from './process.ts';
import { Chance } from './random.ts';
import { Time } from './time.ts';

const START = Date.UTC(2026, 0, 5, 12);

/** No machine has processes of these numbers. */
const FIRST_PID = 5_000_000;

/** One world: its time, its network, a service on it, and a directory that processes live on one after another. */
export class World {
  readonly time = new Time(START);
  readonly home: string;
  readonly chance: Chance;
  readonly network: WorldNetwork;
  readonly #directory: string;
  readonly #alive = new Map<number, ToolProcess>();
  #pids = FIRST_PID;
  readonly adversary = new Adversary();
  /** The service's own address. */
  #url = '';
  #service: RunningSandbox | undefined;

  private constructor(seed: number) {
    this.chance = new Chance(seed);
    this.network = new WorldNetwork((wire, { process }) => {
      if (process instanceof ToolProcess) process.hasConnected(wire);
    });
    this.#directory = mkdtempSync(join(tmpdir(), 'svc-world-'));
    this.home = join(this.#directory, 'home');
  }

  static async begin(seed: number): Promise<World> {
    const world = new World(seed);
    mkdirSync(world.home);
    process.chdir(world.home);
    const { time, network, chance } = world;
    const actor: Actor = { time, network, chance: chance.split(), process: undefined };
    const { intercept } = world.adversary;
    const options = { directory: world.serviceDirectory, clock: time, intercept, logCount: 0 };
    world.#service = await runAs(actor, () => time.until(startSandbox(options)));
    world.#url = world.#service.url;
    return world;
  }

  /** Where the service keeps what it knows. */
  get serviceDirectory(): string {
    return join(this.#directory, 'service');
  }

  writeFile(name: string, text: string): void {
    writeFileSync(join(this.home, name), text);
  }

  /** Starts a command line. The world goes on only while somebody waits in its time. */
  start(argv: readonly string[], { env, faults = [], ending }: Circumstances): Promise<Ended> {
    const pid = (this.#pids += 1);
    const { home, time, network } = this;
    const chance = this.chance.split();
    const started = new ToolProcess({
      argv,
      env: { SVC_BASE_URL: this.#url, SVC_PACING: 'off', ...env },
      home,
      time,
      network,
      chance,
      pid,
      ending,
      isAlive: (other) => this.#alive.has(other),
    });
    this.adversary.trouble(started, faults, chance.between(1, 1_000_000));
    this.#alive.set(pid, started);
    return started.run().finally(() => this.#alive.delete(pid));
  }

  async end(): Promise<void> {
    if (this.#service !== undefined) await this.time.until(this.#service.close());
    process.chdir(tmpdir());
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** What a process is started in. */
export interface Circumstances {
  readonly env: Readonly<Record<string, string>>;
  readonly faults?: readonly string[];
  readonly ending?: Ending | undefined;
}
