import type { Chance } from '../../support/chance.ts';
import type { Plant } from './mistakes.ts';
import { abandonUnpaid, abandonUnseen } from './operator.ts';
import { command } from './protocol.ts';
import {
  DAY,
  type Disk,
  type Ending,
  HOUR,
  JobList,
  type Machine,
  type Order,
  type Response,
  type Row,
  type Step,
} from './types.ts';
import { World } from './world.ts';

/** What happened in the histories of a check, which ends with the first problem. */
export interface Tally {
  histories: number;
  steps: number;
  kills: number;
  jobs: number;
  accepted: number;
  readonly counts: Record<string, number>;
  finding?: Finding;
}

export interface Finding {
  readonly seed: number;
  /** The events of the history; the last one is the problem. */
  readonly log: readonly string[];
}

interface Told {
  readonly plant?: Plant;
  /** Whether rows may be of one token for several merchants. */
  readonly merchants?: boolean;
  readonly length?: number;
}

/** Runs a number of random histories from a seed on, until one has a problem. A seed always makes the same history. */
export function check(seed: number, histories: number, options: Told = {}): Tally {
  const tally: Tally = { histories: 0, steps: 0, kills: 0, jobs: 0, accepted: 0, counts: {} };
  for (let own = seed; own < seed + histories && tally.finding === undefined; own += 1) {
    const world = runHistory(own, options);
    tally.histories += 1;
    tally.steps += world.steps;
    tally.kills += world.kills;
    tally.jobs += world.service.jobs.size;
    for (const { accepted } of world.service.jobs.values()) if (accepted !== Infinity) tally.accepted += 1;
    for (const [what, count] of Object.entries(world.counts)) tally.counts[what] = (tally.counts[what] ?? 0) + count;
    if (world.problems.length > 0) tally.finding = { seed: own, log: world.log };
  }
  return tally;
}

/** Runs one history: machines with faults for a while, then one machine without faults until every row is settled. */
function runHistory(seed: number, { plant, merchants, length = 1 }: Told): World {
  const world = new World(seed, { plant, merchants });
  const { random } = world;
  const files = drawFiles(random);
  const machines = drawMachines(random);
  const budget = random.between(40, 440) * length;
  for (let step = 0; step < budget && world.problems.length === 0; step += 1) {
    const ready = machines.filter((machine) => machine.wake <= world.now && mayBegin(machine, machines));
    if (ready.length === 0 || random.happens(0.25)) letTimePass(world);
    if (ready.length > 0) stepOf(world, random.oneOf(ready), { files, machines });
  }
  if (world.problems.length === 0) settleAll(world, machines, files);
  for (const place of ['shared', 'local-A']) requireOneClaimAJob(world, place);
  return world;
}

interface Cast {
  readonly files: readonly Omit<Order, 'wait'>[];
  readonly machines: readonly Machine[];
}

function drawFiles(random: Chance): Omit<Order, 'wait'>[] {
  const universe = random.between(2, 10);
  const cycles = random.happens(0.3) ? ['one', 'two'] : ['one'];
  const someRows = (): Row[] =>
    Array.from({ length: random.between(1, universe + 2) }, () => random.between(0, universe - 1));
  return Array.from({ length: random.between(1, 3) }, () => ({ rows: someRows(), cycle: random.oneOf(cycles) }));
}

/**
 * Draws up to 8 machines. In some histories the first two are processes of one machine that begins with a ledger of its
 * own; the others come when it has moved. Some machines may only read.
 */
function drawMachines(random: Chance): Machine[] {
  const count = random.between(1, 8);
  const isMoving = random.happens(0.25);
  const directories = new Map<string, Machine['directory']>();
  return Array.from({ length: isMoving ? Math.max(count, 2) : count }, (_, index) => {
    const name = 'ABCDEFGH'[index] ?? 'A';
    const home = isMoving && index === 1 ? 'A' : name;
    const directory = directories.get(home) ?? { name: home, disk: freshDisk(), kept: [], locks: new Map() };
    directories.set(home, directory);
    return {
      name,
      clock: random.between(0, 2 * HOUR) - HOUR,
      mayWrite: index < 2 || !random.happens(0.15),
      ledger: isMoving && home === 'A' ? 'local' : 'shared',
      directory,
      running: undefined,
      wake: 0,
    };
  });
}

