import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { COMMAND_LINES, LASTING } from '../../support/command-lines.ts';
import { type HereResult } from '../../support/run-here.ts';
import { World } from '../../support/world.ts';

/** Commands that run until they are stopped, `reset` itself, and the command after which no key is accepted. */
const NOT_HERE = new Set([...LASTING, 'reset', 'tenant delete']);

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

function argv(line: string): { argv: string[] } {
  return { argv: line.split(' ').map((word) => world.fill(word)) };
}

const words = (run: HereResult): string => run.stderr;

it('svc reset leaves nothing of what every command wrote into a home but the files that its operator named', async () => {
  await world.copy(async (run, home) => {
    for (const command of Object.keys(COMMAND_LINES).filter((name) => !NOT_HERE.has(name))) await run(command);
    const env = { SVC_BASE_URL: '', SVC_MANAGEMENT_API_KEY: '', SVC_PRIVATE_API_KEY: '' };
    for (const line of ['whoami', 'logs -n 3 -o table'])
      await run('', ['--profile', 'fresh'], { ...argv(line), env: { ...env, SVC_PACING: '' } });
    for (const line of [
      '--sandbox logs tail --since 1d --max 2',
      '--sandbox au check -',
      'completion install --shell zsh',
      'completion install --shell fish',
    ])
      await run('', [], { ...argv(line), env });
    // A terminal, an archive in a bucket and a killed process leave these files.
    for (const file of [
      '.cache/svc/applications.json',
      '.local/state/svc/archives/0123456789abcdef.lock',
      '.local/state/svc/spool/0a1b2c3d-1-0123456789ab.csv',
    ]) {
      mkdirSync(dirname(join(home, file)), { recursive: true });
      writeFileSync(join(home, file), '{}');
    }
    const isKept = (file: string): boolean => file.startsWith(`${home}/.`);
    const before = filesIn(home);
    const named = before.filter((file) => !isKept(file));
    const kept = before.filter(isKept).map((file) => relative(home, file).replace(/(state\/svc\/\w+)\/.*/, '$1'));
    expect([...new Set(kept)].toSorted()).toEqual([
      '.cache/svc/applications.json',
      '.cache/svc/entity-types.json',
      '.cache/svc/known-keys.json',
      '.config/fish/completions/svc.fish',
      '.config/svc/config.json',
      '.local/share/bash-completion/completions/svc',
      '.local/state/svc/3ds-sessions.json',
      '.local/state/svc/archives',
      '.local/state/svc/jobs',
      '.local/state/svc/ledger',
      '.local/state/svc/pacing',
      '.local/state/svc/sandbox',
      '.local/state/svc/spool',
      '.local/state/svc/tails',
      '.zfunc/_svc',
    ]);

    const dry = await run('', [], argv('reset --dry-run --forget {job}'));
    expect([dry.code, filesIn(home).toSorted()], dry.stderr).toEqual([0, before.toSorted()]);
    const done = await run('', [], argv('reset --yes --forget {job}'));
    expect([done.code, filesIn(home).toSorted()], done.stderr).toEqual([0, named.toSorted()]);
    expect(readdirSync(home, { recursive: true })).not.toContain('.config/svc');
    expect(words(await run('', [], argv('reset --yes')))).toBe('nothing is kept here\n');
  });
});
