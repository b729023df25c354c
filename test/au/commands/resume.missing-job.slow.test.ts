import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openDesk } from './support.ts';
import { succeeded } from '../../support/run-here.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('a job that the service does not find', () => {
  it('R43: a job that the service does not find is another thing when it has its file, when it was just created, when its hour is over, and when it was never seen', async () => {
    let isHidden = false;
    const desk = await openDesk({
      intercept(incoming, _outgoing, proceed) {
        if (isHidden && incoming.method === 'GET')
          incoming.url = (incoming.url ?? '').replace(/jobs\/[0-9a-f-]{36}$/, `jobs/${UNKNOWN}`);
        proceed();
      },
    });
    await desk.svc('au submit tokens.csv');
    const [job = ''] = desk.jobs();
    isHidden = true;
    const sent = await desk.svc(`au status ${job}`);
    expect(sent).toMatchObject({ code: 9, stderr: expect.stringContaining(job) });
    // The machine that sends the file knows that only a part of it was sent.
    desk.files(job).record('some');
    const early = await desk.svc(`au status ${job}`);
    expect(early).toMatchObject({ code: 5, stderr: expect.stringMatching(/was created .+ ago .*may lag/) });
    expect(early.stderr).toContain(`svc au status ${job}`);
    const never = await desk.svc(`au resume ${UNKNOWN} --wait`);
    expect(never).toMatchObject({ code: 5, stderr: expect.stringContaining(`job ${UNKNOWN} is not found`) });
  });
});

describe('a file of more than 300 thousand rows', () => {
  it('R39: a file of more than 300 thousand rows is uploaded to a single job with a warning: only its bytes are limited', async () => {
    const desk = await openDesk();
    const rows = Array.from({ length: 300_001 }, (_, row) => `t${row},,,\n`).join('');
    writeFileSync(desk.home.file('many.csv'), `token,expiration_year,expiration_month,merchant_id\n${rows}`);
    const { stdout } = await desk.svc('au create');
    const { id } = JSON.parse(stdout) as { id: string };
    const { stderr } = succeeded(await desk.svc(`au upload ${id} many.csv`));
    expect(stderr).toContain('300,001 rows are more than the about 300,000 that one job takes');
    expect(desk.uploads()).toBe(1);
  });
});
