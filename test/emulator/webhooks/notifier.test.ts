import { describe, expect, it } from 'vitest';
import { readLedger } from '../../../src/emulator/ledger.ts';
import { resetSandbox } from '../../../src/emulator/state/journal.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { type WebhookDelivery, webhookDeliverySchema } from '../../../src/schema/account-updater.ts';
import { MANAGEMENT, sandbox, START } from '../harness.ts';
import { serve } from '../../support/fault-server.ts';
import { answer, silence } from '../../support/fault-steps.ts';
import { bodyOf } from '../../support/request-reader.ts';
import { until } from '../../support/until.ts';

/** Starts a receiver with the statuses of its first responses, before 200; `hang` sends no response. */
async function receiver(answers: (number | 'hang')[] = []) {
  const server = await serve(() => {
    const status = answers.shift() ?? 200;
    if (status === 'hang') return silence('request');
    return answer(status, '', status === 302 ? { location: '/elsewhere' } : {});
  });
  return {
    url: `${server.url.href}hook`,
    get got(): WebhookDelivery[] {
      return server.whole().map((request) => webhookDeliverySchema.parse(bodyOf(request)));
    },
    types: (): string[] => server.whole().map((request) => webhookDeliverySchema.parse(bodyOf(request)).event.type),
    answers,
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('webhooks', () => {
  it('webhooks hear of a job that is created and completed, in the shape of the interface', async () => {
    const to = await receiver();
    const on = await sandbox({ webhooks: [`${to.url}?secret=canary`], processingMs: 60_000 });
    const job = await on.createJob();
    await until(() => to.got.length === 1);
    await on.upload(job, exampleRequestFile());
    on.clock.ms += 60_000;
    await until(() => to.got.length === 2);
    expect(to.got).toMatchObject([
      { event: { type: 'account-updater.job.created', data: { job: { id: job.id, status: 'pending' } } } },
      {
        event: {
          type: 'account-updater.job.completed',
          timestamp: new Date(START + 60_000).toISOString(),
          tenant_id: job.tenant_id,
          data: { job: { id: job.id, status: 'completed' } },
        },
        delivered_at: new Date(START + 60_000).toISOString(),
      },
    ]);
    for (const { event } of to.got) for (const id of [event.id, event.trace_id]) expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const deliveries = () => readLedger(on.directory).filter((entry) => entry.event !== undefined);
    // A delivery is recorded when its response arrives, a moment after the receiver got it.
    await until(() => deliveries().length === 2);
    const sent = deliveries();
    expect(sent).toMatchObject([
      { method: 'POST', path: to.url, event: 'account-updater.job.created', status: 200 },
      { event: 'account-updater.job.completed', status: 200 },
    ]);
    expect(sent[0]?.sent).toBeGreaterThan(200);
    expect(JSON.stringify(sent)).not.toContain('canary');
  });

  it('webhooks hear of a job that failed, of a changed and of a deleted tenant', async () => {
    const to = await receiver();
    const on = await sandbox({ webhooks: [to.url] });
    await on.process('wrong');
    await on.call('/tenants/self', { method: 'PUT', headers: MANAGEMENT, body: '{"name":"x"}' });
    await on.call('/tenants/self', { method: 'DELETE', headers: MANAGEMENT });
    await until(() => to.got.length === 4);
    expect(to.types().toSorted()).toEqual([
      'account-updater.job.created',
      'account-updater.job.failed',
      'tenant.deleted',
      'tenant.updated',
    ]);
  });

  it('webhooks are tried again after growing pauses of the sandbox, five times in all, with the same event', async () => {
    const to = await receiver([500, 302, 404, 410, 503, 200]);
    const on = await sandbox({ webhooks: [to.url] });
    await on.createJob();
    for (const [attempts, ms] of [1000, 5000, 30_000, 120_000].entries()) {
      await until(() => to.got.length === attempts + 1 && delivered(on).length === attempts + 1);
      on.clock.ms += ms - 1;
      await pause(150);
      expect(to.got).toHaveLength(attempts + 1);
      on.clock.ms += 1;
    }
    await until(() => delivered(on).length === 5);
    on.clock.ms += 86_400_000;
    await pause(250);
    expect(to.got).toHaveLength(5);
    expect(new Set(to.got.map(({ event }) => event.id)).size).toBe(1);
    expect(new Set(to.got.map((delivery) => delivery.delivered_at)).size).toBe(5);
    expect(delivered(on).map(({ status }) => status)).toEqual([500, 302, 404, 410, 503]);
  });

  it('webhooks whose receiver does not respond in time have failed', async () => {
    const to = await receiver(['hang']);
    const on = await sandbox({ webhooks: [to.url], webhookTimeoutMs: 300 });
    await on.createJob();
    await until(() => delivered(on).length === 1);
    expect(delivered(on).map(({ status }) => status)).toEqual([0]);
  });

  it('webhooks come twice where that is requested, and once else', async () => {
    const [once, twice] = [await receiver(), await receiver()];
    const on = await sandbox({ webhooks: [twice.url], webhookDuplicates: true });
    const other = await sandbox({ webhooks: [once.url], directory: on.directory });
    await other.createJob();
    await until(() => twice.got.length === 2 && once.got.length === 1);
    await pause(250);
    expect([twice.got.length, once.got.length]).toEqual([2, 1]);
    expect(twice.got[0]?.event).toEqual(twice.got[1]?.event);
  });

  it('webhooks hear of what another process did, also before a restart, and anew after a reset', async () => {
    const to = await receiver();
    const first = await sandbox({ webhooks: [to.url] });
    await first.close();
    const other = await sandbox({ directory: first.directory, clock: first.clock });
    await other.createJob();
    expect(to.got).toHaveLength(0);
    const again = await sandbox({ webhooks: [to.url], directory: first.directory });
    await until(() => to.got.length === 1);
    again.clock.ms += 5;
    resetSandbox(first.directory);
    await again.createJob();
    await until(() => to.got.length === 2);
    expect(to.got[0]?.event.id).not.toBe(to.got[1]?.event.id);
  });

  it('the sandbox does not wait for one that hangs', async () => {
    const [slow, quick] = [await receiver(['hang', 'hang']), await receiver()];
    const on = await sandbox({ webhooks: [slow.url, quick.url] });
    await on.createJob();
    await on.createJob();
    await until(() => quick.got.length === 2 && slow.got.length === 2);
    expect(slow.got).toHaveLength(2);
    await on.close();
  });

  it.each([
    'https://example.com/hook',
    'http://example.com/',
    'http://127.0.0.1.example.com/',
    'ftp://localhost/',
    'x',
  ])('webhooks are on loopback only: %s', async (url) => {
    await expect(sandbox({ webhooks: [url] })).rejects.toThrow('loopback');
  });
});

function delivered(on: Awaited<ReturnType<typeof sandbox>>) {
  return on.ledger().filter((entry) => entry.event !== undefined);
}
