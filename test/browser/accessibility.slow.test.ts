import { execFileSync } from 'node:child_process';
import axe, { type AxeResults } from 'axe-core';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { threeDsSandbox } from '../emulator/three-ds/three-ds-harness.ts';
import { FakeClock } from '../support/clock.ts';
import { succeeded, svcHere } from '../support/run-here.ts';
import { CHROMIUM, launchChromium } from './chromium.ts';
import { temporaryDirectory } from '../support/directory.ts';

type Shown = (page: Page) => Promise<void>;

/** The ways in which each page is seen. The color scheme does not depend on the width. */
const WAYS = [
  { name: 'light', colorScheme: 'light', width: 1280, media: 'screen' },
  { name: 'dark on a phone', colorScheme: 'dark', width: 320, media: 'screen' },
  { name: 'printed from a dark screen', colorScheme: 'dark', width: 794, media: 'print' },
] as const;

const CODE = 'Successful Challenge Authentication';
const APP = 'Successful Out-of-Band Challenge Authentication';

/** Every page that svc or its sandbox makes, with the steps that open it. */
const PAGES: Readonly<Record<string, () => Promise<Shown>>> = {
  'the report': () => written(['au', 'report', 'r.csv', '--request', 'q.csv', '--action', 'WRN_OPT_OUT=exclude']),
  'the review of a day': () => written(['logs', 'review', 'audit', '--day', '2026-03-01']),
  'the review of access': () => written(['logs', 'review', 'audit', '--access', '--since', '1d']),
  'the shift': () => written(['--sandbox', 'logs', 'stats', '--since', '8h', '--max', '500']),
  'the page of an evidence bundle': () => evidence(),
  'the challenge for a code': () => challenge(CODE),
  'the challenge after a wrong code': () =>
    challenge(CODE, async (page) => {
      await page.getByLabel('Code from your bank').fill('999999');
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByRole('alert').waitFor();
    }),
  'the challenge of an app': () => challenge(APP),
  'the end of a challenge': () =>
    challenge(CODE, async (page) => {
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('status').waitFor();
    }),
};

/** Runs a command that writes a page to a file, and returns a function that opens that page. */
async function written(argv: readonly string[]): Promise<Shown> {
  const home = temporaryDirectory();
  const codes = ['UPD_PAN', 'WRN_OPT_OUT', 'ERR_INVALID_EXP_DATE', 'NEW_CODE', 'WRN_LONG_'.repeat(8)];
  writeFileSync(
    join(home, 'q.csv'),
    `token,expiration_year,expiration_month,merchant_id\n${codes.map((_, at) => `t${at},,,\n`).join('')}quiet,,,\n`,
  );
  writeFileSync(
    join(home, 'r.csv'),
    `token,result_code,new_token,odd\n${codes.map((code, at) => `t${at},${code},,x\n`).join('')}`,
  );
  const clock = new FakeClock({ start: Date.parse('2026-03-01T09:00:00Z') });
  if (argv[0] === 'logs') {
    const archiving = ['--sandbox', 'logs', 'archive', 'audit', '--since', '2d'];
    succeeded(await svcHere(archiving, { home, cwd: home, clock }));
  }
  const { code, stderr } = await svcHere([...argv, '--html', join(home, 'page.html')], { home, cwd: home, clock });
  expect([0, 10], stderr).toContain(code);
  const html = readFileSync(join(home, 'page.html'), 'utf8');
  return (page) => page.setContent(html);
}

/** Makes an evidence bundle with signed reviews, and returns a function that opens its page. */
async function evidence(): Promise<Shown> {
  const home = temporaryDirectory();
  const clock = new FakeClock({ start: Date.parse('2026-03-02T22:00:00Z') });
  const lines = [
    '--sandbox logs archive audit --since 2d',
    'logs review audit --sign-off --note SEC-41',
    'logs review audit --access --sign-off --by Ana',
    'logs evidence audit --since 2026-02-27 --out e.tar.gz',
  ];
  for (const line of lines) {
    succeeded(await svcHere(line.split(' '), { home, cwd: home, clock }));
  }
  execFileSync('tar', ['-xzf', 'e.tar.gz'], { cwd: home });
  const html = readFileSync(join(home, 'evidence', 'report.html'), 'utf8');
  return (page) => page.setContent(html);
}

async function challenge(scenario: typeof CODE | typeof APP, act: Shown = async () => undefined): Promise<Shown> {
  const { page: address } = await (await threeDsSandbox()).challenged(scenario);
  return async (page) => {
    await page.goto(address);
    await act(page);
  };
}

describe.skipIf(CHROMIUM === undefined)('every page in Chromium (skipped where none is installed)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  it.each(Object.entries(PAGES))(
    'every page can be read by everybody, in every way it is seen: %s',
    async (_, prepare) => {
      const show = await prepare();
      const page = await browser.newPage();
      onTestFinished(() => page.close());
      await show(page);
      // A table is named by its heading or by a caption, not twice in the same words.
      const [headings, captions] = await Promise.all(
        ['h2', 'caption'].map((tag) => page.locator(tag).allTextContents()),
      );
      expect(captions?.filter((caption) => headings?.includes(caption))).toEqual([]);
      expect(await page.locator('table:not([aria-labelledby]):not(:has(caption))').count()).toBe(0);
      await page.evaluate(axe.source);
      for (const { name, width, media, colorScheme } of WAYS) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ media, colorScheme });
        const { violations, passes } = (await page.evaluate('axe.run()')) as AxeResults;
        const found = violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
        );
        expect(found, name).toEqual([]);
        expect(passes.map(({ id }) => id)).toContain('color-contrast');
        expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(width);
      }
    },
  );
});
