import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { CAN_OBEY_MODES } from '../../support/svc.ts';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';

const RUNS = '.local/state/svc/runs';
const RESULTS = 'tokens.results.csv';
const BAD = '<html><body>Welcome to our network</body></html>\n';

/** Opens a desk with a completed run, and returns the results as the service has them. */
async function completed(
  options: { intercept?: Interceptor } = {},
): Promise<{ desk: QuickDesk; run: string; right: string }> {
  const desk = await openQuickDesk({ pickupMs: 0, ...options });
  const { code, stderr } = await desk.svc('au submit tokens.csv --wait');
  expect(code, stderr).toBe(0);
  return { desk, run: desk.runIds()[0] ?? '', right: readFileSync(desk.home.file(RESULTS), 'utf8') };
}

/** Damages the results that a run keeps, and the file with them. */
function spoil(desk: QuickDesk, run: string): void {
  writeFileSync(desk.home.file(join(RUNS, run, 'results-0001.csv')), BAD);
  writeFileSync(desk.home.file(RESULTS), BAD);
}

describe('a run whose results were damaged', () => {
  it.each(['au resume', 'au submit', 'au download'])(
    'R59: a run whose results were damaged gets them again from the service by %s, and nothing is paid again',
    async (command) => {
      const { desk, run, right } = await completed();
      spoil(desk, run);
      const rest = {
        'au resume': `${run} --wait --force`,
        'au submit': 'tokens.csv --wait --force',
        'au download': `${run} --force`,
      }[command];
      const { code, stderr } = await desk.svc(`${command} ${rest}`);
      expect(code, stderr).toBe(0);
      expect(readFileSync(desk.home.file(RESULTS), 'utf8')).toBe(right);
      expect(desk.record(run).parts[0]?.results?.proof).toBe('md5');
      expect(desk.uploads()).toBe(1);
    },
  );

  it('R59: a run keeps its results where a second download of them fails', async () => {
    let isFalse = false;
    const { desk, run, right } = await completed({
      intercept(incoming, outgoing, proceed) {
        if (isFalse && incoming.url?.startsWith('/store/results/'))
          captureResponse(outgoing, () => outgoing.setHeader('content-length', 0).end());
        proceed();
      },
    });
    isFalse = true;
    expect(await desk.svc(`au download ${run} --force`)).toMatchObject({ code: 12 });
    expect(readFileSync(desk.home.file(RESULTS), 'utf8')).toBe(right);
    expect(await desk.svc(`au download ${run} --out copy.csv`)).toMatchObject({ code: 0 });
    expect(readFileSync(desk.home.file('copy.csv'), 'utf8')).toBe(right);
  });
});

/** A store that gives the results an ETag that looks like an MD5 and is not. */
const otherTag: Interceptor = (incoming, outgoing, proceed) => {
  if (incoming.url?.startsWith('/store/results/'))
    captureResponse(outgoing, (body) => outgoing.setHeader('etag', `"${'0'.repeat(32)}"`).end(body));
  proceed();
};

describe('results whose checksum alone is another, each time', () => {
  it('R59: results whose checksum alone is another, each time are kept beside the run, for its owner alone, until the operator takes them', async () => {
    const desk = await openQuickDesk({ pickupMs: 0, intercept: otherTag });
    const refused = await desk.svc('au submit tokens.csv --wait');
    const [run = ''] = desk.runIds();
    const kept = desk.home.file(join(RUNS, run, 'results-0001.csv.unproven'));
    expect(refused.code, refused.stderr).toBe(12);
    expect(refused.stderr).toContain(`svc au download ${run} --accept-unproven`);
    expect(refused.stderr).not.toContain('--pay-again');
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(kept);
    const requests = desk.sandbox.ledger().length;
    const taken = await desk.svc(`au download ${run} --accept-unproven`);
    expect(taken.code, taken.stderr).toBe(0);
    expect(desk.sandbox.ledger()).toHaveLength(requests);
    expect(readFileSync(desk.home.file(RESULTS))).toEqual(bytes);
    expect(existsSync(kept)).toBe(false);
    expect(await desk.svc(`au resume ${run} --wait`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
  });

  it('R59: results whose checksum alone is another, each time are taken for a job alone in the same way', async () => {
    const desk = await openQuickDesk({ pickupMs: 0, intercept: otherTag });
    await desk.svc('au submit tokens.csv');
    const job = desk.record(desk.runIds()[0] ?? '').parts[0]?.job ?? '';
    const refused = await desk.svc(`au download ${job}`);
    expect(refused).toMatchObject({ code: 12 });
    expect(refused.stderr).toContain('--accept-unproven');
    expect(readdirSync(desk.home.path)).toContain('results.csv.unproven');
    expect(await desk.svc(`au download ${job} --accept-unproven`)).toMatchObject({ code: 0 });
    expect(readFileSync(desk.home.file('results.csv'), 'utf8')).toMatch(/^token,/);
  });
});

describe('the place for results', () => {
  it('R44: the place for results is left alone when it is taken or cannot be written, and may be a pipe', async () => {
    const { desk, run, right } = await completed();
    const job = desk.record(run).parts[0]?.job ?? '';
    const requests = desk.sandbox.ledger().length;
    writeFileSync(desk.home.file('mine.csv'), 'mine');
    mkdirSync(desk.home.file('closed'), { mode: 0o500 });
    for (const of of [job, run]) {
      expect(await desk.svc(`au download ${of} --out mine.csv`)).toMatchObject({ code: 2 });
      if (!CAN_OBEY_MODES) continue;
      const line = ['au', 'download', of, '--out', 'closed/out.csv'];
      expect(await desk.home.svc(line, { env: desk.env, obeysModes: true })).toMatchObject({ code: 1 });
    }
    expect(readFileSync(desk.home.file('mine.csv'), 'utf8')).toBe('mine');
    expect(desk.sandbox.ledger()).toHaveLength(requests);
    execFileSync('mkfifo', [desk.home.file('pipe')]);
    for (const of of [job, run]) {
      const download = desk.svc(`au download ${of} --out pipe`);
      const reader = spawn('cat', [desk.home.file('pipe')], { stdio: ['ignore', 'pipe', 'inherit'] });
      expect((await reader.stdout.setEncoding('utf8').toArray()).join('')).toBe(right);
      expect(await download).toMatchObject({ code: 0 });
    }
  });
});

describe('--out -', () => {
  it('R44 and R47: --out - gives the results of a job and of a run on standard output, byte for byte, and nothing else', async () => {
    const { desk, run, right } = await completed();
    const job = desk.record(run).parts[0]?.job ?? '';
    for (const of of [job, run]) {
      expect(await desk.svc(`au download ${of} --out -`)).toMatchObject({ code: 0, stdout: right });
      expect(await desk.svc(`au download ${of} --out - -o csv`)).toMatchObject({ code: 0, stdout: right });
      expect(await desk.svc(`au download ${of} --out - -o json`)).toMatchObject({ code: 2, stdout: '' });
    }
    expect(existsSync(desk.home.file('-'))).toBe(false);
    expect(readdirSync(desk.home.file('.local/state/svc/spool'))).toEqual([]);
  });

  it('--out - is refused where standard output has the summary', async () => {
    const desk = await openQuickDesk();
    expect(await desk.svc('au submit tokens.csv --wait --out -')).toMatchObject({ code: 2 });
    expect(desk.sandbox.ledger()).toEqual([]);
  });
});
