import { describe, expect, it } from 'vitest';
import { errorIn, type HereResult } from '../../support/run-here.ts';
import { type Machine } from '../commands/machine.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, UNKNOWN, submitted, uploaded } from './missing.ts';

/** Runs the command that an error names, with further words. */
function runNext(machine: Machine, ended: HereResult, ...more: readonly string[]): Promise<HereResult> {
  const [, ...words] = String(errorIn(ended)['next']).split(' ');
  return machine.svc([...words, ...more]);
}

const LINES = ['au status', 'au resume', 'au download', 'au ignore', 'au upload'];

function lineFor(line: string, job: string): string {
  return line === 'au upload' ? `${line} ${job} tokens.csv` : `${line} ${job}`;
}

describe('a job that the service does not find and that the ledger has', () => {
  it.each(LINES)('R43: svc %s ends with 9, and names the cycle, which settles it', async (line) => {
    const { machine, job } = await uploaded();
    const ended = await machine.svc(lineFor(line, job));
    expect(ended.code, ended.stderr).toBe(9);
    const { message, next, retryable } = errorIn(ended);
    expect(message).toContain(`whether the service has the rows of job ${job} with 40 rows, sent by `);
    expect([next, retryable]).toEqual([expect.stringMatching(/^svc au resume file-\w+$/), true]);
    machine.fault = undefined;
    expect(await runNext(machine, ended, '--out', 'first')).toMatchObject({ code: 0 });
  });

  it('svc au status names the command that gets the results which this machine keeps', async () => {
    const { machine, job } = await submitted({ options: '--wait' });
    await machine.clock.advance(30 * DAY_MS);
    const ended = await machine.svc(`au status ${job}`);
    expect([ended.code, errorIn(ended)['next']], ended.stderr).toEqual([9, `svc au download ${job}`]);
    expect(await runNext(machine, ended, '--out', 'first')).toMatchObject({ code: 0 });
  });
});

describe('a job that the service does not find and that certainly has no file', () => {
  it('svc au status ends with 5, whether the store refused the file of au upload, or its hour is over', async () => {
    const { machine, job } = await uploaded({ isRefused: true });
    const early = await machine.svc(`au status ${job}`);
    expect([early.code, errorIn(early)['message']], early.stderr).toEqual([5, expect.stringContaining('may lag')]);
    await machine.clock.advance(2 * HOUR_MS);
    const late = await machine.svc(`au status ${job}`);
    expect([late.code, errorIn(late)['message']], late.stderr).toEqual([
      5,
      expect.stringContaining('is gone: no file'),
    ]);
  });

  it.each(['au status', 'au resume', 'au resume --wait', 'au download'])(
    'svc %s ends with 5 at once for a job that nothing here has',
    async (line) => {
      const { machine } = await submitted();
      const began = machine.clock.now();
      const ended = await machine.svc(`${line} ${UNKNOWN}`);
      expect([ended.code, errorIn(ended)['code']], ended.stderr).toEqual([5, 'job_expired']);
      expect(machine.clock.now() - began).toBeLessThan(MINUTE_MS);
    },
  );
});
