import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RunDirectory } from '../../../src/au/run/run-directory.ts';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { FakeClock } from '../../support/clock.ts';
import type { HereResult } from '../../support/run-here.ts';
import { openDesk, openQuickDesk, type QuickDesk } from '../commands/support.ts';
import { forgetJobs } from '../recorded-run.ts';

// Each test starts several processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const HOUR = 3_600_000;
const RUNS = '.local/state/svc/runs';

/** Opens a desk with one open run, whose job the service is still processing. */
async function openRun(intercept?: Interceptor): Promise<{ desk: QuickDesk; run: string; job: string }> {
  const desk = await openQuickDesk({ processingMs: HOUR, pickupMs: 0, ...(intercept && { intercept }) });
  expect(await desk.svc('au submit tokens.csv')).toMatchObject({ code: 0 });
  const [run = ''] = desk.runIds();
  return { desk, run, job: desk.record(run).parts[0]?.job ?? '' };
}

/** Begins another open run, of a file with one more row. */
async function anotherRun(desk: QuickDesk, name: string): Promise<string> {
  const before = new Set(desk.runIds());
  const digits = Buffer.from(name).toString('hex').padEnd(12, '0').slice(0, 12);
  writeFileSync(desk.home.file(name), `${exampleRequestFile()}00000000-0000-4000-8000-${digits},,,\n`);
  expect(await desk.svc(`au submit ${name} --pay-again`)).toMatchObject({ code: 0 });
  return desk.runIds().find((id) => !before.has(id)) ?? '';
}

/** Changes the address of a run, as if it had begun there. */
function alsoAt(desk: QuickDesk, run: string, base: string): void {
  desk.change(run, (record) => Object.assign(record, { base_url: base }));
}

/** Returns the path of a run's lock, which is named after the inode of its directory. */
function lockOf(desk: QuickDesk, run: string): string {
  const directory = desk.home.file(join(RUNS, run));
  return join(directory, `run.${statSync(directory).ino}.lock`);
}

function outcomes({ stdout }: Pick<HereResult, 'stdout'>): Record<string, unknown> {
  const rows = stdout.trimEnd().split('\n').filter(Boolean);
  const parsed = rows.map((row) => JSON.parse(row) as { run: string; outcome: unknown });
  return Object.fromEntries(parsed.map(({ run, outcome }) => [run, outcome]));
}

const NO_PORT = 'http://127.0.0.1:1';
const NO_HOST = 'https://no-such-host.invalid';

/** Problems with every request, as environment variables, with the expected exit code. */
const TROUBLES: readonly (readonly [name: string, env: Record<string, string>, code: number])[] = [
  ['a dead key', { SVC_PRIVATE_API_KEY: 'no-such-key' }, 4],
  ['no key', { SVC_PRIVATE_API_KEY: '' }, 3],
  ['a refused port', { SVC_BASE_URL: NO_PORT }, 8],
  ['an unknown host', { SVC_BASE_URL: NO_HOST }, 8],
];

/** Returns a short time limit for a service that does not respond. Other problems end a command earlier. */
function limitFor(code: number): string {
  return code === 8 ? '--timeout 3s' : '--timeout 1m';
}

