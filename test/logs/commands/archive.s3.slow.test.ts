import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { openStore } from '../../../src/client/store/open-store.ts';
import { ARCHIVE } from '../../../src/logs/archive/records/record.ts';
import type { Log } from '../../../src/schema/log.ts';
import { type BucketHook, BucketServer } from '../../support/bucket-server.ts';
import { FakeClock } from '../../support/clock.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { finished, Home, LAUNCHER } from '../../support/svc.ts';
import { type Archived, readArchive } from '../archive/archived.ts';
import { logAgo, type LogServer, startLogServer } from './log-server.ts';

const KILLS = process.env['SOAK'] === '1' ? 60 : 3;
const TENANT = 't-1';
const PLACE = 's3://logs/audit';
const RECORD = /_manifest\/\d+\.json$/;
const FIRST_TWO_RECORDS = /_manifest\/0000000[01]\.json$/;
/** The home directories of three machines, which do not see each other's locks. */
const homes = [new Home(), new Home(), new Home()] as const;
let server: LogServer;
let bucket: BucketServer;

beforeEach(async () => {
  server = await startLogServer();
  bucket = await BucketServer.start();
});

function env(): Record<string, string> {
  return {
    SVC_MANAGEMENT_API_KEY: 'a-management-key',
    SVC_BASE_URL: server.url,
    SVC_PACING: 'off',
    ...bucket.environment,
  };
}

/** Runs a command on a machine, in this process. */
function svcOn(home: Home, argv: readonly string[], more = env()): Promise<HereResult> {
  return svcHere(argv, { home: home.path, env: more, clock: new FakeClock({ start: Date.now(), runs: true }) });
}

function archive(home: Home, ...argv: string[]): Promise<HereResult> {
  return svcOn(home, ['logs', 'archive', '--to', PLACE, '-o', 'json', ...argv]);
}

/** Runs the archive and kills it at its nth write, before or directly after the store has the write. */
async function killedAt(nth: number, when: 'before' | 'after'): Promise<boolean> {
  const child = spawn(process.execPath, [LAUNCHER, 'logs', 'archive', PLACE, '--quiet'], {
    cwd: homes[0].path,
    env: homes[0].environment(env()),
    stdio: 'ignore',
  });
  let writes = 0;
  bucket.hook = ({ method }, outgoing, proceed) => {
    const isDue = method === 'PUT' && (writes += 1) === nth;
    if (isDue && when === 'before') return void child.kill('SIGKILL');
    if (isDue) outgoing.once('finish', () => child.kill('SIGKILL'));
    proceed();
  };
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  bucket.hook = undisturbed;
  return signal === 'SIGKILL';
}

function produce(count: number, ageMs: number): void {
  for (let index = 0; index < count; index += 1) {
    const message = `entry ${server.logs.length}`;
    server.logs.push(logAgo(ageMs + ((index * 7_919) % 60_000), message, { tenant_id: TENANT }));
  }
  for (let index = 0; index < 3; index += 1) server.logs.push(logAgo(ageMs, 'twin', { tenant_id: TENANT }));
}

async function archived(): Promise<Archived> {
  const store = await openStore(
    {
      env: env(),
      bucketWork: () => homes[0].path,
      cwd: homes[0].path,
      pid: process.pid,
      isAlive: () => true,
      clock: systemClock,
      signal: new AbortController().signal,
    },
    PLACE,
    ARCHIVE,
  );
  return readArchive(store);
}

function lines(logs: readonly Log[]): string[] {
  return logs.map(({ created_at, message }) => `${created_at} ${message}`).toSorted();
}

async function expectWhole(): Promise<void> {
  const { logs, gaps } = await archived();
  expect(lines(logs)).toEqual(lines(server.logs));
  expect(gaps).toEqual([]);
  const verified = await svcOn(homes[0], ['logs', 'verify', PLACE, '--strict']);
  expect({ code: verified.code, stderr: verified.stderr }).toEqual({ code: 0, stderr: '' });
}

