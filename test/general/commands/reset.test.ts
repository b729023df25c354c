import fs, { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { ended, errorIn, type HereResult, succeeded, svcHere } from '../../support/run-here.ts';
import { World } from '../../support/world.ts';
import { temporaryDirectory } from '../../support/directory.ts';

let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

/** Lists every file below a directory. */
function filesIn(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
}

const words = (run: HereResult): string => run.stderr;

it('R58: svc reset loses no job that may be paid for unless each one is named', async () => {
  await world.copy(async (run, home) => {
    const [open, unsent] = [world.fill('{open}'), world.fill('{unsent}')];
    const before = filesIn(home);
    for (const line of ['reset --yes', `reset --yes --forget ${open}`, 'reset --dry-run']) {
      const refused = await run('', ['-o', 'json'], { argv: line.split(' ') });
      const { code, message, next, alternatives } = errorIn(refused);
      expect([code, next]).toEqual(['conflict', 'svc au status']);
      expect(message).toContain(unsent);
      for (const job of [open, unsent]) expect(String(alternatives)).toContain(`--forget ${job}`);
    }
    const done = world.fill('{done}');
    const over = await run('', ['-o', 'json'], { argv: ['reset', '--yes', '--forget', done] });
    expect(errorIn(over)).toMatchObject({ code: 'not_found' });
    expect(filesIn(home)).toEqual(before);
  });
});

it('svc reset leaves a directory that has the name of a completion file', async () => {
  await world.copy(async (run, home) => {
    mkdirSync(join(home, '.config/fish/completions/svc.fish'), { recursive: true });
    const env = { SVC_STATE_DIR: join(home, 'empty') };
    succeeded(await run('', [], { argv: ['reset', '--dry-run'], env }));
    succeeded(await run('', [], { argv: ['reset', '--yes'], env }));
    expect(readdirSync(join(home, '.config/fish/completions'))).toEqual(['svc.fish']);
  });
});

it('svc reset leaves what it does not know in directories that the operator chose', async () => {
  await world.copy(async (run, home) => {
    const mine = join(home, 'mine');
    mkdirSync(mine);
    writeFileSync(join(mine, 'notes.txt'), 'mine');
    const env = { SVC_CONFIG_DIR: mine, SVC_STATE_DIR: mine, SVC_CACHE_DIR: mine };
    await run('', [], { argv: ['profile', 'set', 'output', 'json'], env: { ...env, SVC_CONFIG_DIR: join(home, 'c') } });
    await run('', [], { argv: ['--sandbox', 'au', 'submit', 'tokens.csv', '--wait', '--force'], env });
    await run('', [], { argv: ['reset', '--yes'], env });
    expect(readdirSync(mine)).toEqual(['notes.txt']);
  });
});

it('svc reset removes all of a sandbox with several tenants, so that another can start', async () => {
  await world.copy(async (run, home) => {
    const state = join(home, 'state');
    for (const file of ['journal.jsonl', 'files/a.csv', 'tenants/2/journal.jsonl', 'notes.txt']) {
      mkdirSync(dirname(join(state, 'sandbox', file)), { recursive: true });
      writeFileSync(join(state, 'sandbox', file), '');
    }
    succeeded(await run('', [], { argv: ['reset', '--yes'], env: { SVC_STATE_DIR: state } }));
    expect(filesIn(state)).toEqual([join(state, 'sandbox/notes.txt')]);
    expect(readdirSync(join(state, 'sandbox'))).toEqual(['notes.txt']);
  });
});

it("svc reset leaves archives, results and other files that the operator put among svc's own", async () => {
  await world.copy(async (run, home) => {
    const state = join(home, 'state');
    const mine = ['archives/2026/manifest.json', 'runs/october/results.csv', 'sandbox/notes.txt', 'tails/mine.json'];
    for (const file of mine) {
      mkdirSync(dirname(join(state, file)), { recursive: true });
      writeFileSync(join(state, file), 'mine');
    }
    mkdirSync(join(state, 'archives/0123456789abcdef'));
    writeFileSync(join(state, 'archives/0123456789abcdef/pending'), '');
    const env = { SVC_STATE_DIR: state };
    succeeded(await run('', [], { argv: ['reset', '--yes'], env }));
    expect(filesIn(state).toSorted()).toEqual(mine.map((file) => join(state, file)));
  });
});

it('svc reset needs no home directory', async () => {
  await world.copy(async (_run, own) => {
    const env = { HOME: '', SVC_CONFIG_DIR: join(own, 'c'), SVC_STATE_DIR: join(own, 's'), SVC_CACHE_DIR: own };
    mkdirSync(join(own, 's/tails'), { recursive: true });
    succeeded(await svcHere(['reset', '--yes'], { home: '', cwd: own, env }));
    expect(readdirSync(own)).not.toContain('s');
  });
});

it('svc reset removes nothing unless the answer to its question is reset', async () => {
  const home = temporaryDirectory();
  await svcHere(['profile', 'set', 'output', 'json'], { home });
  const before = filesIn(home);
  for (const [answer, code, left] of [
    ['yes', 2, before],
    ['reset', 0, []],
  ] as const) {
    const input = Object.assign(Readable.from([`${answer}\n`]), { isTTY: true });
    const run = await svcHere(['reset'], { home, input, columns: 80 });
    expect([answer, run.code, filesIn(home)], run.stderr).toEqual([answer, code, left]);
  }
});

it('svc reset removes state last, so that a failure before keeps the record of paid work', async () => {
  const home = temporaryDirectory();
  await svcHere(['profile', 'set', 'output', 'json'], { home });
  const state = join(home, '.local/state/svc/spool/0a1b2c3d-1-0123456789ab.csv');
  mkdirSync(dirname(state), { recursive: true });
  writeFileSync(state, '{}');
  const remove = vi.spyOn(fs, 'rmSync').mockImplementation((file) => {
    if (String(file).includes('.config')) throw Object.assign(new Error('held'), { code: 'EACCES' });
  });
  onTestFinished(() => remove.mockRestore());
  ended(await svcHere(['reset', '--yes'], { home }), 1);
  expect(remove.mock.calls.filter(([file]) => String(file).includes('state'))).toEqual([]);
});

it('svc reset removes a config file that cannot be read, and shows what it removes', async () => {
  await world.copy(async (run, home) => {
    writeFileSync(join(home, '.config/svc/config.json'), '{{{');
    const argv = [...world.argv('reset'), '-o', 'json'];
    const { stdout } = succeeded(await run('', [], { argv }));
    expect(JSON.parse(stdout)).toContainEqual({
      kind: 'config',
      path: join(home, '.config/svc/config.json'),
      files: 1,
    });
  });
});

it('svc logout --all removes the keys of every profile after a yes and beside no option that names one, and keeps their settings', async () => {
  await world.copy(async (run) => {
    for (const name of ['one', 'two'])
      await run('login', [], {
        argv: `login --base-url ${world.url} --management-key-stdin --profile ${name}`.split(' '),
      });
    const all = ['logout', '--all'];
    ended(await run('', ['-o', 'json'], { argv: all }), 2, { error: { next: 'svc logout --all --yes' } });
    for (const option of [['--sandbox'], ['--profile', 'one'], ['-p', 'one']]) {
      const refused = await run('', ['--yes'], { argv: [...option, ...all] });
      expect([refused.code, words(refused)]).toEqual([2, expect.stringContaining('; nothing was removed')]);
    }
    expect(words(await run('', ['--dry-run'], { argv: all }))).toBe(
      'dry run: would remove the management key of profile one, the management key of profile two\n',
    );
    succeeded(await run('', ['--yes'], { argv: all }));
    expect(words(await run('', [], { argv: all }))).toBe('no profile has stored keys\n');
    const { stdout } = await run('', ['-o', 'json'], { argv: ['profile', 'show', 'two'] });
    expect(JSON.parse(stdout)).toMatchObject({ base_url: world.url, management_key: false });
  });
});

it('svc logout --all asks nothing where only one profile has keys', async () => {
  await world.copy(async (run) => {
    await run('login', [], { argv: `login --base-url ${world.url} --management-key-stdin --profile one`.split(' ') });
    succeeded(await run('', [], { argv: ['logout', '--all'] }));
  });
});
