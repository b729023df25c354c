import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { ended, rowOf, svcIn } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

// A build before the first release made this cycle of two exports in its sandbox. Its runs and its report are not kept.
const KEPT = fileURLToPath(new URL('../../fixtures/kept-refresh', import.meta.url));
const TOMORROW = Date.UTC(2026, 10, 30, 12);
const REPLACE = 'refresh-sandbox/2026-12/todo/replace.csv';

function openKept() {
  const home = temporaryDirectory();
  cpSync(KEPT, home, { recursive: true });
  const env = { XDG_STATE_HOME: join(home, 'state') };
  const clock = new FakeClock({ start: TOMORROW });
  return {
    home,
    svc: (line: string) => svcIn(home, ['--sandbox', ...line.split(' ')], { env, clock }),
    read: (name: string): string => readFileSync(join(home, name), 'utf8'),
  };
}

it.each(['october.csv', 'november.csv'])(
  'a refresh of %s goes on with the cycle of an earlier build, sends no row again, and leaves the new tokens as they were',
  async (file) => {
    const { svc, read } = openKept();
    const jobs = (await svc('au jobs')).stdout;
    const before = [read(REPLACE), read('refresh-sandbox/2026-12/results.csv')];
    const again = await svc(`au refresh ${file} --cycle 2026-12`);
    expect([again.code, rowOf(again)], again.stderr).toMatchObject([0, { status: 'completed', rows: 40, updated: 14 }]);
    expect([read(REPLACE), read('refresh-sandbox/2026-12/results.csv')]).toEqual(before);
    expect((await svc('au jobs')).stdout).toBe(jobs);
  },
);

it('a submission of both exports finds all of their rows in the cycle of an earlier build', async () => {
  const { svc } = openKept();
  for (const file of ['october.csv', 'november.csv']) {
    ended(await svc(`au submit ${file} --cycle 2026-12 --wait --out ${file}.results.csv`), 0, {
      row: { status: 'already_submitted', sent: 20 },
    });
  }
  expect((await svc('au jobs')).stdout.trimEnd().split('\n')).toHaveLength(2);
});

it('rows of a cycle of an earlier build are not sent in another cycle without a word', async () => {
  const { svc } = openKept();
  ended(await svc('au submit october.csv --cycle 2027-01'), 6, '2026-12');
  expect((await svc('au jobs')).stdout.trimEnd().split('\n')).toHaveLength(2);
});
