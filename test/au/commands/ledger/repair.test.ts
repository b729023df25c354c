import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../../src/emulator/vault/cards.ts';
import { errorIn, type HereResult } from '../../../support/run-here.ts';
import { type Machine, openMachine } from '../machine.ts';
import { sharedLedger } from '../../ledger/shared-ledger.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
/** The id of a job that the service does not have. */
const UNKNOWN = '11111111-1111-4111-8111-111111111111';
const SUBMIT = 'au submit more.csv --cycle 2026-12';

/** A machine that submitted two files of a cycle with a shared ledger, and another one that shares it. */
interface Sharing extends Machine {
  /** Runs a command line on the machine that submitted, or on one with an empty state directory. */
  readonly on: (which: 'first' | 'empty', line: string) => Promise<HereResult>;
  entry(number: number): string;
}

async function sharing(): Promise<Sharing> {
  const machine = await openMachine();
  const write = (name: string, from: number, to: number): void =>
    writeFileSync(machine.path(join('work', name)), [HEADER, ...ROWS.slice(from, to), ''].join('\n'));
  const shared = sharedLedger(machine.path('ledger'));
  const on: Sharing['on'] = (which, line) =>
    machine.svc(line, { ...shared, ...(which === 'empty' && { SVC_STATE_DIR: machine.path('empty') }) });
  write('first.csv', 0, 3);
  write('second.csv', 3, 6);
  write('more.csv', 2, 8);
  for (const name of ['first.csv', 'second.csv']) {
    const { code, stderr } = await on('first', `au submit ${name} --cycle 2026-12`);
    expect(code, stderr).toBe(0);
  }
  const [tenant = ''] = readdirSync(machine.path('ledger'));
  const entry = (number: number): string => machine.path(`ledger/${tenant}/cycles/2026-12/0000000${number}.json`);
  return { ...machine, on, entry };
}

it('R83: svc au ledger repair puts an entry back on the machine that has it, and the others go on', async () => {
  const machine = await sharing();
  const { on } = machine;
  rmSync(machine.entry(1));
  const refused = await on('empty', SUBMIT);
  expect([refused.code, machine.uploads()], refused.stderr).toEqual([3, 2]);
  expect(errorIn(refused)).toMatchObject({ next: 'svc au ledger repair' });
  const other = await on('empty', 'au ledger repair -o json');
  expect(other.code, other.stderr).toBe(3);
  const missing = {
    object: machine.entry(1),
    status: 'missing',
    sha256: null,
    abandon: null,
    job: null,
    freed_by: null,
  };
  expect(JSON.parse(other.stdout)).toEqual([missing]);
  expect(errorIn(other)['hint']).toContain('Never remove the ledger');
  const repaired = await on('first', 'au ledger repair -o json');
  expect(repaired.code, repaired.stderr).toBe(0);
  expect(JSON.parse(repaired.stdout)).toMatchObject([{ object: machine.entry(1), status: 'put_back' }]);
  const whole = await on('first', 'au ledger repair -o json');
  expect([whole.code, whole.stdout.trim()], whole.stderr).toEqual([0, '[]']);
  expect(whole.stderr).toContain('nothing is missing in the ledger');
  const done = await on('empty', SUBMIT);
  expect([done.code, machine.uploads()], done.stderr).toEqual([0, 3]);
});