describe('what a command with a run says when no response said anything', () => {
  it.each(TROUBLES)('R72: %s is its own exit code in resume, status and download, never 11', async (_, env, code) => {
    const { desk, run } = await openRun();
    if (env['SVC_BASE_URL'] !== undefined) alsoAt(desk, run, env['SVC_BASE_URL']);
    const lines = ['au resume', `au resume ${run} --wait ${limitFor(code)}`, `au status ${run}`, `au download ${run}`];
    for (const line of lines) {
      const { code: found, stderr } = await desk.svc(line, env);
      expect(stderr).not.toContain('pending');
      expect([line, found]).toEqual([line, code]);
    }
    expect(desk.uploads()).toBe(1);
  });

  it.each(TROUBLES)('R72: %s is its own exit code in submit, with --wait and with --timeout', async (_, env, code) => {
    const desk = await openQuickDesk();
    for (const options of [limitFor(code), `--wait ${limitFor(code)}`, '--wait'])
      expect([options, (await desk.svc(`au submit tokens.csv ${options}`, env)).code]).toEqual([options, code]);
    expect(desk.uploads()).toBe(0);
  });

  it('R72: a key without the permission is 4, and what it may do is done', async () => {
    let mayCreate = true;
    const { desk, run } = await openRun((incoming, outgoing, proceed) => {
      if (mayCreate || incoming.method !== 'POST') return proceed();
      outgoing.writeHead(403, { 'content-type': 'application/json' }).end('{"title":"Forbidden"}');
    });
    mayCreate = false;
    // The second part, with other rows, has no job yet.
    const [header = ''] = exampleRequestFile().split('\n');
    const rows = `${header}\nother,,,\n`;
    writeFileSync(desk.home.file(join(RUNS, run, 'rows-0002.csv')), rows);
    const [start, end] = [header.length + 1, rows.length];
    const sha256 = createHash('sha256').update(rows).digest('hex');
    const second = { number: 2, first_row: 1, rows: 1, rows_file: 'rows-0002.csv', start, end, bytes: end, sha256 };
    desk.change(run, ({ parts }) => parts.push({ ...second, state: 'planned' }));
    const polled = desk.sandbox.ledger().length;
    const { code, stdout, stderr } = await desk.svc('au resume');
    expect(code, stderr).toBe(4);
    expect(outcomes({ stdout })).toEqual({ [run]: 'forbidden' });
    // The first part is polled after the refusal.
    expect(
      desk.sandbox
        .ledger()
        .slice(polled)
        .map(({ method }) => method)
        .slice(-2),
    ).toEqual(['POST', 'GET']);
    writeFileSync(desk.home.file('other.csv'), `${exampleRequestFile()}00000000-0000-4000-8000-000000000001,,,\n`);
    expect(await desk.svc('au submit other.csv --pay-again --timeout 20s')).toMatchObject({ code: 4 });
  });
});

describe('a download of a run whose upload was cut off', () => {
  it('R72: a download of a run whose upload was cut off is 4 with a key that has expired, and 8 where nothing responds', async () => {
    const { desk, run } = await openRun();
    desk.change(run, ({ parts }) => {
      for (const part of parts) Object.assign(part, { state: 'uploading', sent: 'all' });
    });
    const expired = await desk.svc(`au download ${run}`, { SVC_PRIVATE_API_KEY: 'no-such-key' });
    expect(expired.code, expired.stderr).toBe(4);
    alsoAt(desk, run, NO_PORT);
    const unreachable = await desk.svc(`au download ${run} --timeout 3s`, { SVC_BASE_URL: NO_PORT });
    expect(unreachable.code, unreachable.stderr).toBe(8);
    expect(desk.record(run).parts).toMatchObject([{ state: 'uploading' }]);
    alsoAt(desk, run, desk.sandbox.url);
    // The service has the file.
    expect(await desk.svc(`au download ${run}`)).toMatchObject({ code: 11 });
    expect(desk.record(run).parts).toMatchObject([{ state: 'uploaded', seen: 'processing' }]);
    expect(desk.uploads()).toBe(1);
  });
});

