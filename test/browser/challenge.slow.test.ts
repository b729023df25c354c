import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MAX_ATTEMPTS } from '../../src/emulator/three-ds/outcome.ts';
import { RIGHT_CODE } from '../../src/emulator/three-ds/pages/challenge.ts';
import { PAYMENT, threeDsSandbox, tokenFor } from '../emulator/three-ds/three-ds-harness.ts';
import { CHROMIUM, launchChromium } from './chromium.ts';

const CODE = 'Successful Challenge Authentication';
const DONE = 'Challenge completed';
const APP = 'Successful Out-of-Band Challenge Authentication';

describe.skipIf(CHROMIUM === undefined)('in Chromium (skipped where none is installed)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** Opens a tab without scripts. The test fails when a page breaks its own policy or requests another host. */
  async function tab(options: { width?: number } = {}): Promise<Page> {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: options.width ?? 1280, height: 800 },
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      // Chromium also reports responses such as 409 here, which the tests check themselves.
      if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
    });
    page.on('request', (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (protocol !== 'data:' && hostname !== '127.0.0.1') complaints.push(request.url());
    });
    onTestFinished(async () => {
      await context.close();
      expect(complaints).toEqual([]);
    });
    return page;
  }

  async function challenge(scenario: typeof CODE | typeof APP, options: Parameters<typeof tab>[0] = {}) {
    const on = await threeDsSandbox();
    const { id, page: address } = await on.challenged(scenario);
    const page = await tab(options);
    await page.goto(address);
    const status = async () => (await on.result(id)).authentication_status;
    const heading = () => page.getByRole('heading', { level: 1 }).textContent();
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
    return { ...on, id, address, page, status, heading, click };
  }

  it('the right code confirms a payment, with the keyboard alone', async () => {
    const { page, status, heading } = await challenge(CODE);
    expect(await heading()).toBe('Confirm your payment');
    await page.keyboard.press('Tab');
    await page.keyboard.type(RIGHT_CODE);
    const focused = page.getByLabel('Code from your bank');
    expect(await focused.inputValue()).toBe(RIGHT_CODE);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: DONE }).waitFor();
    expect(await status()).toBe('successful');
  });

  it('three wrong codes end it', async () => {
    const { page, status, heading, click } = await challenge(CODE);
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      await page.getByLabel('Code from your bank').fill('999999');
      await click('Confirm');
      expect(await page.getByRole('alert').textContent()).toBe(`That code is not right: attempt ${attempt}.`);
      const input = page.getByLabel('Code from your bank');
      expect(await input.getAttribute('aria-invalid')).toBe('true');
      expect(await input.inputValue()).toBe('');
      expect(await status()).toBe('challenge');
    }
    await page.getByLabel('Code from your bank').fill('999999');
    await click('Confirm');
    expect(await heading()).toBe(DONE);
    expect(await status()).toBe('failed');
  });

  it('cancelling needs no code, an empty code is not sent', async () => {
    const { id, page, heading, click, read, status } = await challenge(CODE);
    await click('Confirm');
    expect(await heading()).toBe('Confirm your payment');
    expect(await status()).toBe('challenge');
    await click('Cancel');
    expect(await heading()).toBe(DONE);
    expect((await read(id)).authentication.challenge_cancel_reason).toBe('cardholder-canceled');
    await page.reload();
    expect(await heading()).toBe(DONE);
  });

  it.each([
    ['Approve in the bank’s app', 'successful'],
    ['Decline in the bank’s app', 'failed'],
  ])('out of band: %s', async (name, expected) => {
    const { page, click, status } = await challenge(APP);
    expect(await page.getByRole('textbox').count()).toBe(0);
    await click(name);
    await page.getByRole('status').waitFor();
    expect(await status()).toBe(expected);
  });

  it('a second answer, from another tab, changes nothing and is told calmly', async () => {
    const { address, page, click, status, heading } = await challenge(CODE);
    const other = await tab();
    await other.goto(address);
    await page.getByLabel('Code from your bank').fill(RIGHT_CODE);
    await click('Confirm');
    expect(await heading()).toBe(DONE);
    await other.getByRole('button', { name: 'Cancel' }).click();
    expect(await other.getByRole('heading', { level: 1 }).textContent()).toBe('Already answered');
    expect(await status()).toBe('successful');
    await page.goBack();
    expect(await heading()).toBe(DONE);
  });

  it('an expired session is said to be', async () => {
    const { page, clock, heading } = await challenge(CODE);
    clock.ms += 3_600_000;
    await page.reload();
    expect(await heading()).toBe('This page has expired');
  });

  it.each([CODE, APP] as const)('a page in Chromium fits 320 pixels: %s', async (scenario) => {
    const { page } = await challenge(scenario, { width: 320 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    expect(await page.getByText('Example Shop').isVisible()).toBe(true);
  });

  it('the method is completed by one button', async () => {
    const on = await threeDsSandbox();
    const created = await on.created({
      token_id: tokenFor('Successful Frictionless Authentication'),
      type: 'customer',
    });
    const page = await tab();
    await page.goto(created.method_url ?? '');
    await page.getByRole('button', { name: 'Send these details' }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Details received');
    const session = await on.read(created.id);
    expect(session.method?.method_completion_indicator).toBe('Y');
    expect(session.device_info?.browser_user_agent).toContain('Chrome');
    expect((await on.authenticated(created.id, PAYMENT)).authentication_status).toBe('successful');
  });

  it('a page in a frame of a merchant works as well', async () => {
    const { address, status } = await challenge(CODE);
    const page = await tab();
    await page.setContent(`<iframe src="${address}" title="bank" width="400" height="600"></iframe>`);
    const frame = page.frameLocator('iframe');
    await frame.getByLabel('Code from your bank').fill(RIGHT_CODE);
    await frame.getByRole('button', { name: 'Confirm' }).click();
    await frame.getByRole('heading', { name: DONE }).waitFor();
    expect(await status()).toBe('successful');
  });
});