it('R83: on a machine whose ledger is not mounted nothing is sent, put back or called not found, until it is there again', async () => {
  const machine = await sharing();
  const { on } = machine;
  const commands = ['au status', 'au status 2026-12', 'au resume', 'au ledger repair'];
  renameSync(machine.path('ledger'), machine.path('away'));
  mkdirSync(machine.path('ledger'));
  for (const line of [SUBMIT, ...commands]) {
    const refused = await on('first', line);
    expect([refused.code, refused.stdout], line).toEqual([3, '']);
    expect(errorIn(refused), line).toMatchObject({
      message: `this machine used the ledger in ${machine.path('ledger')}, and nothing of it is there; nothing was sent`,
      next: 'svc doctor',
      alternatives: ['svc au ledger repair --whole'],
    });
  }
  rmdirSync(machine.path('ledger'));
  for (const which of ['first', 'empty'] as const)
    for (const [line, code] of [
      ...[SUBMIT, ...commands].map((one) => [one, 3] as const),
      [`au status ${UNKNOWN}`, 9],
    ] as const) {
      const refused = await on(which, line);
      expect([refused.code, refused.stdout], `${which} ${line}: ${refused.stderr}`).toEqual([code, '']);
      expect(refused.stderr, line).toContain(`there is no directory ${machine.path('ledger')}`);
    }
  expect([machine.uploads(), existsSync(machine.path('ledger'))]).toEqual([2, false]);
  renameSync(machine.path('away'), machine.path('ledger'));
  expect(await on('empty', SUBMIT)).toMatchObject({ code: 0 });
});

it('R83: svc au ledger repair removes and replaces nothing in a ledger that was restored and went on without this machine', async () => {
  const machine = await sharing();
  const { on } = machine;
  const lost = JSON.parse(readFileSync(machine.entry(3), 'utf8')) as { readonly job: string };
  rmSync(machine.entry(3));
  rmSync(join(machine.entry(3), '../../../jobs', lost.job));
  // The operator of this machine does not know that the rows of the second file were sent.
  expect((await on('empty', `au ignore ${lost.job} --yes`)).code).toBe(0);
  const submitted = await on('empty', SUBMIT);
  expect([submitted.code, machine.uploads()], submitted.stderr).toEqual([0, 3]);
  const claim = readFileSync(machine.entry(3), 'utf8');
  const refused = await on('first', SUBMIT);
  expect([refused.code, machine.uploads()], refused.stderr).toEqual([3, 3]);
  expect(errorIn(refused)).toMatchObject({
    message: `the ledger has two histories: ${machine.entry(3)}: it is not the one that this machine read; nothing was sent`,
    hint: expect.stringContaining('It was restored from a backup and went on'),
    next: 'svc au ledger repair',
  });
  const found = await on('first', 'au ledger repair -o json');
  expect(found.code, found.stderr).toBe(3);
  expect(errorIn(found)['next']).toBe(`svc au status ${lost.job}`);
  const forked = {
    object: machine.entry(3),
    status: 'forked',
    sha256: null,
    abandon: null,
    job: lost.job,
    freed_by: null,
  };
  expect(JSON.parse(found.stdout)).toEqual([forked]);
  expect(errorIn(found)['hint']).toContain('Remove none of the entries above');
  expect(errorIn(found)['hint']).not.toContain('removes exactly');
  expect(readFileSync(machine.entry(3), 'utf8')).toBe(claim);
});

it('R83: svc au ledger repair names the command that frees the rows of a cut last entry, which sends them then', async () => {
  const machine = await sharing();
  const { on } = machine;
  writeFileSync(machine.entry(3), '{"version":1,"prev');
  expect((await on('first', 'au ledger repair -o json')).stderr).toContain('is never replaced');
  // No machine has the entry any more.
  rmSync(machine.path('state/ledger'), { recursive: true });
  const found = await on('empty', 'au ledger repair -o json');
  expect(found.code, found.stderr).toBe(3);
  expect(errorIn(found)).toMatchObject({ next: 'svc au abandon 2026-12/00000003' });
  expect((await on('empty', SUBMIT)).code).toBe(3);
  const unasked = await on('empty', 'au abandon 2026-12/00000003');
  expect([unasked.code, machine.uploads()], unasked.stderr).toEqual([2, 2]);
  const freed = await on('empty', 'au abandon 2026-12/00000003 --yes');
  expect(freed.code, freed.stderr).toBe(0);
  expect(freed.stderr).toContain('may have been paid for');
  const { code, stderr } = await on('empty', SUBMIT);
  expect([code, machine.uploads()], stderr).toEqual([0, 3]);
  expect((await on('empty', 'au abandon 2026-12/00000003 --yes')).code).toBe(5);
});

