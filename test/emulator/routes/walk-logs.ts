import { expect } from 'vitest';
import type { Log, LogPage } from '../../../src/schema/log.ts';
import { MANAGEMENT, type sandbox } from '../harness.ts';

type Sandbox = Awaited<ReturnType<typeof sandbox>>;

export async function page(on: Sandbox, query: Record<string, string>): Promise<LogPage> {
  return on.json<LogPage>(`/logs?${new URLSearchParams(query).toString()}`, { headers: MANAGEMENT });
}

export async function walk(on: Sandbox, size: number, query: Record<string, string> = {}): Promise<Log[]> {
  const logs: Log[] = [];
  for (let start: string | null | undefined; start !== null;) {
    const { pagination, data } = await page(on, { size: String(size), ...query, ...(start && { start }) });
    expect(data.length).toBeLessThanOrEqual(size);
    expect(pagination?.page_size).toBe(size);
    logs.push(...data);
    start = pagination?.next ?? null;
  }
  return logs;
}

/** Leaves out the entries that reads of the logs added. */
export const withoutReads = (logs: readonly Log[]) => logs.filter((log) => log.entity_type !== 'log');

export const requests = (on: Sandbox) => on.ledger().length;
