import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { svcHere } from '../support/run-here.ts';
import { CHROMIUM, launchChromium } from './chromium.ts';
import { temporaryDirectory } from '../support/directory.ts';

const COUNTS = { UPD_PAN: 1_200, WRN_CONTACT_CARDHOLDER: 30, ERR_INVALID_EXP_DATE: 4, WRN_LATER_THAN_THIS: 1 };
const HOSTILE = `<img src=x onerror="alert(1)">&"'\u202e`;

function files(extra = ''): { request: string; results: string } {
  const codes = Object.entries(COUNTS).flatMap(([code, count]) => Array<string>(count).fill(code));
  const rows = codes.map((code, at) => `t${at},${code},${code === 'UPD_PAN' ? 'new' : ''},x\n`).join('');
  const asked = [...codes, 'quiet'].map((_, at) => `t${at},,,\n`).join('');
  return {
    request: `token,expiration_year,expiration_month,merchant_id\n${asked}`,
    results: `token,result_code,new_token,"${HOSTILE.replaceAll('"', '""')}"\n${rows}${extra}`,
  };
}

async function page(extra = '', words: readonly string[] = []): Promise<string> {
  const cwd = temporaryDirectory();
  const { request, results } = files(extra);
  writeFileSync(join(cwd, 'q.csv'), request);
  writeFileSync(join(cwd, 'r.csv'), results);
  await svcHere(['au', 'report', 'r.csv', '--request', 'q.csv', '--html', 'r.html', ...words], { cwd });
  return readFileSync(join(cwd, 'r.html'), 'utf8');
}

describe.skipIf(CHROMIUM === undefined)('a report in Chromium (skipped where none is installed)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** Opens the page in a tab. The test fails when the page requests anything, logs to the console or opens a dialog. */
  async function open(html: string, options: { width?: number; dark?: boolean } = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1280, height: 900 },
      colorScheme: options.dark === true ? 'dark' : 'light',
    });
    const tab = await context.newPage();
    const complaints: string[] = [];
    tab.on('console', (message) => complaints.push(message.text()));
    tab.on('request', (request) => complaints.push(request.url()));
    tab.on('dialog', (dialog) => complaints.push(dialog.message()));
    onTestFinished(async () => {
      await context.close();
      expect(complaints).toEqual([]);
    });
    await tab.setContent(html);
    return tab;
  }

  it('a report tells its charts to who cannot see them, with the codes in a real table', async () => {
    const tab = await open(await page());
    expect(await tab.getByRole('img').count()).toBe(2);
    const chart = tab.getByRole('img', { name: 'Rows by class' });
    expect(await chart.locator('desc').textContent()).toContain('updated: 1,200 (97.1%)');
    // No chart is repeated as a table.
    expect(await tab.getByRole('table').count()).toBe(1);
    const row = tab.getByRole('row', { name: /ERR_INVALID_EXP_DATE/ });
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      '4',
      '0.3%',
      'the expiration date is missing or wrong',
      'give year and month in the row, or store them on the token',
    ]);
    expect(await tab.getByText('Every row of the results matches a row of the request.').isVisible()).toBe(true);
    expect(await tab.getByRole('heading').allTextContents()).toEqual([
      'Account Updater report',
      'Against the request',
      'By class',
      'What to do',
      'By result code',
      'Unknown columns',
    ]);
  });

  it('a report charts what there is to do by what the operator chose', async () => {
    const told = async (words: readonly string[]): Promise<string | null> => {
      const tab = await open(await page('', words));
      return tab.getByRole('img', { name: 'Rows by what to do' }).locator('desc').textContent();
    };
    expect(await told([])).toBe(
      'use the new token: 1,200 (97.1%); contact the cardholder: 30 (2.4%); fix: 4 (0.3%); contact support: 1 (0.1%); unchanged: 1 (0.1%)',
    );
    const chosen = ['--action', 'WRN_LATER_THAN_THIS=exclude', '--action', 'ERR_INVALID_EXP_DATE=keep'];
    expect(await told(chosen)).toBe(
      'use the new token: 1,200 (97.1%); contact the cardholder: 30 (2.4%); leave out: 1 (0.1%); nothing to do: 4 (0.3%); unchanged: 1 (0.1%)',
    );
    const tab = await open(await page('', chosen));
    const row = tab.getByRole('row', { name: /ERR_INVALID_EXP_DATE/ });
    expect(await row.getByRole('cell').last().textContent()).toBe('keep the token in future requests (your choice)');
  });

  it('R49: a report shows what files hold as text, and runs and loads nothing', async () => {
    const tab = await open(await page('t1,"<script>alert(2)</script>",,x\n'));
    expect(await tab.locator('script, main img, link').count()).toBe(0);
    expect(await tab.getByText('<script>alert(2)</script>').count()).toBeGreaterThan(0);
    expect(await tab.locator('code').textContent()).toBe(String.raw`<img src=x onerror="alert(1)">&"'\u202e`);
    expect(await tab.getByText('Rows that match no request row:').isVisible()).toBe(true);
  });

  it.each([
    [1280, false],
    [360, false],
    [360, true],
  ])('a report fits %i pixels (dark: %s), with text at its full size', async (width, dark) => {
    const tab = await open(await page(), { width, dark });
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    const text = tab.getByRole('img', { name: 'Rows by class' }).locator('text').first();
    expect((await text.boundingBox())?.height).toBeGreaterThanOrEqual(14);
    const [ground, ink] = (await tab.evaluate(
      '[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]',
    )) as [string, string];
    expect(ground).toBe(dark ? 'rgb(13, 17, 23)' : 'rgb(255, 255, 255)');
    expect(ink).not.toBe(ground);
    // No label overlaps the number to its right.
    const labels = await tab.locator('svg text:not(.end)').all();
    const numbers = await tab.locator('svg text.end').all();
    for (const [at, label] of labels.entries()) {
      const [left, right] = [await label.boundingBox(), await numbers[at]?.boundingBox()];
      expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThan(right?.x ?? 0);
    }
  });

  it('a report prints dark on white whatever the screen, bars included', async () => {
    const tab = await open(await page(), { dark: true });
    await tab.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const ink = 'getComputedStyle(document.body).color';
    expect(await tab.evaluate(ink)).toBe('rgb(27, 31, 36)');
    expect(await tab.evaluate("getComputedStyle(document.querySelector('rect.updated')).printColorAdjust")).toBe(
      'exact',
    );
    const pdf = await tab.pdf({ format: 'A4' });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  });
});
