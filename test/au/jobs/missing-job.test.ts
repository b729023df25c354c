import { describe, expect, it } from 'vitest';
import { ended, errorIn, type HereResult, succeeded } from '../../support/run-here.ts';
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
    const doubt = ended(await machine.svc(lineFor(line, job)), 9, {
      error: {
        message: expect.stringContaining(`whether the service has the rows of job ${job} with 40 rows, sent by `),
        next: expect.stringMatching(/^svc au resume file-\w+$/),
        retryable: true,
      },
    });
    machine.fault = undefined;
    succeeded(await runNext(machine, doubt, '--out', 'first'));
  });

  it('svc au status names the command that gets the results which this machine keeps', async () => {
    const { machine, job } = await submitted({ options: '--wait' });
    await machine.clock.advance(30 * DAY_MS);
    const told = ended(await machine.svc(`au status ${job}`), 9, { error: { next: `svc au download ${job}` } });
    succeeded(await runNext(machine, told, '--out', 'first'));
  });
});

describe('a job that the service does not find and that certainly has no file', () => {
  it('svc au status ends with 5, whether the store refused the file of au upload, or its hour is over', async () => {
    const { machine, job } = await uploaded({ isRefused: true });
    ended(await machine.svc(`au status ${job}`), 5, { error: { message: expect.stringContaining('may lag') } });
    await machine.clock.advance(2 * HOUR_MS);
    ended(await machine.svc(`au status ${job}`), 5, {
      error: { message: expect.stringContaining('is gone: no file') },
    });
  });

  it.each(['au status', 'au resume', 'au resume --wait', 'au download'])(
    'svc %s ends with 5 at once for a job that nothing here has',
    async (line) => {
      const { machine } = await submitted();
      const began = machine.clock.now();
      ended(await machine.svc(`${line} ${UNKNOWN}`), 5, { error: { code: 'job_expired' } });
      expect(machine.clock.now() - began).toBeLessThan(MINUTE_MS);
    },
  );
});
