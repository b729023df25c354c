import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { ended, errorIn, type HereResult, succeeded } from '../../support/run-here.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { JobFaults } from '../job-faults.ts';
import { sharedLedger } from './shared-ledger.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const SUBMIT = 'au submit more.csv --cycle 2026-12';
/** Commands that read the ledger, and would deliver what they take for the whole cycle. */
const READING = ['au status', 'au status 2026-12', 'au resume --wait', 'au resume 2026-12 --wait'];

/** A place of a ledger whose objects a test can damage. */
interface Place {
  readonly env: Record<string, string>;
  names(): string[];
  get(name: string): Buffer;
  put(name: string, bytes: Buffer): void;
  remove(name: string): void;
}

function directory(machine: Machine): Place {
  const top = machine.path('ledger');
  const env = sharedLedger(top);
  return {
    env,
    names: () =>
      readdirSync(top, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name).slice(top.length + 1)),
    get: (name) => readFileSync(join(top, name)),
    put: (name, bytes) => {
      mkdirSync(dirname(join(top, name)), { recursive: true });
      writeFileSync(join(top, name), bytes);
    },
    remove: (name) => rmSync(join(top, name)),
  };
}

async function bucket(): Promise<Place> {
  return placeIn(await BucketServer.start());
}

function placeIn(server: BucketServer): Place {
  const prefix = 'ledger/';
  return {
    env: { ...server.environment, SVC_LEDGER: 's3://logs/ledger' },
    names: () => server.keys().map((key) => key.slice(prefix.length)),
    get: (name) => server.bytes(`${prefix}${name}`),
    put: (name, bytes) => server.put(`${prefix}${name}`, bytes),
    remove: (name) => server.remove(`${prefix}${name}`),
  };
}

/** A machine that submitted two files of a cycle with a shared ledger, and another one with an empty state directory. */
interface Sharing extends Machine {
  readonly place: Place;
  readonly on: (which: 'first' | 'empty', line: string) => Promise<HereResult>;
  /** Returns the name of the only object that ends so. */
  readonly object: (end: string) => string;
  readonly entry: (number: number) => string;
}

async function sharing(open: (machine: Machine) => Place | Promise<Place> = directory): Promise<Sharing> {
  const machine = await openMachine();
  const place = await open(machine);
  const write = (name: string, from: number, to: number): void =>
    writeFileSync(machine.path(join('work', name)), [HEADER, ...ROWS.slice(from, to), ''].join('\n'));
  const on: Sharing['on'] = (which, line) =>
    machine.svc(line, { ...place.env, ...(which === 'empty' && { SVC_STATE_DIR: machine.path('empty') }) });
  write('first.csv', 0, 3);
  write('second.csv', 3, 6);
  write('more.csv', 2, 8);
  for (const name of ['first.csv', 'second.csv']) succeeded(await on('first', `au submit ${name} --cycle 2026-12`));
  const object = (end: string): string => {
    const [name = '', ...others] = place.names().filter((each) => each.endsWith(end));
    expect(others).toEqual([]);
    return name;
  };
  return { ...machine, place, on, object, entry: (number) => object(`2026-12/0000000${number}.json`) };
}

const PLACES = [
  ['a directory', directory],
  ['a bucket', bucket],
] as const;

/** Expects the machine with copies and an empty one to end with 3 and to send nothing. */
async function expectStopped(machine: Sharing, why: string): Promise<void> {
  for (const which of ['first', 'empty'] as const)
    ended(await machine.on(which, SUBMIT), 3, { uploads: 2, error: { message: expect.stringContaining(why) } });
}

/** Expects both machines to go on. */
async function expectHealed(machine: Sharing): Promise<void> {
  for (const which of ['first', 'empty'] as const) expect(await machine.on(which, SUBMIT)).toMatchObject({ code: 0 });
}

