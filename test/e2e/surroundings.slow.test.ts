import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { FaultServer } from '../support/fault-server.ts';
import { CAN_OBEY_MODES, finished, Home } from '../support/svc.ts';
import { until } from '../support/until.ts';
import { succeeded } from '../support/run-here.ts';

const home = new Home();
execFileSync('mkfifo', [home.file('pipe')]);

const SERVICE = { SVC_BASE_URL: 'http://127.0.0.1:9' };
const NO_SERVICE = { SVC_BASE_URL: '' };
const KEYS = { ...SERVICE, SVC_API_KEY: 'a-key' };

describe('a pipe that nobody writes to', () => {
  it.each([
    ['key file', ['logs'], { ...SERVICE, SVC_API_KEY_FILE: 'pipe' }],
    ['body', ['3ds', 'authenticate', 's', '--file', 'pipe'], KEYS],
  ] as const)(
    'R14: a pipe that nobody writes to holds a command as %s no longer than --timeout, and a signal ends it',
    async (_, argv, env) => {
      expect(await home.svc([...argv, '--timeout', '300ms'], { env })).toMatchObject({
        code: 8,
        stderr: expect.stringContaining('--timeout'),
      });
      const child = home.start([...argv, '--debug'], { env });
      const end = finished(child);
      // The command installs its signal handlers before it opens the pipe.
      await until(() => hasOpen(child.pid, home.file('pipe')));
      child.kill('SIGINT');
      expect(await end).toMatchObject({ code: 130 });
    },
  );

  it('R14: a pipe that nobody writes to serves as a key file once its writer comes', async () => {
    const child = home.start(['logs', '--timeout', '20s'], { env: { ...SERVICE, SVC_API_KEY_FILE: 'pipe' } });
    const end = finished(child);
    writeFileSync(home.file('pipe'), 'a-key\n');
    expect(await end).toMatchObject({ code: 8 });
  });
});

describe.runIf(CAN_OBEY_MODES)('a state directory that cannot be written', () => {
  const state = home.file('read-only');
  beforeAll(() => {
    mkdirSync(state);
    writeFileSync(home.file('tokens.csv'), exampleRequestFile());
    chmodSync(state, 0o500);
  });
  afterAll(() => chmodSync(state, 0o700));

  it.each([
    ['read-only', '--sandbox logs'],
    ['read-only', '--sandbox au submit tokens.csv'],
    ['read-only', 'au submit tokens.csv'],
    ['read-only', 'au check -'],
    ['read-only', 'sandbox start --port 0'],
    ['tokens.csv', '--sandbox logs'],
    ['tokens.csv', 'au submit tokens.csv'],
    ['/proc/none', '--sandbox logs'],
    ['/proc/none', 'au submit tokens.csv'],
  ])('R10: a state directory that cannot be written is named when it is %s: svc %s', async (directory, line) => {
    const child = home.start(line.split(' '), {
      env: {
        ...KEYS,
        ...(line.startsWith('--sandbox') ? NO_SERVICE : {}),
        SVC_STATE_DIR: resolve(home.path, directory),
      },
      obeysModes: true,
    });
    child.stdin.end(exampleRequestFile());
    const { code, stderr } = await finished(child);
    const [exitCode, name] = directory === 'tokens.csv' ? [3, 'config'] : [1, 'local'];
    expect({ code, stderr }).toEqual({ code: exitCode, stderr: expect.stringContaining(`"code":"${name}"`) });
    expect(stderr).toMatch(/read-only|tokens\.csv|\/proc\/none/);
  });
});

describe.runIf(CAN_OBEY_MODES)('a default config that may not be read', () => {
  const config = home.file('.config');
  beforeAll(() => {
    mkdirSync(config, { mode: 0o000 });
    writeFileSync(home.file('request.csv'), exampleRequestFile());
  });
  afterAll(() => chmodSync(config, 0o700));

  async function run(line: string, env: Readonly<Record<string, string>> = {}) {
    const child = home.start(line.split(' '), { env, obeysModes: true });
    child.stdin.end();
    return finished(child);
  }

  it('a default config that may not be read is a warning for a command without a service, and stops all others', async () => {
    const { stderr } = succeeded(await run('au check request.csv'));
    expect(stderr).toMatch(/config\.json could not be read \(EACCES\): going on without a profile/);
    for (const [line, env] of [
      ['logs', KEYS],
      ['au submit request.csv --yes', KEYS],
      ['au check request.csv --profile prod', {}],
      ['au check request.csv', { SVC_CONFIG_DIR: config }],
    ] as const)
      expect(await run(line, env), line).toMatchObject({ code: 3, stderr: expect.stringContaining('EACCES') });
  });
});

describe('a config file that is damaged', () => {
  const config = home.file('damaged');
  beforeAll(() => {
    mkdirSync(config, { mode: 0o700 });
    writeFileSync(join(config, 'config.json'), '{{{', { mode: 0o600 });
  });

  it.each(['completion bash', 'completion install --shell bash --dry-run', 'commands', '__complete bash 1 svc lo'])(
    'R10: a config file that is damaged does not stop svc %s',
    async (line) => {
      expect(await home.svc(line.split(' '), { env: { SVC_CONFIG_DIR: config } })).toMatchObject({
        code: 0,
        stderr: '',
      });
    },
  );
});

describe.skipIf(process.platform === 'win32')('a terminal that closes', () => {
  it.each(['logs archive audit --follow', 'logs tail', 'events listen --port 0'])(
    'R53: a terminal that closes ends svc %s with 129 under nohup too, and one line names what goes on without one',
    async (line) => {
      const child = home.start(['--sandbox', '--debug', ...line.split(' ')], { under: ['nohup'] });
      const end = finished(child);
      // The first line is printed once the signals are handled.
      await new Promise((resolve) => child.stderr.once('data', resolve));
      child.kill('SIGHUP');
      const { code, stderr } = await end;
      expect(code, stderr).toBe(129);
      expect(stderr.split('\n').filter((text) => text.includes('systemd-run --user'))).toHaveLength(1);
    },
  );
});

describe('what needs nothing', () => {
  it.each([
    '--version',
    '--help',
    'logs --help',
    'help exit-codes',
    'completion zsh',
    '__complete bash 1 svc lo',
    '__complete bash 3 svc logs --entity-type c',
  ])('R10: svc %s touches neither disk nor network', async (line) => {
    const server = await FaultServer.start([]);
    const empty = new Home();
    const env = { ...KEYS, SVC_BASE_URL: server.url.href };
    const run = await empty.svc(line.split(' '), { env });
    const left = readdirSync(empty.path);
    const homeless = await empty.svc(line.split(' '), { env: { ...env, HOME: '' } });
    await server.close();
    expect({ code: run.code, stderr: run.stderr, left }).toEqual({ code: 0, stderr: '', left: [] });
    expect(homeless).toMatchObject({ code: 0, stdout: run.stdout });
    expect(server.connections).toBe(0);
  });
});

/** Tells whether a process has a file open. */
function hasOpen(pid: number | undefined, file: string): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`) === realpathSync(file);
    } catch {
      return false;
    }
  });
}
