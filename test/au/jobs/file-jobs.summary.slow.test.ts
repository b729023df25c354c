import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CAN_OBEY_MODES } from '../../support/svc.ts';
import { openDesk } from '../commands/support.ts';

const SUMMARY = { GITHUB_STEP_SUMMARY: 'summary.md' };

it('the summary of a file has the counts, the codes by class and the ids of its jobs', async () => {
  const desk = await openDesk({ pickupMs: 0 });
  expect(await desk.svc('au submit tokens.csv --wait --fail-on err', SUMMARY)).toMatchObject({ code: 10 });
  const summary = readFileSync(desk.home.file('summary.md'), 'utf8');
  expect(summary).toContain('### Account Updater: completed\n');
  expect(summary).toContain(`- **jobs**: ${desk.jobs()[0]}\n`);
  expect(summary).toContain('- **file**: tokens.csv, 40 rows\n');
  expect(summary).toMatch(/\*\*rows\*\*: \d+ updated, \d+ warnings, \d+ errors, 0 unknown, \d+ unchanged\n/);
  expect(summary).toMatch(/\| updated \| UPD_PAN \| \d+ \| use the new token from now on \|\n/);
  expect(summary).toMatch(/- \*\*reason\*\*: \d+ rows met --fail-on err/);
  expect(summary).toContain('```sh\nsvc au report tokens.results.csv\n```\n');
  expect(desk.uploads()).toBe(1);
});

it('the summary of a file says what is pending and how to resume, and each command of a job adds its own', async () => {
  const desk = await openDesk({ processingMs: 3_600_000 });
  writeFileSync(desk.home.file('summary.md'), 'from an earlier step\n');
  copyFileSync(desk.home.file('tokens.csv'), desk.home.file('to|k`<b>.csv'));
  expect(await desk.svc('au submit to|k`<b>.csv --wait --timeout 6s', SUMMARY)).toMatchObject({ code: 11 });
  const [job = ''] = desk.jobs();
  expect(await desk.svc(`au resume ${job} --wait --timeout 4s --summary job.md`, SUMMARY)).toMatchObject({ code: 11 });
  expect(await desk.svc('au resume', SUMMARY)).toMatchObject({ code: 11 });
  const [head, submitted = '', resumed = ''] = readFileSync(desk.home.file('summary.md'), 'utf8').split('### ');
  expect(head).toBe('from an earlier step\n');
  expect(submitted).toContain('Account Updater: pending\n');
  expect(submitted).toContain('- **file**: to&#124;k&#96;&#60;b&#62;.csv, 40 rows\n');
  expect(submitted).toContain('| job | rows | status | sent by |\n');
  expect(resumed).toContain('Account Updater: pending\n');
  expect(resumed).toContain(`- **jobs**: ${job}\n`);
  expect(submitted).toContain('- **reason**: the time limit');
  const ofJob = readFileSync(desk.home.file('job.md'), 'utf8');
  expect(ofJob).toContain('### Account Updater: not completed\n');
  expect(ofJob).toContain(`svc au resume ${job} --wait --summary job.md\n`);
  expect(statSync(desk.home.file('job.md')).mode & 0o777).toBe(0o600);
});

it.runIf(CAN_OBEY_MODES)(
  'the summary of a file that cannot be written is a warning once the file is paid for',
  async () => {
    const desk = await openDesk({ pickupMs: 0 });
    const { code, stderr } = await desk.svc('au submit tokens.csv --wait', { GITHUB_STEP_SUMMARY: 'none/summary.md' });
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/warning: the summary was not written: .*none\/summary\.md/);
    expect(desk.uploads()).toBe(1);
  },
);

it('the summary of a file that cannot be written to the file of --summary is refused before anything is sent', async () => {
  const desk = await openDesk();
  const { code, stderr } = await desk.svc('au submit tokens.csv --summary none/summary.md');
  expect(code, stderr).toBe(1);
  expect(desk.sandbox.ledger()).toEqual([]);
  expect(existsSync(desk.home.file('.local'))).toBe(false);
});
