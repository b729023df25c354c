import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, TestRunner } from 'vitest';
import type { Log } from '../../../src/schema/log.ts';
import { rowsIn } from '../../support/run-here.ts';

/**
 * A log service over a real socket, newest first, whose cursors count entries, so that pages shift. A cursor belongs to the
 * filters and the page size of the request that returned it.
 */
export interface LogServer {
  readonly url: string;
  readonly logs: Log[];
  /** The status with which requests are refused while it is set. */
  refusal: number | undefined;
  /** The number of requests that succeed before refusals begin. */
  refuseAfter: number;
  requests: number;
  /** The number of empty pages with which each list begins. */
  emptyPages: number;
  /** Whether a list ends with an empty page that repeats the cursor of its request. */
  repeatsCursor: boolean;
  /** Whether lists ignore start_date and end_date. */
  ignoresDates: boolean;
  /** The number of pages for which a cursor lives. */
  pagesPerCursor: number;
  /** Whether entries are sent oldest first. */
  isOldestFirst: boolean;
  /** The tenant of the key; undefined if the key may not read it. */
  tenant: string | undefined;
  /** How far the service's clock is ahead, in milliseconds. */
  aheadMs: number;
  /** The service's time, instead of this machine's. */
  now: string | undefined;
  /** JSON texts that are sent as is on one page instead of the logs, or the body of every response. */
  texts: readonly string[] | string | undefined;
  /** The encoding of the texts; with `latin1` each character is one byte. */
  encoding: 'utf8' | 'latin1';
  /** The duration of each response in milliseconds. */
  delayMs: number;
  /** The response to a request for a page of applications: a list, a status, or none. */
  onApplications: (page: number) => readonly unknown[] | number | undefined;
  /** Called before the response with the first page of a list. */
  onList: () => void;
  close(): Promise<void>;
}

/** Starts a log service on a free port of this machine. The test that starts it need not close it. */
export async function startLogServer(): Promise<LogServer> {
  let cursorAge = 0;
  const issued = new Set<string>();
  // The filtered entries are kept for later pages, so that thousands are not filtered again.
  let listed: { readonly interval: string; readonly logs: readonly Log[] } = { interval: '', logs: [] };
  const server = createServer((request, response) => {
    served.requests += 1;
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    response.setHeader('content-type', 'application/json');
    response.setHeader(
      'date',
      new Date(Date.parse(served.now ?? new Date().toISOString()) + served.aheadMs).toUTCString(),
    );
    if (typeof served.texts === 'string') {
      response.end(served.texts);
      return;
    }
    if (served.refusal !== undefined && served.requests > served.refuseAfter) {
      response.writeHead(served.refusal).end('{}');
      return;
    }
    if (request.url === '/tenants/self') {
      response.statusCode = served.tenant === undefined ? 403 : 200;
      response.end(JSON.stringify({ id: served.tenant, name: 'Tenant', type: 'test' }));
      return;
    }
    if (request.url?.startsWith('/applications') === true) {
      const found = served.onApplications(Number(query.get('page') ?? 1));
      if (found === undefined) return;
      response.writeHead(typeof found === 'number' ? found : 200).end(JSON.stringify({ data: found }));
      return;
    }
    const start = query.get('start');
    query.delete('start');
    const cursorOf = (next: string): string => {
      issued.add(`${next} of ${query.toString()}`);
      return next;
    };
    if (start !== null && !issued.has(`${start} of ${query.toString()}`)) {
      response.writeHead(400).end('{"errors": {"start": ["The cursor belongs to another request."]}}');
      return;
    }
    if (start === null) served.onList();
    cursorAge = start === null ? 0 : cursorAge + 1;
    if (cursorAge >= served.pagesPerCursor) {
      response.writeHead(410).end('{"title":"the cursor has expired"}');
      return;
    }
    if (served.texts !== undefined) {
      const found = served.texts.filter((text) => isAskedFor(timeIn(text), query));
      response.end(`{"data": [${found.join(' , ')}], "pagination": {"next": null}}`, served.encoding);
      return;
    }
    const empty = start === null ? 0 : Number(/^empty-(\d+)$/.exec(start)?.[1] ?? Infinity);
    if (empty < served.emptyPages) {
      response.end(JSON.stringify({ pagination: { next: cursorOf(`empty-${empty + 1}`) }, data: [] }));
      return;
    }
    const interval = `${query.get('start_date')} ${query.get('end_date')} ${served.logs.length}`;
    if (start === null || listed.interval !== interval) listed = { interval, logs: logsOf(served, query) };
    const sorted = listed.logs;
    const begin = Number(start?.replace(/^empty-.*/, '') ?? 0);
    const end = begin + Number(query.get('size') ?? 20);
    const isRepeating = served.repeatsCursor && (begin < sorted.length || start !== null);
    const next = end < sorted.length || isRepeating ? cursorOf(String(Math.min(end, sorted.length))) : null;
    const answer = JSON.stringify({ pagination: { next }, data: sorted.slice(begin, end) });
    setTimeout(() => response.end(answer), served.delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const served: LogServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    logs: [],
    refusal: undefined,
    refuseAfter: 0,
    emptyPages: 0,
    repeatsCursor: false,
    ignoresDates: false,
    requests: 0,
    pagesPerCursor: Infinity,
    isOldestFirst: false,
    tenant: 't-1',
    aheadMs: 0,
    now: undefined,
    texts: undefined,
    encoding: 'utf8',
    delayMs: 0,
    onApplications: () => 404,
    onList: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(() => served.close());
  return served;
}

/** Returns the entries of the requested interval in the order of the service. */
function logsOf({ logs, isOldestFirst, ignoresDates }: LogServer, query: URLSearchParams): Log[] {
  const found = logs.filter(({ created_at }) => ignoresDates || isAskedFor(created_at, query));
  const sorted = found.toSorted((one, other) => other.created_at.localeCompare(one.created_at));
  return isOldestFirst ? sorted.toReversed() : sorted;
}

/** Whether an entry of this time is in the interval of a query. One without a readable time always is. */
function isAskedFor(time: string, query: URLSearchParams): boolean {
  const at = Date.parse(time);
  const from = Date.parse(query.get('start_date') ?? '');
  const to = Date.parse(query.get('end_date') ?? '');
  return !(at < from) && !(at >= to);
}

function timeIn(text: string): string {
  return /"created_at"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? '';
}

/** Starts a log service that sends these texts as is. */
export async function serveTexts(
  texts: NonNullable<LogServer['texts']>,
  now = '2026-01-02T00:10:00Z',
  encoding: LogServer['encoding'] = 'utf8',
): Promise<{ readonly url: URL }> {
  const server = await startLogServer();
  Object.assign(server, { texts, now, encoding });
  return { url: new URL(server.url) };
}

/** Returns an entry created `agoMs` before now, in whole seconds. */
export function logAgo(agoMs: number, message: string, more: Partial<Log> = {}): Log {
  const created_at = new Date(Date.now() - agoMs).toISOString().replace(/\.\d+/, '');
  return { entity_type: 'token', operation: 'create', message, created_at, ...more };
}

/** Returns the messages of the entries that a command printed, one a line. */
export function messagesIn(stdout: string): string[] {
  return rowsIn<{ readonly message: string }>(stdout).map(({ message }) => message);
}
