import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { ACCEPT_SECOND_PUT } from '../../src/emulator/faults/fault.ts';
import { uploadsTaken } from '../au/support.ts';
import { BUCKET } from '../support/bucket-signature.ts';
import { Chance } from '../support/chance.ts';
import { FakeClock } from '../support/clock.ts';
import { BucketServer } from '../support/bucket-server.ts';
import type { Interceptor } from '../../src/emulator/options.ts';
import { type HereResult, succeeded, svcIn } from '../support/run-here.ts';
import { startSandbox } from '../support/sandbox.ts';
import { dying, type NameDeath } from '../support/killer.ts';
import { passTime } from '../support/passing-time.ts';
import { finished, type Finished, Home, isAlive } from '../support/svc.ts';
import { sharedLedger } from '../au/ledger/shared-ledger.ts';

const SOAK = process.env['SOAK'] !== undefined;
const SEEDS = numberOr('SEEDS', SOAK ? 25 : 1);
const KILLS = numberOr('KILLS', SOAK ? 150 : 4);
/** The number of requests of a submission, to the service and to the bucket, up to the results. */
const REQUESTS = 36;
/** The number of names of files that a submission gives and takes, by the place of its ledger. */
const NAMES = { directory: 78, 'state directory': 47 } as const;
/** Which of these names a submission is killed at. In a soak, it is each of them. */
const EACH_NAME = numberOr('EACH_NAME', SOAK ? 1 : 26);
const MACHINES = SOAK ? 8 : 3;
const MINUTE_MS = 60_000;

const PRIVATE_KEY = 'sandbox-private-key';
const HEADER = 'token,expiration_year,expiration_month,merchant_id\n';
const SUBMIT = 'au submit tokens.csv --cycle c --wait -o json';

/** The place of a ledger: a directory or a bucket that machines share, or the state directory of one machine alone. */
type Kind = 'directory' | 'bucket' | 'state directory';

/** Returns a number of the environment, or the usual one. */
function numberOr(name: string, usual: number): number {
  return Number(process.env[name] ?? usual);
}

const letPass: Interceptor = (_incoming, _outgoing, proceed) => proceed();

function shuffled<T>(values: readonly T[], chance: Chance): T[] {
  const left = [...values];
  return values.flatMap(() => left.splice(chance.between(0, left.length - 1), 1));
}

/** A tenant with a sandbox as its service, and a place for the ledger that its machines share. */
class Tenant {
  readonly #directory = mkdtempSync(join(tmpdir(), 'svc-shared-ledger-'));
  readonly #machines: Machine[] = [];
  readonly #kind: Kind;
  #sandbox: RunningSandbox | undefined;
  bucket: BucketServer | undefined;
  readonly #clock = new FakeClock({ start: Date.now(), auto: false, runs: true });
  /** How far the service's clock is ahead. */
  #ahead = 0;
  /** The number of requests and responses. */
  #exchanges = 0;
  /** Sees each request to the service and to the bucket, and lets it pass. */
  onRequest: Interceptor = letPass;

  private constructor(kind: Kind) {
    this.#kind = kind;
  }