/** A machine that never knew the local ledger begins after it moved: two ledgers know nothing of each other. */
function mayBegin(machine: Machine, machines: readonly Machine[]): boolean {
  const [first, second] = machines;
  const isMoving = second !== undefined && first?.directory === second.directory;
  return !isMoving || machine.directory === first.directory || first.directory.disk.at === 'shared';
}

function freshDisk(): Disk {
  return { entries: {}, parts: {} };
}

function letTimePass(world: World): void {
  const { random } = world;
  const dice = random.next();
  if (dice < 0.4) world.pass(random.between(1, 5));
  else if (dice < 0.85) return;
  else if (dice < 0.97) world.pass(random.between(10, 109));
  else if (dice < 0.995) world.pass(random.between(0, DAY - 1));
  else world.pass(8 * DAY);
}

/** One step of one machine: it begins a command, goes on with it, is killed, or its directory is lost or restored. */
function stepOf(world: World, machine: Machine, { files, machines }: Cast): void {
  const { random } = world;
  world.steps += 1;
  if (machine.running === undefined) {
    if (machine.ledger === 'local' && random.happens(0.2)) machine.ledger = 'shared';
    if (random.happens(0.1)) restore(world, machine, machines);
    const picked = random.oneOf(files);
    begin(world, machine, { cycle: picked.cycle, rows: world.updated(picked), wait: random.happens(0.4) });
  }
  if (random.happens(0.02)) return kill(world, machine);
  advance(world, machine);
  if (random.happens(0.02)) kill(world, machine);
}

function begin(world: World, machine: Machine, order: Order): void {
  const steps = command(world, machine, order);
  machine.running = { order, steps, started: world.now, response: undefined, unanswered: false };
  world.note(`${machine.name} begins ${order.cycle} ${order.rows.join(',')}${order.wait ? ' --wait' : ''}`);
}

/** Lets a machine do its next step. Returns how its command ended, if it did. */
function advance(world: World, machine: Machine): Ending | undefined {
  const { running } = machine;
  if (running === undefined) return undefined;
  const { done, value } = running.steps.next(running.response);
  if (done) {
    machine.running = undefined;
    unlock(machine);
    judge(world, machine, running, value);
    if (!world.calm && value.code === 9) abandonUnseen(world, machine, running.order, value);
    return value;
  }
  running.response = undefined;
  if (value.what === 'sleep') {
    machine.wake = world.now + value.minutes;
    return undefined;
  }
  running.response = world.perform(machine, value);
  running.unanswered ||= isUnanswered(world, value, running.response);
  if (value.what === 'disk') keep(machine);
  else
    world.note(
      `${machine.name} ${value.what} ${'name' in value ? value.name : 'job' in value ? value.job : ''} -> ${textOf(running.response)}`,
    );
  return undefined;
}

/** Tells whether a request got no response, or one that hides an object which the store has. */
function isUnanswered(world: World, step: Step, response: Response): boolean {
  if (step.what === 'get' && response === 'missing') return world.store.objects.has(step.name);
  return response === 'lost' || response === 'server error';
}

function keep({ directory: { disk, kept } }: Machine): void {
  kept.push(structuredClone(disk));
  if (kept.length > 12) kept.shift();
}

function textOf(response: Response): string {
  if (response instanceof JobList) return [...response].map(([id, status]) => `${id}:${status}`).join(' ');
  return typeof response === 'object' ? JSON.stringify(response) : String(response);
}

function kill(world: World, machine: Machine): void {
  world.kills += 1;
  world.note(`${machine.name} is killed`);
  machine.running = undefined;
  unlock(machine);
}

/** The locks of a process end with it. */
function unlock(machine: Machine): void {
  const { locks } = machine.directory;
  for (const [job, holder] of locks) if (holder === machine) locks.delete(job);
}

