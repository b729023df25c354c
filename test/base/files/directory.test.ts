import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makeDirectory } from '../../../src/base/files/directory.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

it('R58: the names of new directories are flushed: with them a machine without power would lose the records in them', () => {
  const home = temporaryDirectory();
  const flush = vi.spyOn(fs, 'fsyncSync');
  const flushed: number[] = [];
  flush.mockImplementation((descriptor) => void flushed.push(fs.fstatSync(descriptor).ino));
  try {
    makeDirectory(path.join(home, 'runs', 'run-1'));
  } finally {
    flush.mockRestore();
  }
  expect(flushed).toEqual([home, path.join(home, 'runs')].map((directory) => fs.statSync(directory).ino));
  expect(fs.existsSync(path.join(home, 'runs', 'run-1'))).toBe(true);
});

it('R08: a config directory is accepted from its own user, whoever that is', async () => {
  const home = temporaryDirectory();
  giveToAnotherUser(home, 'and what is in it');
  const user = vi.spyOn(os, 'userInfo').mockReturnValue({ ...os.userInfo(), uid: 4242 });
  onTestFinished(() => user.mockRestore());
  const argv = ['profile', 'set', 'base_url', 'https://one.example'];
  expect(await svcHere(argv, { home, env: { SVC_CONFIG_DIR: home } })).toMatchObject({ code: 0 });
});

it('R08: a config file that can neither be closed to others nor be trusted is refused with the command that closes it', async () => {
  const home = temporaryDirectory();
  const file = path.join(home, 'config.json');
  fs.writeFileSync(file, '{"version":1,"profiles":{}}');
  fs.chmodSync(file, 0o644);
  const chmod = vi.spyOn(fs, 'fchmodSync').mockImplementation(() => {
    throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
  });
  onTestFinished(() => chmod.mockRestore());
  const refused = await svcHere(['profile', 'list', '-o', 'json'], { home, env: { SVC_CONFIG_DIR: home } });
  expect([refused.code, errorIn(refused)]).toEqual([
    3,
    expect.objectContaining({
      message: `${file} can be read by others`,
      hint: "Make it private with 'chmod 600', as its owner.",
    }),
  ]);
});

it('R08: a config directory of another user is refused, whether settings are written or read', async () => {
  const home = temporaryDirectory();
  const run = (line: string) => svcHere([...line.split(' '), '-o', 'json'], { home, env: { SVC_CONFIG_DIR: home } });
  expect(await run('profile set base_url https://one.example')).toMatchObject({ code: 0 });
  const before = fs.readFileSync(path.join(home, 'config.json'), 'utf8');
  giveToAnotherUser(home);
  for (const line of ['profile set base_url https://two.example', 'profile show']) {
    const result = await run(line);
    expect([result.code, errorIn(result)['message']]).toEqual([3, `${home} belongs to another user (4242)`]);
  }
  expect(fs.readFileSync(path.join(home, 'config.json'), 'utf8')).toBe(before);
});

/** Lets a directory, and perhaps what is in it, belong to a user that does not run the test, which otherwise only root can arrange. */
function giveToAnotherUser(directory: string, what?: 'and what is in it'): void {
  for (const name of ['lstatSync', 'statSync', 'fstatSync'] as const) {
    const stat = fs[name] as (file: fs.PathLike | number, options?: object) => fs.Stats;
    const spy = vi.spyOn(fs, name) as unknown as { mockImplementation: (read: typeof stat) => { mockRestore(): void } };
    const mocked = spy.mockImplementation((file, options) => {
      const found = stat(file, options);
      if (found === undefined) return found;
      const isInside = what !== undefined && (typeof file === 'number' || String(file).startsWith(directory));
      return file === directory || isInside ? Object.assign(found, { uid: 4242 }) : found;
    });
    onTestFinished(() => mocked.mockRestore());
  }
}