describe.each(PLACES)('a ledger in %s', (_, open) => {
  it.each([1, 2, 3])(
    'R83: entry %i that is missing is put back by the machine that has it, and stops the others until then',
    async (number) => {
      const machine = await sharing(open);
      const { place, on, entry } = machine;
      const name = entry(number);
      const before = place.get(name);
      place.remove(name);
      for (const line of READING) ended(await on('empty', line), 3, { stdout: '', uploads: 2 });
      expect((await on('empty', 'doctor -o json')).stdout).toContain('the ledger is damaged');
      // The last entry is missed by the service's list of jobs, which is read once a new job shows who created the others.
      const unsaid = number === 3 ? [] : ['first upload', 'created job'];
      ended(await on('empty', SUBMIT), 3, { uploads: 2, unsaid });
      ended(await on('first', SUBMIT), 0, `lacked 1 object, `, { uploads: 3 });
      expect(Buffer.compare(place.get(name), before)).toBe(0);
      ended(await on('empty', SUBMIT), 0, { uploads: 3 });
    },
  );

  it('R83: a ledger that was restored to a time before a job that failed goes on after svc au resume', async () => {
    const service = new JobFaults();
    const machine = await sharing((opened) => {
      opened.fault = service.intercept;
      return open(opened);
    });
    const { place, on } = machine;
    const before = place.names();
    succeeded(await on('first', SUBMIT));
    const added = place.names().filter((name) => !before.includes(name));
    service.failed = added.filter((name) => name.includes('/jobs/')).map((name) => basename(name));
    ended(await on('first', SUBMIT), 10);
    for (const name of place.names()) if (!before.includes(name)) place.remove(name);
    ended(await on('first', 'au resume 2026-12 --out results.csv'), 10, 'put back from the copies of this machine');
    ended(await on('empty', SUBMIT), 0, { uploads: 4 });
  });

  it('R83: the row sets of a ledger that are missing are put back by the machine that has them, and stop the others', async () => {
    const machine = await sharing(open);
    const { place, on } = machine;
    const sets = place.names().filter((name) => name.includes('/rows/'));
    const before = sets.map((name) => place.get(name));
    for (const name of sets) place.remove(name);
    ended(await on('empty', SUBMIT), 3, { uploads: 2 });
    ended(await on('first', SUBMIT), 0, { uploads: 3 });
    for (const [at, name] of sets.entries())
      expect(Buffer.compare(place.get(name), before[at] ?? Buffer.alloc(0))).toBe(0);
  });

  it('R83: an entry in the middle that was emptied stops the machine that has it too, until it is removed by hand', async () => {
    const machine = await sharing(open);
    const { place, entry } = machine;
    const name = entry(1);
    place.put(name, Buffer.from(''));
    await expectStopped(machine, 'it is cut, or is no entry of a ledger');
    place.remove(name);
    await expectHealed(machine);
    expect(machine.uploads()).toBe(3);
  });

  it('R83: an emptied mark stops every machine, also where the claim of its job is gone', async () => {
    const machine = await sharing(open);
    const { place, entry, object } = machine;
    const { job } = JSON.parse(Buffer.from(place.get(entry(3))).toString()) as { job: string };
    const mark = object(`/jobs/${job}`);
    place.put(mark, Buffer.from(''));
    for (const _ of ['with its claim', 'without']) {
      await expectStopped(machine, 'it is no mark of a job');
      if (place.names().some((name) => name.endsWith('2026-12/00000003.json'))) place.remove(entry(3));
    }
    place.remove(mark);
    await expectHealed(machine);
    expect(machine.uploads()).toBe(3);
  });

  it('R83: a machine that finds a ledger restored to before its newest claim adds nothing to it, and another puts the claim back', async () => {
    const machine = await sharing(open);
    const { place, on, entry, object } = machine;
    const { job } = JSON.parse(Buffer.from(place.get(entry(3))).toString()) as { job: string };
    // The results of the first job, which the entries name as read, are read again by a machine that finds no entry for it.
    const names = [entry(3), entry(2), object(`/jobs/${job}`)];
    const before = names.map((name) => place.get(name));
    for (const name of names) place.remove(name);
    const restored = place.names();
    ended(await on('empty', SUBMIT), 9, { uploads: 2 });
    expect(place.names().toSorted()).toEqual(restored.toSorted());
    ended(await on('first', SUBMIT), 0, { uploads: 3 });
    for (const [at, name] of names.entries())
      expect(Buffer.compare(place.get(name), before[at] ?? Buffer.alloc(0))).toBe(0);
    ended(await on('empty', SUBMIT), 0, { uploads: 3 });
  });

  it('R83: a machine with an old copy puts nothing back in a ledger that was restored and went on', async () => {
    const machine = await sharing(open);
    const { place, on, entry, object } = machine;
    const { job } = JSON.parse(Buffer.from(place.get(entry(3))).toString()) as { job: string };
    for (const name of [entry(3), object(`/jobs/${job}`)]) place.remove(name);
    // The operator of this machine does not know that the rows of the second file were sent.
    succeeded(await on('empty', `au ignore ${job} --yes`));
    ended(await on('empty', SUBMIT), 0, { uploads: 3 });
    const now = new Map(place.names().map((name) => [name, place.get(name)]));
    ended(await on('first', SUBMIT), 3, {
      uploads: 3,
      error: {
        message: expect.stringContaining('the ledger has two histories'),
        jobs: [job],
        next: `svc au status ${job}`,
      },
    });
    expect(new Map(place.names().map((name) => [name, place.get(name)]))).toEqual(now);
  });
});

