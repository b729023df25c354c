import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { FakeClock } from '../../support/clock.ts';
import { ended, type HereResult, succeeded } from '../../support/run-here.ts';
import { openDesk, openQuickDesk, type QuickDesk } from '../commands/support.ts';

const HOUR = 3_600_000;

/** A desk with one job, and what a test can let happen to its service. */
interface Open {
  readonly desk: QuickDesk;
  readonly job: string;
  /** Handles each request from now on. */
  readonly answer: (with_: Interceptor) => void;
}

const passing: Interceptor = (_incoming, _outgoing, proceed) => proceed();

/** Opens a desk with one file submitted in a cycle, whose job the service is still processing. */
async function openJob({ processingMs = HOUR } = {}): Promise<Open> {
  let answer = passing;
  const desk = await openQuickDesk({
    processingMs,
    pickupMs: 0,
    intercept: (incoming, outgoing, proceed) => answer(incoming, outgoing, proceed),
  });
  const submitted = succeeded(await desk.svc('au submit tokens.csv --cycle 2026-12'));
  const [job = ''] = (JSON.parse(submitted.stdout) as { jobs: string[] }).jobs;
  return { desk, job, answer: (next) => (answer = next) };
}

/** Lets every read of a job and of the list give one response. */
function saying(status: number, type: string, body: string): Interceptor {
  return (_incoming, outgoing) => {
    outgoing.writeHead(status, { 'content-type': type }).end(body);
  };
}

/** Shows a job with this status in each read of it, and an empty list. */
function showing(job: string, status: string): Interceptor {
  return (incoming, outgoing, proceed) => {
    if (incoming.method !== 'GET') return proceed();
    const isJob = incoming.url?.endsWith(job) === true;
    if (!isJob) return proceed();
    outgoing
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id: job, status, errors: status === 'failed' ? ['made up'] : [] }));
  };
}

const LINES = {
  submit: 'au submit tokens.csv --cycle 2026-12 --wait',
  resume: 'au resume 2026-12 --wait',
  'resume of a job': 'au resume JOB --wait',
  round: 'au resume',
  download: 'au download JOB',
  status: 'au status JOB',
} as const;

type Command = keyof typeof LINES;

function all(code: number, but: Partial<Record<Command, number>> = {}): Record<Command, number> {
  const commands = Object.keys(LINES) as Command[];
  return Object.fromEntries(commands.map((each) => [each, but[each] ?? code])) as Record<Command, number>;
}

/** What became of a job when a command comes to it, and the exit code of each command. */
const ENDINGS: Readonly<
  Record<string, { open: () => Promise<Open & { env?: Record<string, string> }>; codes: Record<Command, number> }>
> = {
  done: { open: () => openJob({ processingMs: 0 }), codes: all(0) },
  'pending, as a response says': { open: openJob, codes: all(11, { status: 0 }) },
  'pending, and nothing responds': {
    open: async () => {
      const opened = await openJob();
      opened.answer(() => undefined);
      return opened;
    },
    codes: all(8),
  },
  failed: {
    open: async () => {
      const opened = await openJob();
      opened.answer(showing(opened.job, 'failed'));
      return opened;
    },
    codes: all(10, { status: 0 }),
  },
  'refused: a dead key': {
    open: async () => ({ ...(await openJob()), env: { SVC_PRIVATE_API_KEY: 'no-such-key' } }),
    codes: all(4),
  },
  'not there: no key': {
    open: async () => ({ ...(await openJob()), env: { SVC_PRIVATE_API_KEY: '' } }),
    codes: all(3),
  },
  'out of reach: the service is down': {
    open: async () => {
      const opened = await openJob();
      opened.answer((_incoming, outgoing) => outgoing.destroy());
      return opened;
    },
    codes: all(8),
  },
  'refused with 403': {
    open: async () => {
      const opened = await openJob();
      opened.answer(saying(403, 'application/problem+json', '{"title":"Forbidden"}'));
      return opened;
    },
    codes: all(4),
  },
  'a page of HTML': {
    open: async () => {
      const opened = await openJob();
      opened.answer(saying(200, 'text/html', '<h1>Welcome</h1>'));
      return opened;
    },
    codes: all(8),
  },
};

const cells = Object.entries(ENDINGS).flatMap(([name, { open, codes }]) =>
  Object.entries(codes).map(([command, code]) => ({ name, open, command: command as Command, code })),
);

it.each(cells)('R72: au $command is $code where the job is $name', async ({ name, open, command, code }) => {
  const { desk, job, env } = await open();
  // A wait outlasts any outage for days: one ending shows this, the others have less time.
  const limit = name.startsWith('pending') || name === 'a page of HTML' ? ' --timeout 50m' : '';
  const line = `${LINES[command].replace('JOB', job)}${limit}`;
  const { stdout } = ended(await desk.svc(line, env), code, { uploads: 1 });
  expect(stdout.includes('"pending"') && code !== 11).toBe(false);
});

