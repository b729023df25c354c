import { expect, it, onTestFinished } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { ended, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, writeRows } from '../commands/support.ts';
import { changeJson } from '../support.ts';

/** Lets a machine be in another time zone until the test ends. */
function moveTo(zone: string): void {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  onTestFinished(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });
}

/** Lets the service show the times of jobs without an offset. */
const withoutOffsets: Interceptor = ({ url = '' }, outgoing, proceed) => {
  if (url.includes('/account-updater/jobs'))
    changeJson(
      outgoing,
      (answer) => JSON.parse(JSON.stringify(answer).replace(/("(?:created|expires)_at":"[^"]*)Z"/g, '$1"')) as object,
    );
  proceed();
};

it.each(['Asia/Tokyo', 'America/Los_Angeles'])(
  'R25: times of jobs without an offset are in UTC for a machine in %s',
  async (zone) => {
    moveTo(zone);
    const desk = await openQuickDesk({ processingMs: 60_000, intercept: withoutOffsets });
    writeRows(desk, 'tokens.csv', '00000000-0000-4000-8000-000000000001,26,12,');
    const { job } = rowOf(await desk.svc('au submit tokens.csv --cycle 2026-12'));
    expect(rowOf(await desk.svc('au jobs --since 1h -o jsonl'))).toMatchObject({ id: job });
    await desk.clock.advance(2 * 3_600_000);
    ended(await desk.svc('au jobs --since 1h -o jsonl'), 0, { stdout: '' });
    writeRows(desk, 'more.csv', '00000000-0000-4000-8000-000000000001,26,12,', 'another,26,12,');
    ended(await desk.svc('au submit more.csv --cycle 2026-12'), 0, / 2h ago, job /);
    ended(await desk.svc('au submit tokens.csv --cycle 2026-12 --wait'), 0);
  },
);