it.each<readonly [string, (file: string) => void]>([
  ['a link', (file) => symlinkSync('/etc/hostname', file)],
  ['a directory', (file) => mkdirSync(file)],
  ['a FIFO', (file) => execFileSync('mkfifo', [file])],
  ['5 MB', (file) => writeFileSync(file, Buffer.alloc(5_000_000))],
  ['a cut text', (file) => writeFileSync(file, '{"version":1,"prev')],
])('R83: %s in place of an entry stops the machine that has a copy of it', async (_, damage) => {
  const machine = await sharing();
  const { on, entry } = machine;
  const file = machine.path(`ledger/${entry(1)}`);
  rmSync(file);
  damage(file);
  ended(await on('first', SUBMIT), 3, { uploads: 2, error: { message: expect.stringContaining(file) } });
});

it.each<readonly [string, (file: string) => void]>([
  ['a link', (file) => symlinkSync('/etc/hostname', file)],
  ['a FIFO', (file) => execFileSync('mkfifo', [file])],
  ['another set of the same size', (file) => writeFileSync(file, Buffer.alloc(24, 1))],
])('R83: %s in place of a set of rows stops each machine, with a copy of it or without', async (_, damage) => {
  const machine = await sharing();
  for (const name of machine.place.names().filter((each) => each.includes('/rows/'))) {
    const file = machine.path(`ledger/${name}`);
    rmSync(file);
    damage(file);
  }
  await expectStopped(machine, '/rows/');
  expect(machine.uploads()).toBe(2);
});

it('R83: a cut last entry that no machine has is removed by hand after the time in the message, and nothing is paid twice', async () => {
  const machine = await sharing();
  const { on, entry, clock } = machine;
  const file = machine.path(`ledger/${entry(3)}`);
  const { job } = JSON.parse(readFileSync(file, 'utf8')) as { job: string };
  writeFileSync(file, '{"version":1,"prev');
  utimesSync(file, clock.now() / 1000, clock.now() / 1000);
  rmSync(machine.path('state'), { recursive: true });
  const refused = ended(await on('empty', SUBMIT), 3, { uploads: 2 });
  const error = errorIn(refused);
  expect(error['object']).toBe(file);
  const from = Date.parse(String(error['removable_from']));
  expect(from - clock.now()).toBeGreaterThan(75 * 60_000 - 2000);
  await clock.advance(from - clock.now());
  rmSync(String(error['object']));
  // The mark still names the job, which has its file.
  ended(await on('empty', SUBMIT), 3, {
    uploads: 2,
    error: {
      message: expect.stringContaining(`the claim of job ${job} is missing`),
      alternatives: [`svc au abandon ${job}`],
    },
  });
  ended(await on('empty', 'au status'), 3, `svc au abandon ${job}`);
  succeeded(await on('empty', `au abandon ${job} --yes`));
  succeeded(await on('empty', 'au status'));
});

it('R83: where nothing of a ledger is there, a machine sends nothing, until the volume is mounted or its copies are put there', async () => {
  const machine = await sharing();
  const { on } = machine;
  renameSync(machine.path('ledger'), machine.path('away'));
  mkdirSync(machine.path('ledger'));
  for (const line of [SUBMIT, 'au status', 'au status 2026-12', 'au resume']) {
    ended(await on('first', line), 3, {
      stdout: '',
      error: {
        message: `this machine used the ledger in ${machine.path('ledger')}, and nothing of it is there; nothing was sent`,
        next: 'svc doctor',
      },
    });
  }
  expect([machine.uploads(), readdirSync(machine.path('ledger'))]).toEqual([2, []]);
  rmdirSync(machine.path('ledger'));
  renameSync(machine.path('away'), machine.path('ledger'));
  succeeded(await on('first', SUBMIT));
  renameSync(machine.path('ledger'), machine.path('lost'));
  mkdirSync(machine.path('ledger'));
  cpSync(String(errorIn(await on('first', SUBMIT))['copies']), machine.path('ledger'), { recursive: true });
  ended(await on('empty', 'au submit tokens.csv --cycle 2026-12'), 0, { uploads: 4 });
});

it('R83: svc au status and a dry run say what a ledger lacks, and leave it', async () => {
  const { place, on, entry } = await sharing();
  const name = entry(1);
  place.remove(name);
  const before = place.names();
  for (const line of ['au status 2026-12', `${SUBMIT} --dry-run`])
    ended(await on('first', line), 0, `lacks 1 object, ${name}: this machine has a copy`);
  expect(place.names()).toEqual(before);
  const { stdout } = await on('first', 'doctor -o json');
  const findings = JSON.parse(stdout) as { check: string; found: string }[];
  expect(findings.find(({ check }) => check === 'ledger')).toMatchObject({
    result: 'warning',
    found: expect.stringContaining(`lacks ${name}`),
  });
});

it.each(READING)(
  'svc %s on a machine that never used the ledger knows the cycle of a job that the list of its bucket does not show yet',
  async (line) => {
    const server = await BucketServer.start();
    const { on } = await sharing(() => placeIn(server));
    server.listedAfterMs = Infinity;
    expect(succeeded(await on('empty', `${line} -o json`)).stdout).toMatch(/completed/);
  },
);