/** A state directory is wiped, or restored from an earlier copy, while no command uses it. */
function restore(world: World, { name, directory }: Machine, machines: readonly Machine[]): void {
  const { random } = world;
  const users = machines.filter((each) => each.directory === directory);
  // A local ledger that is restored forgets claims: only a list of the service's jobs can show that.
  if (users.some(({ running, ledger }) => running !== undefined || ledger === 'local')) return;
  if (random.happens(0.5)) directory.disk = freshDisk();
  else if (directory.kept.length > 0) directory.disk = structuredClone(random.oneOf(directory.kept));
  world.restored.add(directory.name);
  world.count('directories lost or restored');
  world.note(`${name} has an earlier or empty state directory`);
}

/** Compares the exit code of a command with what the service knows and with what the command read. */
function judge(
  world: World,
  machine: Machine,
  { order, started, unanswered }: NonNullable<Machine['running']>,
  { code, seen }: Ending,
): void {
  world.count(`exit ${code}`);
  world.note(`${machine.name} ends with ${code}`);
  const { rows, cycle, wait } = order;
  const isPaidFor = (row: Row): boolean =>
    [...world.service.jobs.values()].some(
      (job) =>
        job.accepted <= world.now &&
        job.cycle === cycle &&
        job.rows.includes(row) &&
        // A job that failed before the command began is no success.
        !(job.fails && job.accepted + job.takes < started - 100) &&
        (!wait || job.accepted + job.takes <= world.now),
    );
  if (code === 0)
    for (const row of rows)
      if (row < 100 && !isPaidFor(row))
        world.problem(`exit 0, but row ${row} of ${cycle} is not ${wait ? 'done' : 'uploaded'}`);
  const statuses = new Set<Response>(['pending', 'processing', 'stored', 'completed']);
  if (code === 11 && ![...seen.values()].some((status) => statuses.has(status)))
    world.problem('exit 11, but nothing was seen');
  if (code === 8 && !unanswered) world.problem('exit 8, but every request was answered');
  if (code === 3 && machine.mayWrite && machine.directory.name !== 'A')
    world.problem('exit 3, but nothing forbids the ledger');
}

/** The faults end: one machine repeats the same commands. Afterwards each row was sent, once. */
function settleAll(world: World, machines: readonly Machine[], files: readonly Omit<Order, 'wait'>[]): void {
  const { random } = world;
  world.calm = true;
  for (const machine of machines) {
    if (machine.running) kill(world, machine);
    machine.ledger = 'shared';
  }
  const writers = machines.filter((machine) => machine.mayWrite && mayBegin(machine, machines));
  const machine = random.oneOf(writers);
  if (random.happens(0.5)) restore(world, machine, machines);
  for (const file of files) settleFile(world, machine, file);
}

function settleFile(world: World, machine: Machine, file: Omit<Order, 'wait'>): void {
  let code: Ending['code'] | undefined;
  for (let attempt = 0; attempt < 24 && code !== 0; attempt += 1) {
    world.pass(attempt < 8 ? 30 : DAY);
    code = finish(world, machine, { ...file, wait: true });
    if (world.problems.length > 0) return;
    if (code === 9) abandonUnpaid(world, machine, file.cycle);
  }
  const jobs = [...world.service.jobs.values()].filter((job) => job.cycle === file.cycle && world.service.isPaid(job));
  const lost = file.rows.filter((row) => !jobs.some((job) => job.accepted <= world.now && job.rows.includes(row)));
  if (lost.length > 0) world.problem(`rows ${lost.join(',')} of ${file.cycle} were never sent (exit ${code})`);
  else if (code !== 0 && code !== 9)
    world.problem(`all rows of ${file.cycle} are sent, and the exit code stays ${code}`);
}

function finish(world: World, machine: Machine, order: Order): Ending['code'] {
  begin(world, machine, order);
  for (;;) {
    world.steps += 1;
    const ending = advance(world, machine);
    if (ending) return ending.code;
    if (machine.wake > world.now) world.pass(machine.wake - world.now);
  }
}

/** Checks that no job has two claims at once. A claim that follows the release of its job stands again. */
function requireOneClaimAJob(world: World, place: string): void {
  const claimed = new Set<string>();
  for (const [name, { body }] of world.store.objects) {
    if (!name.startsWith(`${place}/`) || !('job' in body) || body.kind === 'done') continue;
    if (body.kind === 'claim' && claimed.has(body.job)) world.problem('a job is named by two claims');
    if (body.kind === 'claim') claimed.add(body.job);
    else claimed.delete(body.job);
  }
}