describe('what a command says of a job', () => {
  it.each(['submit', 'resume', 'status'] as const)(
    'R72: au %s says pending where a response of the same command does',
    async (command) => {
      const { desk, job } = await openJob();
      const lines = {
        submit: 'au submit tokens.csv --cycle 2026-12',
        resume: 'au resume 2026-12',
        status: 'au status JOB',
      };
      const sent = desk.sandbox.ledger().length;
      ended(await desk.svc(lines[command].replace('JOB', job)), command === 'resume' ? 11 : 0, {
        row: { status: command === 'status' ? 'processing' : 'pending' },
      });
      const asked = desk.sandbox.ledger().slice(sent);
      expect(asked.some(({ path, status }) => path.endsWith(job) && status === 200)).toBe(true);
    },
  );

  it('R72: a response that said pending is 11 with the service off from then on, when the time limit is reached', async () => {
    const { desk, job, answer } = await openJob();
    for (const of of ['2026-12', job]) {
      let polls = 0;
      answer((incoming, outgoing, proceed) => {
        const isPoll = incoming.method === 'GET' && incoming.url?.endsWith(job) === true;
        if (isPoll) polls += 1;
        if (isPoll && polls > 1) outgoing.destroy();
        else proceed();
      });
      ended(
        await desk.svc(`au resume ${of} --wait --timeout 50s`),
        11,
        'the time limit (--timeout 50s) was reached; ',
        `svc au resume ${of} --wait`,
      );
    }
  });
});

/** Returns what became of each cycle. */
function outcomes({ stdout }: Pick<HereResult, 'stdout'>): Record<string, unknown> {
  const rows = stdout.trimEnd().split('\n').filter(Boolean);
  const parsed = rows.map((row) => JSON.parse(row) as { cycle: string; outcome: unknown });
  return Object.fromEntries(parsed.map(({ cycle, outcome }) => [cycle, outcome]));
}

/** Submits another file, with one more row, in another cycle. */
async function anotherCycle(desk: QuickDesk, cycle: string): Promise<string> {
  writeFileSync(desk.home.file('other.csv'), `${exampleRequestFile()}00000000-0000-4000-8000-000000000001,,,\n`);
  const submitted = succeeded(await desk.svc(`au submit other.csv --cycle ${cycle} --pay-again`));
  return (JSON.parse(submitted.stdout) as { job: string }).job;
}

describe('what several cycles come to', () => {
  it('R72: a failed job of one cycle outweighs a pending one of another, and both are shown', async () => {
    const { desk, job, answer } = await openJob();
    await anotherCycle(desk, '2027-01');
    answer(showing(job, 'failed'));
    const round = await desk.svc('au resume');
    expect([round.code, outcomes(round)], round.stderr).toEqual([
      10,
      { '2026-12': 'job_failed', '2027-01': 'pending' },
    ]);
  });

  it('R72: svc au resume --timeout shows what was learned, and is 8 for the cycles that were not polled', async () => {
    const { desk, answer } = await openJob();
    const slow = await anotherCycle(desk, '2027-01');
    answer((incoming, _outgoing, proceed) => (incoming.url?.includes(slow) ? undefined : proceed()));
    const round = await desk.svc('au resume --timeout 50s');
    expect([round.code, outcomes(round)], round.stderr).toEqual([8, { '2026-12': 'pending', '2027-01': 'timeout' }]);
  });
});

it('R72: a job whose upload another process goes on with is 11', async () => {
  const { desk, job } = await openJob();
  const holder = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
  onTestFinished(() => void holder.kill('SIGKILL'));
  const files = desk.files(job);
  files.record('some');
  const host = {
    pid: holder.pid ?? 0,
    isAlive: () => true,
    clock: new FakeClock(),
    signal: new AbortController().signal,
  };
  const over = new AbortController();
  onTestFinished(() => over.abort());
  await new Promise<void>((resolve) => {
    void files.hold(host, async () => {
      resolve();
      await once(over.signal, 'abort');
    });
  });
  // The lock names another process but records the start time of this one, so the start time is removed.
  const lock = join(files.directory, 'lock');
  const owner = JSON.parse(readFileSync(lock, 'utf8')) as Record<string, unknown>;
  delete owner['birth'];
  writeFileSync(lock, JSON.stringify(owner));
  const round = await desk.svc('au resume');
  expect([round.code, outcomes(round)], round.stderr).toEqual([11, { '2026-12': 'held' }]);
  for (const line of ['au resume 2026-12 --wait --timeout 5s', 'au submit tokens.csv --cycle 2026-12 --wait'])
    ended(await desk.svc(line), 11, `"held_by":${holder.pid}`);
});

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
  expect(said).toContain('svc au submit tokens.csv --wait --out r.csv --fail-on err --cycle 2026-12"');
});