describe('what several runs and parts come to', () => {
  it('R72: a run whose record is damaged, one without its file and a refused key stop no other, and the worst counts', async () => {
    const { desk, run } = await openRun();
    const gone = await anotherRun(desk, 'gone.csv');
    expect(await desk.svc('au resume')).toMatchObject({ code: 11 });
    desk.change(gone, forgetJobs);
    rmSync(desk.home.file('gone.csv'));
    desk.removeCopy(gone);
    const mixed = await desk.svc('au resume');
    expect([mixed.code, outcomes(mixed)]).toEqual([1, { [run]: 'pending', [gone]: 'local' }]);
    const damaged = desk.home.file(join(RUNS, 'run-20260101-00000000-0000'));
    mkdirSync(damaged);
    writeFileSync(join(damaged, 'run.json'), '{');
    expect(await desk.svc('au resume')).toMatchObject({ code: 1 });
    await desk.svc(`au abandon ${gone} --yes`);
    const unreadable = await desk.svc('au resume');
    expect([unreadable.code, outcomes(unreadable)]).toEqual([3, { [run]: 'pending' }]);
  });

  it('R72: the refused request of one run does not stop the others, one of which is pending', async () => {
    let refused = '';
    const { desk, run, job } = await openRun((incoming, outgoing, proceed) => {
      if (refused === '' || !incoming.url?.includes(refused)) return proceed();
      outgoing.writeHead(401, { 'content-type': 'application/json' }).end('{"title":"Unauthorized"}');
    });
    const other = await anotherRun(desk, 'other.csv');
    for (const id of [job, desk.record(other).parts[0]?.job ?? '']) {
      refused = id;
      const ended = await desk.svc('au resume');
      const isFirst = id === job;
      expect([ended.code, outcomes(ended)]).toEqual([
        4,
        { [run]: isFirst ? 'unauthorized' : 'pending', [other]: isFirst ? 'pending' : 'unauthorized' },
      ]);
    }
  });

  it('R72: a part that failed outweighs one that is pending, and one that needs its file', async () => {
    const { desk, run } = await openRun();
    desk.change(run, ({ parts }) => {
      const [first] = parts;
      if (!first) throw new Error('there is no part');
      parts.push({ ...first, number: 2, state: 'failed', errors: ['made up'] });
    });
    for (const line of ['au resume', `au resume ${run} --wait --timeout 4s`, `au download ${run}`]) {
      const { code, stderr } = await desk.svc(line);
      expect([line, code]).toEqual([line, 10]);
      expect(stderr).toContain('1 of 2 jobs');
    }
  });

  it('R72: refused results of one part are 12, although another is pending', async () => {
    let broken = '';
    const { desk, run, job } = await openRun((incoming, outgoing, proceed) => {
      if (broken === '' || incoming.method !== 'GET' || !incoming.url?.includes(broken)) return proceed();
      if (incoming.url.includes('/account-updater/')) {
        const address = `${desk.sandbox.url}/broken/${broken}`;
        const body = JSON.stringify({ id: broken, status: 'completed', download_url: address });
        return outgoing.writeHead(200, { 'content-type': 'application/json' }).end(body);
      }
      outgoing.writeHead(200, { 'content-type': 'text/csv' }).end('not,a,result\n');
    });
    desk.change(run, ({ parts }) => {
      const [first] = parts;
      if (!first) throw new Error('there is no part');
      parts.push({ ...first, number: 2, state: 'completed', job: 'other-job' });
    });
    broken = 'other-job';
    const { code, stdout, stderr } = await desk.svc('au resume');
    expect(code, stderr).toBe(12);
    expect(outcomes({ stdout })).toEqual({ [run]: 'checksum_mismatch' });
    expect(desk.record(run).parts[0]).toMatchObject({ job, state: 'uploaded', seen: 'processing' });
  });
});

describe('a response that said pending', () => {
  it('R72: a response that said pending is 11 with the service off from then on, when the time limit is reached', async () => {
    let polls = 0;
    const { desk, run, job } = await openRun((incoming, outgoing, proceed) => {
      const isPoll = incoming.method === 'GET' && /jobs\/[^/]+$/.test(incoming.url ?? '');
      if (isPoll) polls += 1;
      if (isPoll && polls > 1) outgoing.destroy();
      else proceed();
    });
    for (const of of [run, job]) {
      polls = 0;
      const { code, stderr } = await desk.svc(`au resume ${of} --wait --timeout 5s`);
      expect(code, stderr).toBe(11);
      expect(stderr).toContain('the time limit (--timeout 5s) was reached; ');
      expect(stderr).toContain(`svc au resume ${of} --wait`);
      // In this wait, no poll gets a response.
      expect((await desk.svc(`au resume ${of} --wait --timeout 3s`)).code).toBe(8);
    }
  });

  it('R72: a response that said pending is not what a job is that the service does not find, although its file was stored', async () => {
    let isGone = false;
    const { desk, run } = await openRun((incoming, outgoing, proceed) => {
      if (!isGone || incoming.method !== 'GET') return proceed();
      outgoing.writeHead(404, { 'content-type': 'application/json' }).end('{"title":"Not Found"}');
    });
    isGone = true;
    const { code, stderr } = await desk.svc('au resume');
    expect(code, stderr).toBe(9);
    expect(stderr).toContain('is not found, though it has its file');
    isGone = false;
    expect(await desk.svc('au resume')).toMatchObject({ code: 11 });
    expect(desk.record(run).parts[0]?.missing_since).toBeUndefined();
  });
});

