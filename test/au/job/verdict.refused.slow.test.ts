import { describe, expect, it, vi } from 'vitest';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';

vi.setConfig({ testTimeout: 120_000 });

const HOUR = 3_600_000;

/** What the service says to every request, and the exit code of a command that uploads nothing. */
const REFUSALS: readonly (readonly [name: string, status: number, type: string, body: string, code: number])[] = [
  ['401', 401, 'application/problem+json', '{"title":"Unauthorized"}', 4],
  ['403', 403, 'application/problem+json', '{"title":"Forbidden"}', 4],
  ['404', 404, 'application/problem+json', '{"title":"Not Found"}', 9],
  ['404 of a web server', 404, 'text/html', '<h1>Not Found</h1>', 8],
  ['200 with HTML', 200, 'text/html', '<h1>Welcome</h1>', 8],
  ['200 with an empty object', 200, 'application/json', '{}', 8],
  ['204', 204, 'text/plain', '', 8],
];

const LINES = {
  submit: 'au submit tokens.csv',
  'submit of a cycle': 'au submit tokens.csv --cycle 2026-12',
  resume: 'au resume RUN',
  status: 'au status RUN',
  'resume of everything': 'au resume',
  'resume --wait': 'au resume RUN --wait --timeout 30s',
  download: 'au download RUN',
} as const;

/** Opens a desk with a run of so many uploaded parts, and a service that then gives one response to everything. */
async function openRefused(line: string, parts: number) {
  let refuse: { readonly status: number; readonly type: string; readonly body: string } | undefined;
  const desk = await openQuickDesk({
    processingMs: HOUR,
    pickupMs: 0,
    intercept: (_incoming, outgoing, proceed) => {
      if (refuse === undefined) return proceed();
      outgoing.writeHead(refuse.status, { 'content-type': refuse.type }).end(refuse.body);
    },
  });
  const cycle = line.includes('--cycle') ? ' --cycle 2026-12' : '';
  const submitted = await desk.svc(`au submit tokens.csv${cycle}`);
  expect(submitted.code, submitted.stderr).toBe(0);
  const [run = ''] = desk.runIds();
  desk.change(run, (record) => {
    const [first] = record.parts;
    if (first === undefined) throw new Error('there is no part');
    for (let number = 2; number <= parts; number += 1) record.parts.push({ ...first, number, job: `job-${number}` });
  });
  return { desk, run, refuseWith: (response: NonNullable<typeof refuse>) => void (refuse = response) };
}

function requestsOf({ sandbox }: QuickDesk): number {
  return sandbox.ledger().length;
}

describe('a command that uploads nothing, where every response is a refusal', () => {
  const cells = REFUSALS.flatMap(([name, status, type, body, code]) =>
    Object.entries(LINES).flatMap(([command, line]) => {
      // A submission first asks for the tenant, whose path is not there either.
      const isOther = status === 404 && command.startsWith('submit');
      return [1, 2].map((parts) => ({ name, status, type, body, code: isOther ? 5 : code, command, line, parts }));
    }),
  );

  it.each(cells)(
    'R72: au $command of $parts jobs ends with $code and prints nothing as pending where everything is $name',
    async ({ status, type, body, code, line, parts }) => {
      const { desk, run, refuseWith } = await openRefused(line, parts);
      refuseWith({ status, type, body });
      const sent = requestsOf(desk);
      const ended = await desk.svc(line.replace('RUN', run));
      expect(ended.code, ended.stderr).toBe(code);
      // A list of runs shows what is recorded, with its time, beside the outcome.
      const pending = ended.stdout.split('\n').filter((row) => row.includes('"pending"'));
      const recorded = pending.filter((row) => /"recorded_at":"2.*"outcome":"(?!pending)/.test(row));
      expect(pending).toEqual(recorded);
      expect(requestsOf(desk)).toBeGreaterThan(sent);
      expect([desk.uploads(), desk.runIds()]).toEqual([1, [run]]);
    },
  );

  it.each(['submit', 'resume', 'status', 'resume of everything'] as const)(
    'R72: au %s says pending where a response of the same command does, and asks for it once',
    async (command) => {
      const { desk, run } = await openRefused('', 1);
      const { code, stdout } = await desk.svc(LINES[command].replace('RUN', run));
      expect([code, JSON.parse(stdout)]).toMatchObject([command.startsWith('resume') ? 11 : 0, { status: 'pending' }]);
      const job = desk.record(run).parts[0]?.job ?? '';
      const last = desk.sandbox.ledger().at(-1);
      expect(last).toMatchObject({ method: 'GET', path: expect.stringContaining(job) as string, status: 200 });
      expect(desk.uploads()).toBe(1);
    },
  );
});

describe('a job that the service does not find', () => {
  it('R72: a job that the service does not find ends svc au status with 9, however long it is missing', async () => {
    const { desk, run, refuseWith } = await openRefused('', 1);
    refuseWith({ status: 404, type: 'application/problem+json', body: '{"title":"Not Found"}' });
    expect(await desk.svc(`au status ${run}`)).toMatchObject({ code: 9 });
    await desk.clock.advance(HOUR / 10);
    for (let poll = 1; poll <= 2; poll += 1) {
      const { code, stdout, stderr } = await desk.svc(`au status ${run}`);
      expect(code, stderr).toBe(9);
      expect(JSON.parse(stdout)).toMatchObject({ status: 'unknown' });
      expect(desk.record(run).parts[0]).toMatchObject({ state: 'unknown' });
    }
  });
});

describe('what is only recorded', () => {
  it('R72: what is only recorded is printed with the time of the last response, and decides no exit code', async () => {
    const { desk, run, refuseWith } = await openRefused('', 1);
    await desk.clock.advance(HOUR / 2);
    expect(await desk.svc('au resume')).toMatchObject({ code: 11 });
    const polled = desk.record(run).parts[0]?.seen_at;
    await desk.clock.advance(HOUR / 4);
    refuseWith({ status: 404, type: 'application/problem+json', body: '{"title":"Not Found"}' });
    const sent = requestsOf(desk);
    for (const line of [`au resume ${run} --dry-run`, 'au resume --dry-run']) {
      const { code, stdout } = await desk.svc(line);
      expect([line, code, JSON.parse(stdout)]).toMatchObject([line, 0, { status: 'pending', recorded_at: polled }]);
    }
    expect(requestsOf(desk)).toBe(sent);
    expect(await desk.svc(`au status ${run}`)).toMatchObject({ code: 9 });
    const { stdout } = await desk.svc('au resume --dry-run');
    expect(JSON.parse(stdout)).toMatchObject({ status: 'unknown', progress: 'not found' });
  });
});
