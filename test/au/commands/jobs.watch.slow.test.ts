import { expect, it } from 'vitest';
import { openQuickDesk } from './support.ts';
import { ended, rowsIn } from '../../support/run-here.ts';

const HOUR = 3_600_000;

it('svc au jobs --watch shows each job once for each status, until none is under way', async () => {
  const desk = await openQuickDesk({ processingMs: HOUR });
  await desk.svc('au submit tokens.csv');
  await desk.clock.advance(HOUR / 2);
  await desk.svc('au submit tokens.csv --cycle other --pay-again');
  const { code, stdout, stderr } = await desk.svc('au jobs --watch -o jsonl');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const rows = rowsIn<{ id: string; status: string; file: string | null }>(stdout);
  const ids = [...new Set(rows.map(({ id }) => id))];
  expect(ids).toHaveLength(2);
  for (const id of ids) {
    const statuses = rows.filter((row) => row.id === id).map(({ status }) => status);
    expect([...new Set(statuses)]).toEqual(statuses);
    expect(statuses.at(-1)).toBe('completed');
  }
  expect(rows.every(({ file }) => file !== null)).toBe(true);
});

it('svc au jobs --watch goes on after an outage, and says so', async () => {
  // The lists that the submission reads do not count.
  let lists = -100;
  const desk = await openQuickDesk({
    processingMs: HOUR,
    intercept(incoming, outgoing, proceed) {
      if (incoming.method === 'GET' && /\/jobs(\?|$)/.test(incoming.url ?? '')) lists += 1;
      // The outage covers the second poll of the list and its retries.
      if (lists < 2 || lists > 12) return proceed();
      outgoing.writeHead(503).end();
    },
  });
  await desk.svc('au submit tokens.csv');
  lists = 0;
  const { stdout } = ended(await desk.svc('au jobs --watch -o jsonl'), 0, 'it is tried again');
  expect(stdout.trimEnd().split('\n').at(-1)).toContain('"completed"');
});

it('svc au jobs --watch ends at once where no job is under way, and fails where the first look does', async () => {
  const desk = await openQuickDesk();
  ended(await desk.svc('au jobs --watch'), 0, { stdout: '' });
  ended(await desk.svc('au jobs --watch', { SVC_PRIVATE_API_KEY: 'sandbox-management-key' }), 4);
  ended(await desk.svc('au jobs --watch --status failed'), 2);
});

it('svc au jobs --watch --since follows the jobs of its first look until they end', async () => {
  const desk = await openQuickDesk({ processingMs: HOUR });
  await desk.svc('au submit tokens.csv');
  const { stdout } = ended(await desk.svc('au jobs --watch --since 10s -o jsonl'), 0);
  expect(rowsIn<{ status: string }>(stdout).at(-1)).toMatchObject({ status: 'completed' });
});
