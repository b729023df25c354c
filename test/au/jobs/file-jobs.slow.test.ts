import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { CAN_OBEY_MODES } from '../../support/svc.ts';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';
import { ended, errorIn, succeeded } from '../../support/run-here.ts';

const RESULTS = 'tokens.results.csv';
const BAD = '<html><body>Welcome to our network</body></html>\n';

/** Opens a desk with a completed job, and returns the results as the service has them. */
async function completed(
  options: { intercept?: Interceptor } = {},
): Promise<{ desk: QuickDesk; job: string; right: string }> {
  const desk = await openQuickDesk({ pickupMs: 0, ...options });
  succeeded(await desk.svc('au submit tokens.csv --wait'));
  return { desk, job: desk.jobs()[0] ?? '', right: readFileSync(desk.home.file(RESULTS), 'utf8') };
}

/** Damages the results that a machine keeps of a job, and the file with them. */
function spoil(desk: QuickDesk, job: string): void {
  writeFileSync(desk.files(job).results, BAD);
  writeFileSync(desk.home.file(RESULTS), BAD);
}

describe('a file whose results were damaged', () => {
  it.each(['au submit', 'au download'])(
    'R59: a file whose results were damaged gets them again from the service by %s, and nothing is paid again',
    async (command) => {
      const { desk, job, right } = await completed();
      spoil(desk, job);
      const rest = { 'au submit': 'tokens.csv --wait --force', 'au download': `${job} --force --out ${RESULTS}` }[
        command
      ];
      succeeded(await desk.svc(`${command} ${rest}`));
      expect(readFileSync(desk.home.file(RESULTS), 'utf8')).toBe(right);
      expect(desk.uploads()).toBe(1);
    },
  );

  it('R59: a machine keeps the results of a job where a second download of them fails', async () => {
    let isFalse = false;
    const { desk, job, right } = await completed({
      intercept(incoming, outgoing, proceed) {
        if (isFalse && incoming.url?.startsWith('/store/results/'))
          captureResponse(outgoing, () => outgoing.setHeader('content-length', 0).end());
        proceed();
      },
    });
    isFalse = true;
    ended(await desk.svc(`au download ${job} --force --out ${RESULTS}`), 12);
    expect(readFileSync(desk.home.file(RESULTS), 'utf8')).toBe(right);
    succeeded(await desk.svc('au submit tokens.csv --wait --out copy.csv'));
    expect(readFileSync(desk.home.file('copy.csv'), 'utf8')).toBe(right);
  });
});

/** A store that gives the results an ETag that looks like an MD5 and is not. */
const otherTag: Interceptor = (incoming, outgoing, proceed) => {
  if (incoming.url?.startsWith('/store/results/'))
    captureResponse(outgoing, (body) => outgoing.setHeader('etag', `"${'0'.repeat(32)}"`).end(body));
  proceed();
};

it('R59: results whose checksum alone is another, each time are kept with the job, for its owner alone, until the operator takes them', async () => {
  const desk = await openQuickDesk({ pickupMs: 0, intercept: otherTag });
  const refused = await desk.svc('au submit tokens.csv --wait');
  const [job = ''] = desk.jobs();
  const kept = `${desk.files(job).results}.unproven`;
  expect(refused.code, refused.stderr).toBe(12);
  expect(refused.stderr).toContain(`svc au download ${job} --accept-unproven`);
  expect(refused.stderr).not.toContain('--pay-again');
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  const bytes = readFileSync(kept);
  succeeded(await desk.svc(`au download ${job} --accept-unproven --out ${RESULTS}`));
  expect(readFileSync(desk.home.file(RESULTS))).toEqual(bytes);
  ended(await desk.svc('au submit tokens.csv --wait'), 0, { uploads: 1 });
});

it('R59: results whose checksum alone is another, each time are taken for a job alone in the same way', async () => {
  const desk = await openQuickDesk({ pickupMs: 0, intercept: otherTag });
  await desk.svc('au submit tokens.csv');
  const [job = ''] = desk.jobs();
  ended(await desk.svc(`au download ${job}`), 12, '--accept-unproven');
  expect(readdirSync(desk.home.path)).toContain('results.csv.unproven');
  succeeded(await desk.svc(`au download ${job} --accept-unproven`));
  expect(readFileSync(desk.home.file('results.csv'), 'utf8')).toMatch(/^token,/);
});