describe('svc logs archive in a bucket', () => {
  it(`R33: an archive whose writer was killed ${KILLS} times is complete, has no duplicates, and verifies`, async () => {
    produce(500, 20 * 3_600_000);
    let kills = 0;
    for (let turn = 0; turn < KILLS; turn += 1) {
      produce(20, 3_000);
      if (await killedAt(1 + (turn % 5), turn % 2 === 0 ? 'before' : 'after')) kills += 1;
    }
    await systemClock.sleep(1_100);
    const { code, stdout, stderr } = await archive(homes[1]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ archive: PLACE, tenant_id: TENANT });
    expect(kills).toBeGreaterThan(KILLS / 2);
    await expectWhole();
  });

  it('R33: one of two machines that write at once stops, and nothing is duplicated', async () => {
    produce(50, 3_600_000);
    expect(await archive(homes[0])).toMatchObject({ code: 0 });
    for (let round = 0; round < 2; round += 1) {
      produce(50, 3_000);
      bucket.hook = meetAtRecords();
      const ends = await Promise.all(homes.slice(0, 2).map((home) => archive(home)));
      bucket.hook = undisturbed;
      expect(ends.map(({ code }) => code).toSorted((one, other) => (one ?? 0) - (other ?? 0))).toEqual([0, 6]);
      const loser = ends.find(({ code }) => code === 6);
      expect(loser?.stderr).toMatch(/another writer has committed record \d+ of s3:\/\/logs\/audit/);
    }
    await systemClock.sleep(1_100);
    expect(await archive(homes[1])).toMatchObject({ code: 0 });
    await expectWhole();
  });

  it('R82: a machine that archives and one that signs a review at once both succeed', async () => {
    produce(50, 3_600_000);
    expect(await archive(homes[0])).toMatchObject({ code: 0 });
    produce(50, 3_000);
    bucket.hook = meetAtRecords();
    const signing = svcOn(homes[1], ['logs', 'review', PLACE, '--sign-off', '--note', 'SEC-41']);
    const ends = await Promise.all([archive(homes[0]), signing]);
    bucket.hook = undisturbed;
    expect(ends.map(({ code, stderr }) => [code, code === 0 ? '' : stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    expect(ends[1].stdout).toContain('"note": "SEC-41"');
    await systemClock.sleep(1_100);
    expect(await archive(homes[0])).toMatchObject({ code: 0 });
    await expectWhole();
  });

  it.each(['refuses', 'ignores'] as const)(
    'R33: one of three machines whose first records are stored at once succeeds, without damage, in a bucket that %s conditions',
    async (manner) => {
      produce(50, 3_600_000);
      bucket.conditions = manner === 'ignores' ? 'ignored' : { status: 501, code: 'NotImplemented' };
      bucket.hook = meetAtAcceptedRecords(homes.length);
      const ends = await Promise.all(homes.map((home) => archive(home)));
      bucket.hook = undisturbed;
      const codes = ends.map(({ code }) => code ?? 0).toSorted((one, other) => one - other);
      expect(ends.map(({ stderr }) => stderr).join('')).not.toContain('damaged');
      expect(codes).toEqual([0, 6, 6]);
      expect(await archive(homes[1])).toMatchObject({ code: 0 });
      await expectWhole();
    },
  );

  it('R76: three machines that begin an archive at once raise no alarm', async () => {
    produce(30, 60_000);
    const progress = new EventEmitter();
    const isBegun = once(progress, 'begun');
    const isShared = once(progress, 'shared');
    let lists = 0;
    bucket.hook = ({ method, url = '' }, outgoing, proceed) => {
      if (method === 'PUT' && url.endsWith('/00000000.json')) outgoing.once('finish', () => progress.emit('begun'));
      // Each machine first checks that the location is empty. The first waits for the check of another, and the others wait
      // until the first has begun the archive.
      const isLook = method === 'GET' && /[?&]prefix=audit%2F(&|$)/.test(url);
      if (!isLook) return proceed();
      lists += 1;
      if (lists === 1) return void isShared.then(proceed);
      progress.emit('shared');
      void isBegun.then(proceed);
    };
    const runs = await Promise.all(homes.map((home) => archive(home)));
    for (const { code, stderr } of runs) expect([0, 6], stderr).toContain(code);
    expect(runs.filter(({ code }) => code === 0).length).toBeGreaterThan(0);
    for (const home of homes) expect(await archive(home)).toMatchObject({ code: 0, stderr: '' });
    await expectWhole();
  });

  it('R33: svc logs archive --keep archives what is new where one old file may not be removed, and reports it', async () => {
    const days = [120, 119, 1];
    for (const day of days) server.logs.push(logAgo(day * 86_400_000, `${day} days`, { tenant_id: TENANT }));
    const keep = ['--since', '130d', '--retention', '200d'];
    expect(await archive(homes[0], ...keep)).toMatchObject({ code: 0 });
    const segments = (await archived()).links.flatMap(({ record }) =>
      record.kind === 'segments' ? record.segments : [],
    );
    const held = segments[0]?.path ?? '';
    const denied = '<Error><Code>AccessDenied</Code><Message>held</Message></Error>';
    bucket.hook = ({ method, url }, outgoing, proceed) => {
      if (method !== 'DELETE' || !decodeURIComponent(url ?? '').endsWith(held)) proceed();
      else outgoing.writeHead(403).end(denied);
    };
    for (const run of [1, 2]) {
      produce(1, 1_000 * run);
      const { code, stdout, stderr } = await archive(homes[0], ...keep, '--keep', '2M');
      expect([code, stderr]).toEqual([4, expect.stringContaining('1 file of dropped months was not removed')]);
      expect(JSON.parse(stdout)).toMatchObject({ entries: 4, dropped: run === 1 ? { entries: 2 } : null });
      expect(stderr).toContain('Allow s3:DeleteObject');
      const verified = await svcOn(homes[0], ['logs', 'verify', PLACE]);
      expect([verified.code, verified.stderr]).toEqual([0, '']);
      expect(verified.stdout.match(/"kind":"undeleted".*/g)).toEqual([expect.stringContaining(held)]);
    }
    bucket.hook = undisturbed;
    expect(await archive(homes[0], ...keep, '--keep', '2M')).toMatchObject({ code: 0 });
    const after = await svcOn(homes[0], ['logs', 'verify', PLACE]);
    expect([after.code, after.stdout.includes('undeleted')]).toEqual([0, false]);
  });

  it('R76: no file is missing in a bucket whose lists show it only later', async () => {
    produce(50, 3_600_000);
    bucket.listedAfterMs = 3_600_000;
    for (const home of homes.slice(0, 2)) {
      expect(await archive(home)).toMatchObject({ code: 0, stderr: '' });
      await expectWhole();
      produce(5, 3_000);
      await systemClock.sleep(1_100);
    }
  });

  it('R06: svc logs archive shows no credential, whatever goes wrong', async () => {
    produce(5, 60_000);
    const canaries = { AWS_SECRET_ACCESS_KEY: 'canary-secret-1', AWS_SESSION_TOKEN: 'canary-token-1' };
    const argv = ['logs', 'archive', '--to', PLACE, '--debug'];
    const refused = await svcOn(homes[0], argv, { ...env(), ...canaries });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('SignatureDoesNotMatch');
    expect(refused.stderr).toMatch(/^< 403 GET http.*request id [\w-]+$/m);
    bucket.hook = echo;
    const echoed = await svcOn(homes[0], argv, { ...env(), ...canaries });
    expect(echoed.code).toBe(6);
    expect(refused.stdout + refused.stderr + echoed.stdout + echoed.stderr).not.toMatch(/canary|Signature=/);
  });

  it('svc logs archive --sandbox archives the logs of the sandbox in the bucket that the environment names', async () => {
    const argv = ['--sandbox', 'logs'];
    const { AWS_ENDPOINT_URL_S3, ...credentials } = bucket.environment;
    const nowhere = await svcOn(homes[1], [...argv, 'archive', '--to', PLACE], {});
    expect(nowhere).toMatchObject({ code: 3, stderr: expect.stringContaining('AWS_ACCESS_KEY_ID is not set') });
    expect(nowhere.stderr).not.toContain('--sandbox');
    const elsewhere = { AWS_ENDPOINT_URL: AWS_ENDPOINT_URL_S3, ...credentials };
    const made = await svcOn(homes[1], [...argv, 'archive', '--to', PLACE, '-o', 'json'], elsewhere);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining(`"archive": "${PLACE}"`) });
    const verified = await svcOn(homes[1], [...argv, 'verify', PLACE], bucket.environment);
    expect(verified).toMatchObject({ code: 0 });
    const curl = await svcOn(homes[1], [...argv, 'archive', '--to', PLACE, '--curl'], bucket.environment);
    expect(curl).toMatchObject({ code: 2, stderr: expect.stringContaining('--curl') });
  });

  it('svc logs archive adds no logs of the sandbox to the archive of a real tenant', async () => {
    produce(5, 60_000);
    expect(await archive(homes[0])).toMatchObject({ code: 0 });
    const argv = ['--sandbox', 'logs', 'archive', '--to', PLACE, '--keep', '1M'];
    const mixed = await svcOn(homes[1], argv, bucket.environment);
    expect(mixed).toMatchObject({ code: 3, stderr: expect.stringContaining('not of sandbox') });
    await systemClock.sleep(1_100);
    expect(await archive(homes[0])).toMatchObject({ code: 0 });
    await expectWhole();
  });

  it('svc logs archive commits to the bucket what it has when it is interrupted', async () => {
    produce(50, 60_000);
    const argv = ['logs', 'archive', PLACE, '--follow', '--every', '1h', '-o', 'json'];
    const child = homes[0].start(argv, { env: env() });
    const ended = finished(child);
    // When the command waits between two polls, it has read everything.
    for (let seen = 0, quiet = 0; quiet < 4; seen = server.requests) {
      await systemClock.sleep(500);
      quiet = seen < 4 || seen !== server.requests ? 0 : quiet + 1;
    }
    expect((await archived()).logs).toEqual([]);
    child.kill('SIGTERM');
    const { code, stdout } = await ended;
    expect([code, (JSON.parse(stdout) as { entries: number }).entries]).toEqual([143, 53]);
    await expectWhole();
  });

  it('R30: svc logs archive --follow goes on after a bucket made a record without a response, and archives each entry once', async () => {
    const home = new Home();
    produce(50, 60_000);
    const child = home.start(['logs', 'archive', PLACE, '--follow', '--every', '2s'], { env: env() });
    const ended = finished(child);
    const said = { text: '' };
    child.stderr.on('data', (text: string) => (said.text += text));
    await expect.poll(() => archived().then(({ logs }) => logs.length, String)).toBe(53);
    bucket.hook = withoutResponse;
    produce(20, 3_000);
    await expect.poll(() => said.text).toMatch(/disconnected: s3:.*; retrying/);
    produce(20, 3_000);
    bucket.hook = undisturbed;
    await expect.poll(() => said.text).toContain('caught up after');
    // What the failed commit left on this machine is gone.
    await expect.poll(() => readdirSync(home.path, { recursive: true }).join(' ')).not.toContain('.gz');
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect([code, stderr.match(/disconnected|caught up/g)]).toEqual([143, ['disconnected', 'caught up']]);
    await expectWhole();
  });

  it('svc logs archive without --follow fails while the bucket fails', async () => {
    produce(5, 60_000);
    bucket.hook = refusesWrites;
    const { code, stderr } = await archive(homes[0]);
    expect([code, stderr]).toEqual([7, expect.stringContaining('SlowDown')]);
  });

  it('svc logs archive reports a missing setting before it sends a request', async () => {
    const without = { ...env(), AWS_SECRET_ACCESS_KEY: '' };
    const missing = await svcOn(homes[0], ['logs', 'archive', '--to', PLACE], without);
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('AWS_SECRET_ACCESS_KEY') });
    const absent = await svcOn(homes[0], ['logs', 'archive', 's3://absent']);
    expect(absent).toMatchObject({ code: 5, stderr: expect.stringContaining('there is no bucket absent') });
    expect(server.requests).toBe(0);
  });
});