  static async open(kind: Kind = 'directory'): Promise<Tenant> {
    const tenant = new Tenant(kind);
    tenant.#sandbox = await startSandbox({
      directory: join(tenant.#directory, 'sandbox'),
      processingMs: 0,
      pickupMs: 0,
      logCount: 0,
      clock: { now: () => tenant.#clock.now() + tenant.#ahead },
      intercept: (incoming, outgoing, proceed) => {
        // The store accepts a second upload, so that the test can count it.
        incoming.headers[ACCEPT_SECOND_PUT] = 'yes';
        tenant.#exchange(incoming, outgoing, proceed);
      },
    });
    sharedLedger(join(tenant.#directory, 'ledger'));
    if (kind === 'bucket') {
      tenant.bucket = await BucketServer.start();
      tenant.bucket.hook = (...exchange) => tenant.#exchange(...exchange);
    }
    onTestFinished(() => tenant.close());
    return tenant;
  }

  #exchange(...[incoming, outgoing, proceed]: Parameters<Interceptor>): void {
    this.#exchanges += 1;
    outgoing.on('close', () => (this.#exchanges += 1));
    this.onRequest(incoming, outgoing, proceed);
  }

  /** The setting of the ledger, which is empty for the state directory. */
  get ledger(): string {
    if (this.#kind === 'state directory') return '';
    return this.bucket === undefined ? join(this.#directory, 'ledger') : `s3://${BUCKET.name}/shared`;
  }

  /** Opens a machine with an empty state directory that has this request file. */
  machine(request: string = exampleRequestFile(), env: Readonly<Record<string, string>> = {}): Machine {
    const home = new Home();
    writeFileSync(home.file('tokens.csv'), request);
    const machine = new Machine(home, (work) => passTime(this.#clock, work(this.#clock), () => this.#exchanges), {
      SVC_BASE_URL: this.#sandbox?.url ?? '',
      SVC_PRIVATE_API_KEY: PRIVATE_KEY,
      SVC_PACING: 'off',
      SVC_LEDGER: this.ledger,
      ...this.bucket?.environment,
      ...env,
    });
    this.#machines.push(machine);
    return machine;
  }

  /** Kills a machine at one of its requests, by number, or at the upload. */
  killAt(child: ChildProcess, { request, death }: RequestDeath) {
    let seen = 0;
    this.onRequest = (incoming, outgoing, proceed) => {
      seen += 1;
      const isUpload = incoming.method === 'PUT' && UPLOAD.test(incoming.url ?? '');
      if (request === 'upload' ? !isUpload : seen !== request) return proceed();
      if (death === 'answered') {
        outgoing.on('finish', () => child.kill('SIGKILL'));
        return proceed();
      }
      child.kill('SIGKILL');
      if (death === 'arrived') proceed();
      else incoming.socket.destroy();
    };
  }

  pass(minutes: number): void {
    this.#ahead += minutes * MINUTE_MS;
  }

  /** Returns how often the service received each row, by token and merchant, in all files of all jobs. */
  received(): Map<string, number> {
    const sandbox = join(this.#directory, 'sandbox');
    const files = readdirSync(sandbox, { recursive: true }).map(String);
    const counts = new Map<string, number>();
    for (const job of uploadsTaken(sandbox)) {
      const file = files.find((name) => basename(name) === `request-${job}.csv`);
      for (const row of rowsOf(readFileSync(join(sandbox, file ?? ''), 'utf8')))
        counts.set(row, (counts.get(row) ?? 0) + 1);
    }
    return counts;
  }

  uploads(): number {
    return uploadsTaken(join(this.#directory, 'sandbox')).length;
  }

  /** Ends the tenant, unless it has ended. */
  async close(): Promise<void> {
    await this.#sandbox?.close();
    await this.bucket?.close();
    this.#sandbox = undefined;
    this.bucket = undefined;
    for (const machine of this.#machines) machine.end();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Runs a command with the clock of its tenant, which moves on whenever nothing but a pause is under way. */
type InTime = (work: (clock: FakeClock) => Promise<HereResult>) => Promise<HereResult>;

/** A machine that submits for the tenant. */
class Machine {
  readonly #children: ChildProcess[] = [];
  readonly #inTime: InTime;
  readonly home: Home;
  readonly env: Readonly<Record<string, string>>;

  constructor(home: Home, inTime: InTime, env: Readonly<Record<string, string>>) {
    this.home = home;
    this.#inTime = inTime;
    this.env = env;
  }

  /** Runs a command in this process, whose pauses take no time. Machines that race or die are processes. */
  svc(line: string, env: Readonly<Record<string, string>> = {}): Promise<HereResult> {
    const options = { env: { ...this.env, ...env }, isAlive };
    return this.#inTime((clock) => svcIn(this.home.path, line.split(' '), { ...options, clock }));
  }

  run(line: string): Promise<Finished> {
    const child = this.start(line);
    child.stdin.end();
    return finished(child);
  }

  start(line: string, env: Readonly<Record<string, string>> = {}) {
    const child = this.home.start(line.split(' '), { env: { ...this.env, ...env } });
    this.#children.push(child);
    return child;
  }

  /** Ends what a failed test left running. */
  end(): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }

  results(): string {
    return readFileSync(this.home.file('tokens.results.csv'), 'utf8');
  }

  /** Loses the state directory, the cache and the results. */
  loseState(): void {
    rmSync(this.home.file('.local'), { recursive: true, force: true });
    rmSync(this.home.file('.cache'), { recursive: true, force: true });
    rmSync(this.home.file('tokens.results.csv'), { force: true });
  }
}

/** Returns the rows of a request file as the service bills them: a UUID in either case is one token. */
function rowsOf(request: string): string[] {
  const lines = request.trimEnd().split('\n').slice(1);
  return lines.map((line) => {
    const [token = '', , , merchant = ''] = line.split(',');
    return `${token.toLowerCase()},${merchant}`;
  });
}

function fileOf(lines: readonly string[]): string {
  return HEADER + lines.map((line) => `${line}\n`).join('');
}

const LINES = exampleRequestFile().trimEnd().split('\n').slice(1);

/** Returns the lines of rows whose tokens are UUIDs that the seed makes. */
function linesOf(chance: Chance, count: number): string[] {
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => chance.between(0, 15).toString(16)).join('');
  return Array.from({ length: count }, () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)},,,`);
}

/** The request files of machines that start at the same moment. */
const RACES: readonly {
  readonly name: string;
  /** The codes with which the machines end once all have settled. */
  readonly codes: readonly number[];
  /** Whether every row is in each file. */
  readonly isWhole: boolean;
  readonly requests: (lines: readonly string[], chance: Chance) => string[];
}[] = [
  {
    name: 'the same file',
    codes: [0],
    isWhole: true,
    requests: (lines) => Array.from({ length: MACHINES }, () => fileOf(lines)),
  },
  {
    name: 'files that share rows',
    codes: [0],
    isWhole: false,
    requests: (lines, chance) =>
      Array.from({ length: MACHINES }, () => {
        const begin = chance.between(0, lines.length - 11);
        return fileOf(lines.slice(begin, begin + chance.between(10, 29)));
      }),
  },
  {
    name: 'the same rows in another order, with repeats and in capitals',
    codes: [0],
    isWhole: true,
    requests: (lines, chance) =>
      Array.from({ length: MACHINES }, () => {
        const repeated = [...lines, chance.oneOf(lines), chance.oneOf(lines)];
        return fileOf(shuffled(repeated, chance).map((line) => (chance.happens(0.5) ? line.toUpperCase() : line)));
      }),
  },
];

/** Runs the command on all machines at once, then again until none of them has anything left to do. */
async function race(machines: readonly Machine[]): Promise<{ first: (number | null)[]; last: Finished[] }> {
  const all = (): Promise<Finished[]> => Promise.all(machines.map((machine) => machine.run(SUBMIT)));
  let last = await all();
  const first = last.map(({ code }) => code);
  for (let round = 0; round < 5 && last.some(({ code }) => code === 11); round += 1) last = await all();
  return { first, last };
}

function once(lines: readonly string[]): Map<string, number> {
  return new Map(rowsOf(fileOf(lines)).map((row) => [row, 1]));
}

describe('machines that share a ledger', () => {
  it.each(['directory', 'bucket'] as const)(
    'R58: the second machine goes on with the job of the first and has the same results, shared in a %s',
    async (kind) => {
      const tenant = await Tenant.open(kind);
      const [first, second] = [tenant.machine(), tenant.machine()];
      for (const machine of [first, second]) {
        succeeded(await machine.svc(SUBMIT));
      }
      expect(tenant.received()).toEqual(once(LINES));
      expect(second.results()).toBe(first.results());
    },
  );

  const races = RACES.flatMap((one, at) =>
    (SOAK || at === 0 ? (['directory', 'bucket'] as const) : (['directory'] as const)).flatMap((kind) =>
      Array.from({ length: SEEDS }, (_, seed) => ({ ...one, kind, seed: seed + 1 })),
    ),
  );
  it.each(races)('R58: machines at once send no row twice: $name, shared in a $kind, seed $seed', async (one) => {
    const chance = new Chance(one.seed);
    const tenant = await Tenant.open(one.kind);
    const lines = linesOf(chance, 40);
    const machines = one.requests(lines, chance).map((request) => tenant.machine(request));
    const { first, last } = await race(machines);
    const shown = last.map(({ code, stderr }) => `${code}: ${stderr}`).join('\n');
    expect(
      first.filter((code) => ![...one.codes, 11].includes(code ?? -1)),
      shown,
    ).toEqual([]);
    expect(
      last.filter(({ code }) => !one.codes.includes(code ?? -1)),
      shown,
    ).toEqual([]);
    const received = tenant.received();
    expect(received).toEqual(new Map([...(one.isWhole ? once(lines) : received).keys()].map((row) => [row, 1])));
    const sent = machines.filter((_, at) => last[at]?.code === 0);
    expect(sent.length).toBeGreaterThan(0);
    for (const { home } of sent)
      for (const row of rowsOf(readFileSync(home.file('tokens.csv'), 'utf8'))) expect(received.get(row)).toBe(1);
  });

  it.each(Array.from({ length: SEEDS }, (_, seed) => seed + 1))(
    'R96: machines at once send no row where the bucket keeps versions and ignores the condition, seed %i',
    async (seed) => {
      const tenant = await Tenant.open('bucket');
      if (tenant.bucket) tenant.bucket.isVersioned = true;
      const request = fileOf(linesOf(new Chance(seed), 40));
      const machines = Array.from({ length: MACHINES }, () => tenant.machine(request));
      for (const round of [1, 2])
        for (const { code, stderr } of await Promise.all(machines.map((machine) => machine.run(SUBMIT))))
          expect(code, `round ${round}: ${stderr}`).toBe(3);
      expect(tenant.uploads()).toBe(0);
    },
  );

  it.each(['directory', 'bucket'] as const)(
    'R84: a machine that loses its state directory between commands has the results and sends nothing again, shared in a %s',
    async (kind) => {
      const tenant = await Tenant.open(kind);
      const machine = tenant.machine();
      for (const line of ['au submit tokens.csv --cycle c', SUBMIT, SUBMIT]) {
        machine.loseState();
        succeeded(await machine.svc(line));
      }
      expect(machine.results().split('\n').length).toBeGreaterThan(30);
      expect(tenant.received()).toEqual(once(LINES));
    },
  );

  it('R58: a machine that used a ledger sends nothing without it, or with another one', async () => {
    const tenant = await Tenant.open();
    const machine = tenant.machine();
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    writeFileSync(machine.home.file('tokens.csv'), fileOf(linesOf(new Chance(1), 3)));
    for (const ledger of ['', machine.home.file('other'), 's3://logs/other']) {
      const { code, stderr } = await machine.svc('au submit tokens.csv --cycle c', {
        SVC_LEDGER: ledger,
        AWS_ACCESS_KEY_ID: 'id',
        AWS_SECRET_ACCESS_KEY: 'secret',
      });
      expect(code, stderr).toBe(3);
      expect(stderr).toContain(tenant.ledger);
    }
    expect(tenant.uploads()).toBe(1);
    expect(await machine.svc('au submit tokens.csv --cycle c')).toMatchObject({ code: 0 });
  });

  it('R58: a job of a machine without the ledger stops the others until that machine has entered it', async () => {
    const tenant = await Tenant.open();
    const stranger = tenant.machine();
    expect(await stranger.svc(SUBMIT, { SVC_LEDGER: '' })).toMatchObject({ code: 0 });
    const [same, part] = [tenant.machine(), tenant.machine(fileOf(LINES.slice(0, 5)))];
    const jobs = await stranger.svc('au jobs -o json --jq .[].id');
    for (const machine of [same, part]) {
      const { code, stderr } = await machine.svc(SUBMIT);
      expect(code, stderr).toBe(9);
      expect(stderr).toContain(jobs.stdout.trim().replaceAll('"', ''));
    }
    expect(await stranger.svc('au resume')).toMatchObject({ code: 0 });
    expect(await same.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(await part.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(same.results()).toBe(stranger.results());
    const own = new Set(LINES.slice(0, 5).map((line) => line.split(',')[0] ?? ''));
    const lines = stranger
      .results()
      .split('\n')
      .filter((line) => own.has(line.split(',')[0] ?? ''));
    expect(part.results().split('\n').slice(1, -1)).toEqual(lines);
    expect(tenant.uploads()).toBe(1);
  });

  it('R58: submitting the same file again enters what the machine sent without the ledger', async () => {
    const tenant = await Tenant.open();
    const stranger = tenant.machine();
    expect(await stranger.svc(SUBMIT, { SVC_LEDGER: '' })).toMatchObject({ code: 0 });
    expect(await stranger.svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(await tenant.machine().svc(SUBMIT)).toMatchObject({ code: 0 });
    expect(tenant.uploads()).toBe(1);
  });

  it.each(['directory', 'bucket'] as const)(
    'R85: new tokens of the results are not sent in the cycle that made them, shared in a %s',
    async (kind) => {
      const tenant = await Tenant.open(kind);
      const first = tenant.machine();
      expect(await first.svc(SUBMIT)).toMatchObject({ code: 0 });
      const fresh = newTokensIn(first.results());
      expect(fresh.length).toBeGreaterThan(5);
      const applied = fileOf(fresh.map((token) => `${token},,,`));
      writeFileSync(first.home.file('tokens.csv'), applied);
      rmSync(first.home.file('tokens.results.csv'));
      const capitals = applied.replaceAll(/^.*-.*$/gm, (line) => line.toUpperCase());
      for (const machine of [first, tenant.machine(applied), tenant.machine(capitals)]) {
        const { stderr } = succeeded(await machine.svc(SUBMIT));
        expect(stderr).toContain(
          `${fresh.length} of ${fresh.length} rows of tokens.csv have tokens that results of cycle c made`,
        );
      }
      expect(tenant.uploads()).toBe(1);
      expect(await first.svc('au submit tokens.csv --cycle d')).toMatchObject({ code: 0 });
    },
  );
});

/** Returns the new tokens in a file of results. */
function newTokensIn(results: string): string[] {
  const [header = '', ...lines] = results.trimEnd().split('\n');
  const at = header.split(',').indexOf('new_token');
  return lines.flatMap((line) => line.split(',')[at] || []);
}

/** The address of an upload. */
const UPLOAD = /^\/store\/requests\//;

/** What becomes of the request at which a machine dies. */
const DEATHS = ['lost', 'arrived', 'answered'] as const;

describe('a machine that dies', () => {
  it(`R84: a machine without a state directory finishes what another one began that was killed, at ${KILLS} requests`, async () => {
    const outcomes: string[] = [];
    for (let seed = 0; seed < KILLS; seed += 1) {
      const death = new Chance(seed + 1).oneOf(DEATHS);
      // One of them is between the claim and the end of the upload, however many requests come before.
      const at: RequestDeath =
        seed === 0 ? { request: 'upload', death: 'lost' } : { request: 1 + ((seed * 7) % REQUESTS), death };
      outcomes.push(await survives('bucket', at));
    }
    expect(outcomes).toHaveLength(KILLS);
    expect(new Set(outcomes)).toContain('11, 0 uploads; 9, 0 uploads; 0, 1 upload');
  });

  it.each(['directory', 'state directory'] as const)(
    'R84: what a machine began is finished though it was killed before or after it gave a name to a file, with a ledger in a %s',
    async (kind) => {
      const names = Array.from({ length: NAMES[kind] }, (_, at) => at + 1).filter((name) => name % EACH_NAME === 0);
      const deaths = names.flatMap((name) => (['before', 'after'] as const).map((death) => ({ name, death })));
      const outcomes: string[] = [];
      for (const death of deaths) outcomes.push(await survives(kind, death));
      expect(outcomes).toHaveLength(deaths.length);
      expect(outcomes.length).toBeGreaterThan(1);
    },
  );
});

interface RequestDeath {
  readonly request: number | 'upload';
  readonly death: (typeof DEATHS)[number];
}

/**
 * Kills a submission and repeats it on a machine with an empty state directory, or on the same one if no other has the ledger:
 * at once, and if the file was not sent, after its job can be proven gone. Then the first machine repeats it too. Returns how
 * the repeated commands ended.
 */
async function survives(kind: Kind, death: RequestDeath | NameDeath): Promise<string> {
  const tenant = await Tenant.open(kind);
  const first = tenant.machine();
  const second = kind === 'state directory' ? first : tenant.machine();
  const child = first.start(SUBMIT, 'name' in death ? dying(first.home, death) : {});
  if (!('name' in death)) tenant.killAt(child, death);
  await finished(child);
  tenant.onRequest = letPass;
  // The machine that sent the last bytes waits until its job shows the file or is gone.
  const line = second === first ? `${SUBMIT} --timeout 30s` : SUBMIT;
  const { steps, stderr } = await repeatUntilSent(tenant, second, line);
  expect(
    ['0, 1 upload', '9, 0 uploads; 9, 0 uploads; 0, 1 upload', '11, 0 uploads; 9, 0 uploads; 0, 1 upload'],
    stderr,
  ).toContain(steps.join('; '));
  succeeded(await first.svc(SUBMIT));
  expect(first.results()).toBe(second.results());
  expect(tenant.received()).toEqual(once(LINES));
  // Hundreds of them in one test would leave as many servers and directories open.
  await tenant.close();
  return steps.join('; ');
}

/** Runs the command at once, before and after the time from which an unused job can be proven gone, until it ends with 0. */
async function repeatUntilSent(
  tenant: Tenant,
  machine: Machine,
  line: string,
): Promise<{ steps: string[]; stderr: string }> {
  const steps: string[] = [];
  let stderr = '';
  for (const minutes of [0, 70, 10]) {
    tenant.pass(minutes);
    const { code, stderr: text } = await machine.svc(line);
    const uploads = tenant.uploads();
    steps.push(`${code}, ${uploads} ${uploads === 1 ? 'upload' : 'uploads'}`);
    stderr += text;
    if (code === 0) break;
  }
  return { steps, stderr };
}

/** What can happen to the entries of a cycle, of which there are six. */
const DAMAGE: readonly { readonly name: string; readonly damage: (cycle: string) => void }[] = [
  { name: 'an entry is removed', damage: (cycle) => rmSync(entryOf(cycle, 2)) },
  { name: 'the first entry is removed', damage: (cycle) => rmSync(entryOf(cycle, 1)) },
  {
    name: 'an entry is changed',
    damage: (cycle) => {
      const text = readFileSync(entryOf(cycle, 1), 'utf8');
      writeFileSync(entryOf(cycle, 1), text.replace('"rows":40', '"rows":4'));
    },
  },
  {
    name: 'two entries change places',
    damage: (cycle) => {
      const [third, fourth] = [readFileSync(entryOf(cycle, 3)), readFileSync(entryOf(cycle, 4))];
      writeFileSync(entryOf(cycle, 3), fourth);
      writeFileSync(entryOf(cycle, 4), third);
    },
  },
  { name: 'an entry is cut', damage: (cycle) => writeFileSync(entryOf(cycle, 6), '{"version":1') },
  { name: 'the sets of rows are removed', damage: (cycle) => rmSync(join(cycle, 'rows'), { recursive: true }) },
];

function entryOf(cycle: string, number: number): string {
  return join(cycle, `0000000${number}.json`);
}

describe('a damaged ledger', () => {
  it('R83: each damage to a ledger ends the command of an empty machine with 3, and nothing is sent', async () => {
    const tenant = await Tenant.open();
    for (const lines of [LINES, linesOf(new Chance(3), 3)]) {
      succeeded(await tenant.machine(fileOf(lines)).svc(SUBMIT));
    }
    const [name = ''] = readdirSync(tenant.ledger);
    const cycle = join(tenant.ledger, name, 'cycles', 'c');
    expect(readdirSync(cycle)).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((number) => basename(entryOf(cycle, number))),
      'rows',
    ]);
    cpSync(cycle, `${cycle}.whole`, { recursive: true });
    const request = fileOf(linesOf(new Chance(5), 3));
    for (const { name: what, damage } of DAMAGE) {
      damage(cycle);
      const { code, stderr } = await tenant.machine(request).svc(SUBMIT);
      expect(code, `${what}: ${stderr}`).toBe(3);
      expect(stderr, what).toMatch(/Never delete the ledger|may remove exactly this object/);
      rmSync(cycle, { recursive: true });
      cpSync(`${cycle}.whole`, cycle, { recursive: true });
    }
    expect(tenant.uploads()).toBe(2);
    expect(await tenant.machine(request).svc(SUBMIT)).toMatchObject({ code: 0 });
  });

  it('R83: a machine puts back the end of a ledger from its copies before it sends, and no other machine pays again', async () => {
    const tenant = await Tenant.open();
    const machine = tenant.machine();
    expect(await machine.svc(SUBMIT)).toMatchObject({ code: 0 });
    const [name = ''] = readdirSync(tenant.ledger);
    rmSync(join(tenant.ledger, name, 'cycles'), { recursive: true });
    writeFileSync(machine.home.file('more.csv'), fileOf(linesOf(new Chance(5), 3)));
    succeeded(await machine.svc('au submit more.csv --cycle c'));
    expect(tenant.uploads()).toBe(2);
    expect((await tenant.machine().svc(SUBMIT)).code).toBe(0);
    expect(tenant.uploads()).toBe(2);
  });
});

describe('a bucket that cannot be a ledger', () => {
  const cases = [
    { name: 'ignores the condition', code: 3, prepare: (bucket: BucketServer) => (bucket.conditions = 'ignored') },
    {
      name: 'answers 501',
      code: 3,
      prepare: (bucket: BucketServer) => (bucket.conditions = { status: 501, code: 'NotImplemented' }),
    },
    {
      name: 'fails each write',
      code: 8,
      prepare: (bucket: BucketServer) =>
        (bucket.hook = (incoming, outgoing, proceed) => {
          if (incoming.method !== 'PUT') return proceed();
          incoming.resume();
          outgoing.writeHead(500).end();
        }),
    },
  ];
  it.each(cases)('R58: a bucket that $name ends the command with $code and nothing is sent', async (one) => {
    const tenant = await Tenant.open('bucket');
    if (tenant.bucket) one.prepare(tenant.bucket);
    // With --wait, a store that fails is tried again for a quarter of an hour.
    const { code, stderr } = await tenant.machine().svc('au submit tokens.csv --cycle c -o json');
    expect(code, stderr).toBe(one.code);
    expect(tenant.uploads()).toBe(0);
  });
});

describe('a canary', () => {
  it('R58: no token, no key and no secret is in the ledger or in the output', async () => {
    const tenant = await Tenant.open('bucket');
    const stored: string[] = [];
    if (tenant.bucket)
      tenant.bucket.hook = (incoming, _outgoing, proceed) => {
        stored.push(incoming.url ?? '');
        proceed();
        incoming.on('data', (piece: Buffer) => stored.push(piece.toString('latin1')));
      };
    const machines = [tenant.machine(), tenant.machine(), tenant.machine(fileOf(LINES.slice(3, 9)))];
    const output: string[] = [];
    const fresh: string[] = [];
    for (const machine of machines) {
      const { stdout, stderr } = await machine.svc(`${SUBMIT} --debug`);
      output.push(stdout, stderr);
    }
    fresh.push(...newTokensIn(machines[0]?.results() ?? ''));
    expect(stored.join('')).toContain('"kind":"claim"');
    const tokens = [...LINES.map((line) => line.split(',')[0] ?? ''), ...fresh];
    const secrets = [PRIVATE_KEY, BUCKET.secretAccessKey];
    const all = [...stored, ...output].join('\n').toLowerCase();
    expect([...tokens, ...secrets].filter((secret) => all.includes(secret.toLowerCase()))).toEqual([]);
  });
});
