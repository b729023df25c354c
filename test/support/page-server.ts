import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A service whose log entries are sent as they stand. */
export interface PageServer {
  readonly url: URL;
  /** Texts of JSON, or the whole body of every response. */
  entries: readonly string[] | string;
  /** The service's time. */
  now: string;
}

/** Starts such a service on a free port; it gives the entries whose time the query asks for, and those without one. */
export async function servePage(entries: PageServer['entries'], now = '2026-01-02T00:10:00Z'): Promise<PageServer> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    response.setHeader('content-type', 'application/json').setHeader('date', new Date(served.now).toUTCString());
    if (typeof served.entries === 'string') return response.end(served.entries);
    if (pathname === '/tenants/self') return response.end('{"id":"t-1","name":"Tenant","type":"test"}');
    const [from, to] = ['start_date', 'end_date'].map((name) => Date.parse(searchParams.get(name) ?? ''));
    const found = served.entries.filter((entry) => {
      const at = timeOf(entry);
      return !(at < (from ?? 0)) && !(at >= (to ?? 0));
    });
    return response.end(`{"data": [${found.join(' , ')}], "pagination": {"next": null}}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const served: PageServer = { url, entries, now };
  return served;
}

function timeOf(entry: string): number {
  return Date.parse(/"created_at"\s*:\s*"([^"]*)"/.exec(entry)?.[1] ?? '');
}