it('R44: the place for results is left alone when it is taken or cannot be written, and may be a pipe', async () => {
  const { desk, job, right } = await completed();
  const requests = desk.sandbox.ledger().length;
  writeFileSync(desk.home.file('mine.csv'), 'mine');
  mkdirSync(desk.home.file('closed'), { mode: 0o500 });
  ended(await desk.svc(`au download ${job} --out mine.csv`), 2);
  const line = ['au', 'download', job, '--out', 'closed/out.csv'];
  const closed = CAN_OBEY_MODES ? await desk.home.svc(line, { env: desk.env, obeysModes: true }) : { code: 1 };
  expect(closed).toMatchObject({ code: 1 });
  expect(readFileSync(desk.home.file('mine.csv'), 'utf8')).toBe('mine');
  expect(desk.sandbox.ledger()).toHaveLength(requests);
  execFileSync('mkfifo', [desk.home.file('pipe')]);
  const download = desk.svc(`au download ${job} --out pipe`);
  const reader = spawn('cat', [desk.home.file('pipe')], { stdio: ['ignore', 'pipe', 'inherit'] });
  expect((await reader.stdout.setEncoding('utf8').toArray()).join('')).toBe(right);
  expect(await download).toMatchObject({ code: 0 });
});

it.each(['submit tokens.csv --cycle c', 'resume c'])(
  'svc au %s --wait gives the results to a pipe, and counts them',
  async (words) => {
    const desk = await openQuickDesk({ pickupMs: 0 });
    succeeded(await desk.svc('au submit tokens.csv --cycle c'));
    execFileSync('mkfifo', [desk.home.file('pipe')]);
    const run = desk.svc(`au ${words} --wait --out pipe --fail-on err=0%`);
    const reader = spawn('cat', [desk.home.file('pipe')], { stdio: ['ignore', 'pipe', 'inherit'] });
    const read = (await reader.stdout.setEncoding('utf8').toArray()).join('');
    expect(read).toMatch(/^token,/);
    const bytes = Buffer.byteLength(read);
    ended(await run, 10, {
      row: { results: { file: expect.stringMatching(/pipe$/), bytes, errors: expect.any(Number) } },
      error: { code: 'threshold', next: 'svc au report <results>' },
    });
  },
);

it.each(['submit tokens.csv --wait --cycle c', 'resume c --wait'])(
  'svc au %s names the command that gets the results where another file has their name',
  async (words) => {
    const desk = await openQuickDesk({ pickupMs: 0 });
    writeFileSync(desk.home.file('old.csv'), 'token,new_token,result_code\nt,,ERR_UNDEFINED\n');
    succeeded(await desk.svc('au submit tokens.csv --cycle c'));
    const requests = desk.sandbox.ledger().length;
    const unread = ended(await desk.svc(`au ${words} --out old.csv`), 2, 'old.csv exists');
    expect(desk.sandbox.ledger().slice(requests), unread.stderr).not.toContainEqual(
      expect.objectContaining({ path: expect.stringContaining('/store/results/') }),
    );
    succeeded(await desk.svc(`au ${words}`));
    const { next } = errorIn(ended(await desk.svc(`au ${words} --out old.csv`), 2, 'has other content'));
    expect(next).toBe(`svc au ${words} --out <file>`);
    expect(readFileSync(desk.home.file('old.csv'), 'utf8')).toContain('ERR_UNDEFINED');
  },
);

it('R44 and R47: --out - gives the results of a job on standard output, byte for byte, and nothing else', async () => {
  const { desk, job, right } = await completed();
  ended(await desk.svc(`au download ${job} --out -`), 0, { stdout: right });
  ended(await desk.svc(`au download ${job} --out - -o csv`), 0, { stdout: right });
  ended(await desk.svc(`au download ${job} --out - -o json`), 2, { stdout: '' });
  expect(existsSync(desk.home.file('-'))).toBe(false);
  expect(readdirSync(desk.home.file('.local/state/svc/spool'))).toEqual([]);
});

it('--out - is refused where standard output has the summary', async () => {
  const desk = await openQuickDesk();
  ended(await desk.svc('au submit tokens.csv --wait --out -'), 2);
  expect(desk.sandbox.ledger()).toEqual([]);
});
