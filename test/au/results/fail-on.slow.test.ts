import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ended, succeeded, svcHere } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk, writeRows } from '../commands/support.ts';

/** Commands that show results, and the command before each. */
const LINES: [line: string, before: string | undefined][] = [
  ['au submit tokens.csv --wait', undefined],
  ['au resume 2026-12 --wait --out tokens.results.csv', 'au submit tokens.csv --cycle 2026-12'],
  ['au resume', 'au submit tokens.csv'],
];

const QUESTION = /ended in ERR_INVALID_TOKEN at .*: is the profile wrong, or the export\?/;

/** Opens a desk whose request file contains only tokens that its tenant does not know. */
async function wrongDesk(rows: number): Promise<QuickDesk> {
  const desk = await openQuickDesk({ pickupMs: 0 });
  const lines = Array.from({ length: rows }, (_, row) => `token-${row},27,01,`);
  writeRows(desk, 'tokens.csv', ...lines);
  return desk;
}

/** Returns the first line of the first warning on stderr. */
function firstWarning(stderr: string): string {
  return stderr.split('\n').find((line) => line.startsWith('warning:')) ?? '';
}

it.each(LINES)(
  'a job in which one error code has over half of the rows is questioned first by %s, with its tenant',
  async (line, before) => {
    const desk = await wrongDesk(25);
    if (before !== undefined) await desk.svc(before);
    const { stderr } = succeeded(await desk.svc(line));
    const tenant = desk.sandbox.tenants[0]?.id;
    expect(firstWarning(stderr)).toContain('25 of 25 rows (100.0%)');
    expect(firstWarning(stderr)).toMatch(QUESTION);
    expect(firstWarning(stderr)).toContain(tenant);
  },
);

it('a job in which one error code has over half of the rows is questioned first by au report, drawn, as data and on its page', async () => {
  const desk = await wrongDesk(25);
  await desk.svc('au submit tokens.csv --wait');
  const here = (words: readonly string[]) =>
    svcHere(['au', 'report', 'tokens.results.csv', ...words], { cwd: desk.home.path });
  const drawn = await here(['-o', 'table', '--html', 'page.html']);
  expect(drawn.stdout.split('\n')[0]).toMatch(QUESTION);
  const data = await here(['-o', 'json']);
  expect(firstWarning(data.stderr)).toMatch(QUESTION);
  const page = readFileSync(desk.home.file('page.html'), 'utf8');
  expect(page.indexOf('is the profile wrong')).toBeLessThan(page.indexOf('By class'));
  expect(page).toContain('<strong>25 of 25 rows (100.0%) ended in ERR_INVALID_TOKEN');
});

it('a job in which one error code has over half of the rows is not questioned below 20 rows, nor at half of them', async () => {
  const few = await wrongDesk(19);
  expect((await few.svc('au submit tokens.csv --wait')).stderr).not.toMatch(QUESTION);
  const desk = await wrongDesk(0);
  const halves = Array.from(
    { length: 20 },
    (_, row) => `t${row},27,01,,,,${row % 2 ? 'ERR_INVALID_TOKEN' : 'WRN_OPT_OUT'}\n`,
  );
  const header =
    'token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code\n';
  writeFileSync(desk.home.file('half.csv'), header + halves.join(''));
  expect((await desk.svc('au report half.csv')).stderr).not.toMatch(QUESTION);
});

it.each(LINES)(
  '--fail-on with a share ends %s with 10 above it, once the results are written, and with 0 up to it',
  async (line, before) => {
    for (const [failOn, expected] of [
      ['err=5%', 10],
      ['err', 10],
      ['wrn=99.5%', 10],
      ['err=100%', 0],
    ] as const) {
      const desk = await wrongDesk(3);
      if (before !== undefined) await desk.svc(before);
      const { code } = await desk.svc(`${line} --fail-on ${failOn}`);
      expect({ failOn, code, isWritten: existsSync(desk.home.file('tokens.results.csv')) }).toEqual({
        failOn,
        code: expected,
        isWritten: true,
      });
    }
  },
);

it('--fail-on with a share is refused when it is no share', async () => {
  for (const failOn of ['err=', 'err=5', 'err=101%', 'upd=5%', '5%', 'err=-1%']) {
    const { code, stderr } = await svcHere(['au', 'resume', '--fail-on', failOn], {});
    expect([failOn, code, stderr.includes('err=5%')]).toEqual([failOn, 2, true]);
  }
});

it('a next request that is wrong as the last one was is not written, and au next ends with 10 unless a larger share is allowed', async () => {
  const desk = await wrongDesk(25);
  await desk.svc('au submit tokens.csv --wait');
  const line = 'au next tokens.csv tokens.results.csv --exclusions closed.csv --excluded excluded.csv';
  const written = ['tokens.next.csv', 'closed.csv', 'excluded.csv'].map((name) => desk.home.file(name));
  for (const failOn of ['', ' --fail-on err=99%']) {
    ended(await desk.svc(line + failOn), 10, '25 of 25 rows of the next request', {
      stdout: '',
      error: { next: 'svc au report tokens.results.csv --split-into todo' },
    });
    expect(written.filter((file) => existsSync(file))).toEqual([]);
  }
  succeeded(await desk.svc(`${line} --fail-on err=100%`));
  expect(readFileSync(desk.home.file('tokens.next.csv'), 'utf8').split('\n')).toHaveLength(27);
  ended(await desk.svc(`${line} --force --fail-on wrn`), 2);
});
