import { expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../../src/emulator/keys.ts';
import { MANAGEMENT, sandbox } from '../harness.ts';

interface Page {
  pagination: Record<string, number>;
  data: { id: string; name: string }[];
}

it('the list of applications is paged by number', async () => {
  const { json } = await sandbox();
  const page = (query: string) => json<Page>(`/applications${query}`, { headers: MANAGEMENT });
  const first = await page('');
  expect(first.pagination).toEqual({ total_items: 45, page_number: 1, page_size: 20, total_pages: 3 });
  expect(first.data).toHaveLength(20);
  const rest = [await page('?page=2'), await page('?page=3&size=20')];
  expect(rest.map(({ data, pagination }) => [data.length, pagination['page_number']])).toEqual([
    [20, 2],
    [5, 3],
  ]);
  const ids = [first, ...rest].flatMap(({ data }) => data.map(({ id }) => id));
  expect(new Set(ids).size).toBe(45);
  const whole = await page('?size=100');
  expect(whole.data.map(({ id }) => id)).toEqual(ids);
  expect(whole.pagination).toEqual({ total_items: 45, page_number: 1, page_size: 100, total_pages: 1 });
  expect(await page('?page=4')).toMatchObject({ data: [], pagination: { page_number: 4, total_pages: 3 } });
  expect((await page('?size=15&page=3')).data.at(-1)?.id).toBe(ids.at(-1));
});

it('the list of applications refuses pages and sizes that there are not', async () => {
  const { call } = await sandbox();
  for (const query of ['page=0', 'page=-1', 'page=x', 'page=1.5', 'size=0', 'size=101', 'size=1e2'])
    expect([query, (await call(`/applications?${query}`, { headers: MANAGEMENT })).status]).toEqual([query, 400]);
});

it('the list of applications names those that keys belong to, and shows no key', async () => {
  const { call, json } = await sandbox();
  const log = await json<{ data: { actor_id?: string }[] }>('/logs?size=100', { headers: MANAGEMENT });
  const text = await (await call('/applications?size=100', { headers: MANAGEMENT })).text();
  const { data } = JSON.parse(text) as Page;
  expect(data[0]?.name).toBe('Sandbox management key');
  const actors = new Set(log.data.flatMap(({ actor_id }) => actor_id ?? []));
  expect(data.slice(0, 2).every(({ id }) => actors.has(id))).toBe(true);
  for (const { value } of SANDBOX_KEYS) expect(text).not.toContain(value);
});