it.each(['2026-12/00000003', '2026-12/00000002', '2026-12/00000004', 'nosuch/00000001'])(
  'svc au abandon %s, which is not cut, says so and asks nothing',
  async (name) => {
    const machine = await sharing();
    for (const line of [`au abandon ${name}`, `au abandon ${name} --yes`]) {
      const { code, stderr } = await machine.on('first', line);
      expect(code, stderr).toBe(5);
      expect(stderr).toContain(`${name} is not the last entry of its cycle, or is not cut`);
      expect(stderr).not.toContain('may have been paid for');
    }
    expect(existsSync(machine.entry(4))).toBe(false);
  },
);

it('R83: svc au ledger repair names the job of a cut entry that was abandoned although this machine has it, which goes on', async () => {
  const machine = await sharing();
  const { on } = machine;
  const { job } = JSON.parse(readFileSync(machine.entry(3), 'utf8')) as { readonly job: string };
  writeFileSync(machine.entry(3), '{"version":1,"prev');
  const freed = await on('empty', 'au abandon 2026-12/00000003 --yes');
  expect(freed.code, freed.stderr).toBe(0);
  const found = await on('first', 'au ledger repair -o json');
  expect(found.code, found.stderr).toBe(3);
  expect(JSON.parse(found.stdout)).toMatchObject([{ object: machine.entry(3), status: 'freed', job }]);
  expect(errorIn(found)).toMatchObject({ next: `svc au status ${job}` });
  expect(errorIn(found)['message']).toContain('were freed by ');
  expect((await on('first', `au status ${job}`)).code).toBe(0);
  const done = await on('first', `${SUBMIT} -o json`);
  expect([done.code, machine.uploads()], done.stderr).toEqual([0, 3]);
  expect(JSON.parse(done.stdout)).toMatchObject({ sent: 2, left_out: 4 });
});

it('R83: svc au ledger repair and au ignore name the command that frees the rows of a lost claim, after which files are sent', async () => {
  const machine = await openMachine();
  const { id } = JSON.parse((await machine.svc('au create')).stdout) as { id: string };
  expect(await machine.svc(`au upload ${id} tokens.csv`)).toMatchObject({ code: 0 });
  await machine.clock.advance(60_000);
  const ledger = machine.path('state/ledger');
  const cycle = readdirSync(ledger, { recursive: true })
    .map(String)
    .find((name) => /cycles\/file-[^/]*$/.test(name));
  rmSync(join(ledger, cycle ?? ''), { recursive: true });
  writeFileSync(machine.path('work/other.csv'), `${exampleRequestFile().split('\n', 1).join('')}\none-more,,,\n`);
  expect((await machine.svc('au submit other.csv')).code).toBe(3);
  expect(errorIn(await machine.svc('au ledger repair'))).toMatchObject({ next: `svc au abandon ${id}` });
  expect(errorIn(await machine.svc(`au ignore ${id} --yes`))).toMatchObject({ alternatives: [`svc au abandon ${id}`] });
  const freed = await machine.svc(`au abandon ${id} --yes`);
  expect(freed.code, freed.stderr).toBe(0);
  expect(freed.stderr).toContain('the ledger has lost which rows job');
  const sent = await machine.svc('au submit other.csv');
  expect([sent.code, machine.uploads()], sent.stderr).toEqual([0, 2]);
  expect(await machine.svc('au ledger repair')).toMatchObject({ code: 0 });
});