/** Locks a run in the name of another process until the test is over. */
async function heldRun(): Promise<{ desk: QuickDesk; run: string; pid: number }> {
  const { desk, run } = await openRun();
  const holder = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
  onTestFinished(() => void holder.kill('SIGKILL'));
  const pid = holder.pid ?? 0;
  const directory = await RunDirectory.open(desk.home.file(join(RUNS, run)));
  const host = { pid, isAlive: () => true, clock: new FakeClock(), signal: new AbortController().signal };
  const over = new AbortController();
  onTestFinished(() => over.abort());
  await new Promise<void>((resolve) => {
    const untilOver = async (): Promise<void> => {
      resolve();
      await once(over.signal, 'abort');
    };
    void directory?.hold(host, untilOver);
  });
  // The lock names another process but records the start time of this one, so the start time is removed.
  const lock = lockOf(desk, run);
  const owner = JSON.parse(readFileSync(lock, 'utf8')) as Record<string, unknown>;
  delete owner['birth'];
  writeFileSync(lock, JSON.stringify(owner));
  return { desk, run, pid };
}

/** The state of a run when a command comes to it, the environment, and the exit code of each command. */
interface Ending {
  readonly name: string;
  readonly open: () => Promise<{ desk: QuickDesk; run: string; env?: Readonly<Record<string, string>> }>;
  readonly codes: Readonly<Record<'submit' | 'resume' | 'round' | 'download' | 'status', number>>;
}

/** Opens a run whose job the service reports with this status. */
async function jobsShown(status: string): ReturnType<Ending['open']> {
  let isShown = false;
  const opened = await openRun((incoming, outgoing, proceed) => {
    const id = incoming.method === 'GET' && /jobs\/([^/]+)$/.exec(incoming.url ?? '')?.[1];
    if (!isShown || !id) return proceed();
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, status, errors: ['x'] }));
  });
  isShown = true;
  return opened;
}

async function changedTo(members: Readonly<Record<string, unknown>>): ReturnType<Ending['open']> {
  const opened = await openRun();
  opened.desk.change(opened.run, ({ parts }) => {
    for (const part of parts) Object.assign(part, members);
  });
  return opened;
}

async function withEnv(env: Readonly<Record<string, string>>): ReturnType<Ending['open']> {
  const opened = await openRun();
  if (env['SVC_BASE_URL'] !== undefined) alsoAt(opened.desk, opened.run, env['SVC_BASE_URL']);
  return { ...opened, env };
}

function all(code: number, status = code): Ending['codes'] {
  return { submit: code, resume: code, round: code, download: code, status };
}

const ENDINGS: readonly Ending[] = [
  {
    name: 'done',
    open: async () => {
      const desk = await openQuickDesk();
      await desk.svc('au submit tokens.csv');
      return { desk, run: desk.runIds()[0] ?? '' };
    },
    codes: all(0),
  },
  { name: 'pending, as a response says', open: openRun, codes: all(11, 0) },
  {
    name: 'pending, and no poll has a response',
    open: async () => {
      let isSilent = false;
      const opened = await openRun((_incoming, _outgoing, proceed) => (isSilent ? undefined : proceed()));
      isSilent = true;
      return opened;
    },
    codes: all(8),
  },
  { name: 'held by another process', open: heldRun, codes: all(11, 0) },
  {
    name: 'unknown: all was sent, and its job waits for the file',
    open: async () => {
      const opened = await jobsShown('pending');
      opened.desk.change(opened.run, ({ parts }) => {
        for (const part of parts) Object.assign(part, { state: 'unknown', sent: 'all' });
      });
      return opened;
    },
    codes: all(9, 0),
  },
  { name: 'failed', open: () => jobsShown('failed'), codes: all(10, 0) },
  {
    name: 'unfinished: its file is still to be uploaded',
    open: () =>
      changedTo({ state: 'planned', job: undefined, sent: undefined, earlier_jobs: [{ job: 'gone', ended: 'gone' }] }),
    // All but download and status upload the file, and its job is then pending.
    codes: { submit: 11, resume: 11, round: 11, download: 5, status: 0 },
  },
  { name: 'a dead key', open: () => withEnv({ SVC_PRIVATE_API_KEY: 'no-such-key' }), codes: all(4) },
  { name: 'the service down', open: () => withEnv({ SVC_BASE_URL: NO_PORT }), codes: all(8) },
  {
    name: 'a damaged record',
    open: async () => {
      const opened = await openRun();
      writeFileSync(opened.desk.home.file(join(RUNS, opened.run, 'run.json')), '{');
      return opened;
    },
    codes: all(3),
  },
];

