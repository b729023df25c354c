import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { FaultServer, type Script } from '../support/fault-server.ts';
import { answer, json } from '../support/fault-steps.ts';
import { type HereResult, svcIn } from '../support/run-here.ts';
import { finished, Home } from '../support/svc.ts';

const TENANT = { id: '00000000-0000-4000-8000-000000000001', name: 'Acme', type: 'test' };

interface Desk {
  readonly server: FaultServer;
  readonly home: Home;
  readonly env: Record<string, string>;
}

/** Runs a command in the process of the test, in real time. */
function svcAt({ path: home }: Home, argv: readonly string[], env: Record<string, string> = {}): Promise<HereResult> {
  return svcIn(home, argv, { env, clock: systemClock });
}

/** Starts a scripted service, and creates the home of an operator with keys for it. */
async function openDesk(script: Script): Promise<Desk> {
  const server = await FaultServer.start(script);
  const home = new Home();
  onTestFinished(() => server.close());
  const env = {
    SVC_BASE_URL: server.url.href,
    SVC_MANAGEMENT_API_KEY: 'a-key',
    SVC_PRIVATE_API_KEY: 'another-key',
    SVC_STATE_DIR: home.file('state'),
  };
  return { server, home, env };
}

const PUT: [string, (file: string) => void][] = [
  ['a pipe that nobody writes to', (file) => execFileSync('mkfifo', [file])],
  ['a device without an end', (file) => symlinkSync('/dev/zero', file)],
  [
    '200 MB',
    (file) => {
      writeFileSync(file, '');
      truncateSync(file, 200_000_000);
    },
  ],
  ['a million lines', (file) => writeFileSync(file, '\n{"id":"x","rules":["burst"],"sentAt":0}'.repeat(1_000_000))],
];

describe('the files that processes with one key share', () => {
  it.each(PUT)(
    'R81: the files that processes with one key share hold no command up where each of them is %s',
    async (_, put) => {
      const { home, env } = await openDesk(() => json(TENANT));
      expect(await svcAt(home, ['tenant', 'show'], env)).toMatchObject({ code: 0, stderr: '' });
      const directory = home.file('state/pacing');
      for (const name of readdirSync(directory)) {
        rmSync(path.join(directory, name));
        put(path.join(directory, name));
      }
      expect(await svcAt(home, ['tenant', 'show', '--timeout', '10m'], env)).toMatchObject({ code: 0, stderr: '' });
    },
  );

  it.each(PUT)('R81: the files of a job hold no command up where each of them is %s', async (_, put) => {
    const home = new Home();
    const svc = (line: string) => svcAt(home, `--sandbox ${line} -o json`.split(' '));
    writeFileSync(home.file('tokens.csv'), exampleRequestFile());
    const { job } = JSON.parse((await svc('au submit tokens.csv --cycle month --wait')).stdout) as { job: string };
    for (const name of ['request.csv', 'results.csv', 'sent']) {
      const file = home.file(`.local/state/svc/ledger/sandbox/jobs/${job}/${name}`);
      rmSync(file);
      put(file);
    }
    const ended = await svc('au submit tokens.csv --cycle month --wait --out again.csv --timeout 10m');
    // Something that is no file is named, and not replaced.
    expect([0, 2], ended.stderr).toContain(ended.code);
  });
});

const LIMITED: Script = () => answer(429, '', { 'retry-after': '1800' });

describe('a service that asks to wait for half an hour', () => {
  const SHOW = ['tenant', 'show'];
  const HELD = {
    code: 7,
    stderr: expect.stringMatching(/asked an earlier request with this key to wait; \d+ s are left, longer than 90 s/),
  };

  it('R81: a service that asks to wait for half an hour is not sent another request by a process that comes after one which gave up', async () => {
    const { home, env, server } = await openDesk(LIMITED);
    expect(await home.svc(SHOW, { env })).toMatchObject({ code: 7, stderr: expect.stringContaining('1800 s') });
    expect(await home.svc(SHOW, { env })).toMatchObject(HELD);
    expect(server.ledger).toHaveLength(1);
  });

  it('R81: a service that asks to wait for half an hour binds others to their own --max-wait, --timeout and signals, not to the patience of the first', async () => {
    const { home, env, server } = await openDesk(LIMITED);
    const first = home.start([...SHOW, '--max-wait', '1h'], { env });
    const firstEnd = finished(first);
    while (server.ledger.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    // The command records the pause for others before it says that it waits.
    await new Promise((resolve) => first.stderr.once('data', resolve));
    first.kill('SIGKILL');
    expect(await firstEnd).toMatchObject({ signal: 'SIGKILL' });

    expect(await home.svc(SHOW, { env })).toMatchObject(HELD);
    const patient = [...SHOW, '--max-wait', '1h'];
    expect(await home.svc([...patient, '--timeout', '500ms'], { env })).toMatchObject({ code: 8 });
    const last = home.start(patient, { env });
    const lastEnd = finished(last);
    await new Promise((resolve) => last.stderr.once('data', resolve));
    last.kill('SIGTERM');
    expect(await lastEnd).toMatchObject({ code: 143 });
    expect(server.ledger).toHaveLength(1);
  });
});