it('svc au abandon frees no rows of a job whose lost claim this machine can put back, and names svc au ledger repair', async () => {
  const machine = await openMachine();
  const submitted = await machine.svc('au submit tokens.csv --cycle 2026-12 --wait');
  expect(submitted.code, submitted.stderr).toBe(0);
  const { job } = JSON.parse(submitted.stdout) as { job: string };
  const ledger = machine.path('state/ledger');
  const names = readdirSync(ledger, { recursive: true }).map(String);
  rmSync(join(ledger, names.find((name) => name.endsWith('cycles/2026-12')) ?? ''), { recursive: true });
  const refused = await machine.svc(`au abandon ${job} --yes`);
  expect([refused.code, errorIn(refused)['next']], refused.stderr).toEqual([6, 'svc au ledger repair']);
  const repaired = await machine.svc('au ledger repair');
  expect(repaired.code, repaired.stderr).toBe(0);
  expect(JSON.parse(repaired.stdout)).toMatchObject({ job, status: 'put_back' });
  const again = await machine.svc('au submit tokens.csv --cycle 2026-12');
  expect([again.code, machine.uploads()], again.stderr).toEqual([0, 1]);
});

it('svc au abandon frees no rows of a job whose lost claim this machine can put back, although another lost claim is nowhere', async () => {
  const machine = await openMachine();
  writeFileSync(machine.path('work/other.csv'), `${HEADER}\none-more,,,\n`);
  const { id } = JSON.parse((await machine.svc('au create')).stdout) as { id: string };
  expect(await machine.svc(`au upload ${id} other.csv`)).toMatchObject({ code: 0 });
  const submitted = await machine.svc('au submit tokens.csv --cycle 2026-12 --wait');
  expect(submitted.code, submitted.stderr).toBe(0);
  const { job } = JSON.parse(submitted.stdout) as { job: string };
  const ledger = machine.path('state/ledger');
  const names = readdirSync(ledger, { recursive: true }).map(String);
  rmSync(join(ledger, names.find((name) => name.endsWith('cycles')) ?? ''), { recursive: true });
  const refused = await machine.svc(`au abandon ${job} --yes`);
  expect([refused.code, errorIn(refused)['next']], refused.stderr).toEqual([6, 'svc au ledger repair']);
});

it('R83: svc au ledger repair of the ledger of one machine says what is missing, and that no other place has it', async () => {
  const machine = await openMachine();
  expect((await machine.svc('au submit tokens.csv --cycle 2026-12 --wait')).code).toBe(0);
  const ledger = machine.path('state/ledger');
  const names = readdirSync(ledger, { recursive: true }).map(String);
  const entry = names.find((name) => name.endsWith('00000001.json')) ?? '';
  rmSync(join(ledger, entry));
  const found = await machine.svc('au ledger repair -o json');
  expect(found.code, found.stderr).toBe(3);
  expect(errorIn(found)['hint']).toContain('from a backup');
});

const NEW_PLACE = 'moved';

/** Another place for the ledger of a machine, and its commands with that place set. */
async function elsewhere() {
  const machine = await sharing();
  const [old, place] = [machine.path('ledger'), machine.path(NEW_PLACE)];
  const at = (ledger: string, line: string): Promise<HereResult> => machine.svc(line, { SVC_LEDGER: ledger });
  const moved = (line: string): Promise<HereResult> => at(place, line);
  return { machine, old, place, at, moved };
}

it('svc au ledger repair --moved goes on with a ledger in its new place, which others refuse until then', async () => {
  const { machine, old, place, at, moved } = await elsewhere();
  renameSync(old, place);
  for (const line of [SUBMIT, 'au status', 'au ledger repair', 'au ledger repair --whole']) {
    const refused = await moved(line);
    expect(refused.code, refused.stderr).toBe(3);
    const error = errorIn(refused);
    expect(error['message']).toBe(
      `this tenant's ledger is ${old}, and the ledger is set to ${place} (SVC_LEDGER); nothing was sent`,
    );
    // A profile does not change what the variable says.
    expect(error['next']).toBe('svc doctor');
    expect(error['hint']).toContain(`Set SVC_LEDGER to ${old} again`);
    expect(error['alternatives']).toEqual(['svc au ledger repair --moved']);
  }
  const accepted = await moved('au ledger repair --moved');
  expect(accepted.code, accepted.stderr).toBe(0);
  expect(accepted.stderr).toContain(`is in ${place} now, and no longer in ${old}`);
  expect(await moved('au ledger repair --moved')).toMatchObject({ code: 0 });
  const done = await moved(`${SUBMIT} -o json`);
  expect([done.code, machine.uploads()], done.stderr).toEqual([0, 3]);
  expect(JSON.parse(done.stdout)).toMatchObject({ sent: 2, left_out: 4 });
  // The copies are those of the new place: an entry that is lost there is put back.
  const [tenant = ''] = readdirSync(place);
  rmSync(join(place, tenant, 'cycles/2026-12/00000001.json'));
  expect(await moved('au ledger repair')).toMatchObject({ code: 0 });
  expect(existsSync(join(place, tenant, 'cycles/2026-12/00000001.json'))).toBe(true);
  // The old place is another one from now on.
  mkdirSync(old);
  expect(await at(old, SUBMIT)).toMatchObject({ code: 3 });
});