describe('every command with a run, for every way that it can end', () => {
  const cells = ENDINGS.flatMap(({ name, open, codes }) =>
    Object.entries(codes).map(([command, code]) => ({ name, open, command, code })),
  );

  it.each(cells)('R72: au $command is $code where the run is: $name', async ({ open, command, code }) => {
    const { desk, run, env } = await open();
    const lines: Readonly<Record<string, string>> = {
      submit: 'au submit tokens.csv --wait --timeout 4s',
      resume: `au resume ${run} --wait --timeout 4s`,
      round: 'au resume --timeout 4s',
      download: `au download ${run} --timeout 4s`,
      status: `au status ${run} --timeout 4s`,
    };
    const ended = await desk.svc(lines[command] ?? '', env);
    expect(ended.code, ended.stderr).toBe(code);
  });
});

describe('a run that another process holds', () => {
  it('R72: a run that another process holds is 11 in a round where it lives, and its status is what the service says', async () => {
    const { desk, run, pid } = await heldRun();
    const round = await desk.svc('au resume');
    expect([round.code, outcomes(round)]).toEqual([11, { [run]: 'held' }]);
    for (const line of [`au resume ${run} --wait --timeout 5s`, 'au submit tokens.csv --wait', `au download ${run}`]) {
      const { code, stderr } = await desk.svc(line);
      expect([line, code]).toEqual([line, 11]);
      expect(stderr).toContain(`"held_by":${pid}`);
    }
    const before = desk.record(run);
    const polled = desk.sandbox.ledger().length;
    const { code, stdout } = await desk.svc(`au status ${run}`);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { status: 'pending', progress: 'processing' }]);
    expect(desk.sandbox.ledger().length).toBeGreaterThan(polled);
    expect(desk.record(run)).toEqual(before);
    expect(await desk.svc(`au status ${run}`, { SVC_PRIVATE_API_KEY: 'no-such-key' })).toMatchObject({ code: 4 });
  });

  it('R72: a run that another process holds is 3 in a round where nobody can know whether it lives', async () => {
    const { desk, run } = await openRun();
    const lock = desk.home.file(join(RUNS, run, 'run.lock'));
    const directory = await RunDirectory.open(desk.home.file(join(RUNS, run)));
    const host = { pid: 1, isAlive: () => true, clock: new FakeClock(), signal: new AbortController().signal };
    await directory?.hold(host, async () => {
      const owner = JSON.parse(readFileSync(lockOf(desk, run), 'utf8')) as Record<string, unknown>;
      writeFileSync(lock, JSON.stringify({ ...owner, place: 'another machine' }));
      cpSync(lock, lockOf(desk, run));
      expect(await desk.svc('au resume')).toMatchObject({ code: 3 });
      expect(await desk.svc(`au status ${run}`)).toMatchObject({ code: 0 });
    });
  });
});

describe('svc au resume --timeout', () => {
  it('R72: svc au resume --timeout shows what was learned, and is 8 for the runs that were not polled', async () => {
    let slow = '';
    const { desk, run } = await openRun((incoming, _outgoing, proceed) => {
      if (slow === '' || !incoming.url?.includes(slow)) proceed();
    });
    const other = await anotherRun(desk, 'other.csv');
    slow = desk.record(other).parts[0]?.job ?? '';
    const { code, stdout, stderr } = await desk.svc('au resume --timeout 5s');
    expect(code, stderr).toBe(8);
    expect(Object.keys(outcomes({ stdout })).toSorted()).toEqual([run, other].toSorted());
    expect(outcomes({ stdout })[other]).toBe('timeout');
  });
});

describe('an upload that is interrupted', () => {
  it('R53 and R72: an upload that is interrupted names the whole command that continues with it', async () => {
    let isSlow = false;
    const desk = await openDesk({
      intercept: (incoming, _outgoing, proceed) => {
        if (incoming.method === 'PUT') isSlow = true;
        else proceed();
      },
    });
    const child = desk.start('au submit tokens.csv --cycle 2026-12 --wait --out r.csv --fail-on err');
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const ended = new Promise((resolve) => child.on('close', resolve));
    await vi.waitUntil(() => isSlow, { timeout: 300_000 });
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    const [run] = desk.runIds();
    expect(said).toContain(`svc au resume ${run} --wait --out r.csv --fail-on err"`);
  });
});