const undisturbed: BucketHook = (_, __, proceed) => proceed();

const SLOW_DOWN = '<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>';

const refusesWrites: BucketHook = ({ method }, outgoing, proceed) => {
  if (method === 'PUT') outgoing.writeHead(503).end(SLOW_DOWN);
  else proceed();
};

/** Makes a record whose writer gets no response. */
const withoutResponse: BucketHook = ({ method, url }, outgoing, proceed) => {
  if (method === 'PUT' && RECORD.test(url ?? '')) outgoing.end = () => outgoing.destroy();
  proceed();
};

/** A store whose error shows the received headers. */
const echo: BucketHook = (incoming, outgoing) => {
  outgoing.writeHead(400, { 'x-amz-request-id': 'canary-secret-1' });
  outgoing.end(`<Error><Code>Odd</Code><Message>${shown(incoming)}</Message></Error>`);
};

function shown({ headers }: IncomingMessage): string {
  return JSON.stringify(headers).replaceAll('"', ' ');
}

/** Delays the first write of a record until the other machine writes its record. */
function meetAtRecords(): BucketHook {
  let first: (() => void) | undefined;
  let hasMet = false;
  return ({ method, url = '' }, _, proceed) => {
    if (method !== 'PUT' || !RECORD.test(url) || hasMet) return proceed();
    if (first === undefined) {
      first = proceed;
      return undefined;
    }
    hasMet = true;
    first();
    proceed();
  };
}

/**
 * Delays each accepted write of the first two records until this number of writers have sent theirs, and the responses until
 * all are stored: svc waits two seconds for writes of others, which pass at once here. A machine that the others outran by a
 * whole record would continue after it, as it should, and succeed too.
 */
function meetAtAcceptedRecords(writers: number): BucketHook {
  const sent = new Map<string, (() => void)[]>();
  const stored = new Map<string, (() => void)[]>();
  const meet = (met: Map<string, (() => void)[]>, url: string, go: () => void): void => {
    const all = [...(met.get(url) ?? []), go];
    met.set(url, all.length < writers ? all : []);
    if (all.length === writers) for (const each of all) each();
  };
  return ({ method, url = '', headers }, outgoing, proceed) => {
    const isRefused = bucket.conditions !== 'ignored' && headers['if-none-match'] !== undefined;
    if (method !== 'PUT' || !FIRST_TWO_RECORDS.test(url) || isRefused) return proceed();
    const respond = outgoing.end.bind(outgoing);
    outgoing.end = () => {
      meet(stored, url, respond);
      return outgoing;
    };
    meet(sent, url, proceed);
  };
}