it.each([
  ['the old place has it still', 'the ledger is still in '],
  ['the old place has an entry still', 'the ledger is still in '],
  ['the new place lacks an entry', '00000003.json is missing'],
  ['the new place has another entry', '00000003.json is changed'],
  ['the new place lacks a set of rows', ' is missing'],
  ['the new place has another ledger', 'it is not the ledger that this machine used'],
  ['the new place has nothing', 'it is not the ledger that this machine used'],
  ['this machine has no copies', 'this machine has no copy of what it read in '],
])('svc au ledger repair --moved changes nothing where %s', async (why, message) => {
  const { machine, old, place, moved } = await elsewhere();
  const [tenant = ''] = readdirSync(old);
  const cycle = `${tenant}/cycles/2026-12`;
  if (why === 'the new place has nothing') {
    rmSync(old, { recursive: true });
    mkdirSync(place);
  } else if (why === 'the old place has it still') cpSync(old, place, { recursive: true });
  else renameSync(old, place);
  const last = join(place, cycle, '00000003.json');
  if (why === 'the old place has an entry still') {
    mkdirSync(join(old, cycle), { recursive: true });
    writeFileSync(join(old, cycle, '00000001.json'), '{}');
  }
  if (why === 'the new place lacks an entry') rmSync(last);
  if (why === 'the new place has another entry') writeFileSync(last, '{"version":1}');
  if (why === 'the new place lacks a set of rows') rmSync(join(place, cycle, 'rows'), { recursive: true });
  if (why === 'the new place has another ledger') {
    const settings = join(place, tenant, 'ledger.json');
    writeFileSync(settings, readFileSync(settings, 'utf8').replace(/[0-9a-f]{64}/, '0'.repeat(64)));
  }
  const state = machine.path(`state/ledger/${tenant}`);
  if (why === 'this machine has no copies') rmSync(join(state, 'seen'), { recursive: true });
  const before = readFileSync(join(state, 'at.json'), 'utf8');
  const refused = await moved('au ledger repair --moved');
  expect(refused.code, refused.stderr).toBe(3);
  expect(errorIn(refused)['message']).toContain(message);
  expect(readFileSync(join(state, 'at.json'), 'utf8')).toBe(before);
  expect([(await moved(SUBMIT)).code, machine.uploads()]).toEqual([3, 2]);
});

it('the same ledger through a link is no other one', async () => {
  const { machine, old, place, at, moved } = await elsewhere();
  symlinkSync(old, place);
  const done = await moved(`${SUBMIT} -o json`);
  expect([done.code, machine.uploads()], done.stderr).toEqual([0, 3]);
  expect(JSON.parse(done.stdout)).toMatchObject({ sent: 2, left_out: 4 });
  expect(await moved('au status')).toMatchObject({ code: 0 });
  expect(await at(old, 'au ledger repair')).toMatchObject({ code: 0 });
  rmSync(place);
  // A link to another directory is another place.
  mkdirSync(`${place}-other`);
  symlinkSync(`${place}-other`, place);
  expect([(await moved(SUBMIT)).code, machine.uploads()]).toEqual([3, 3]);
});
