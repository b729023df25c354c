import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { RIGHT_CODE } from '../../src/emulator/three-ds/pages/challenge.ts';
import { PAYMENT, threeDsSandbox, tokenFor } from '../emulator/three-ds/three-ds-harness.ts';
import { CHROMIUM, launchChromium } from './chromium.ts';

const CODE = 'Successful Challenge Authentication';
const DONE = 'Challenge completed';

describe.skipIf(CHROMIUM === undefined)('in Chromium (skipped where none is installed)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** Opens a tab without scripts. The test fails when a page breaks its own policy or requests another host. */
  async function tab(): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled: false });
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

  async function challenge() {
    const on = await threeDsSandbox();
    const { id, page: address } = await on.challenged(CODE);
    const page = await tab();
    await page.goto(address);
    const status = async () => (await on.result(id)).authentication_status;
    const heading = () => page.getByRole('heading', { level: 1 }).textContent();
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
    return { ...on, id, address, page, status, heading, click };
  }

  it('the right code confirms a payment, with the keyboard alone', async () => {
    const { page, status, heading } = await challenge();
    expect(await heading()).toBe('Confirm your payment');
    await page.keyboard.press('Tab');
    await page.keyboard.type(RIGHT_CODE);
    const focused = page.getByLabel('Code from your bank');
    expect(await focused.inputValue()).toBe(RIGHT_CODE);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: DONE }).waitFor();
    expect(await status()).toBe('successful');
  });

  it('cancelling needs no code, an empty code is not sent', async () => {
    const { id, page, heading, click, read, status } = await challenge();
    await click('Confirm');
    expect(await heading()).toBe('Confirm your payment');
    expect(await status()).toBe('challenge');
    await click('Cancel');
    expect(await heading()).toBe(DONE);
    expect((await read(id)).authentication.challenge_cancel_reason).toBe('cardholder-canceled');
    await page.reload();
    expect(await heading()).toBe(DONE);
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
    const { address, status } = await challenge();
    const page = await tab();
    await page.setContent(`<iframe src="${address}" title="bank" width="400" height="600"></iframe>`);
    const frame = page.frameLocator('iframe');
    await frame.getByLabel('Code from your bank').fill(RIGHT_CODE);
    await frame.getByRole('button', { name: 'Confirm' }).click();
    await frame.getByRole('heading', { name: DONE }).waitFor();
    expect(await status()).toBe('successful');
  });
});
