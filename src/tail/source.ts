import type { Client } from '../api/client.ts';
import type { LogFilter } from '../api/logs.ts';
import type { Page } from '../api/pages.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../schema/log.ts';

/** A half-open stretch of time, in epoch milliseconds: `from` belongs to it, `to` does not. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Where a tail reads: the service, or a model of it. */
export interface LogSource {
  /** All pages of a window, in whatever order. */
  pages(window: Window, pageSize: number): AsyncIterable<Page<Log>>;
  /** The time by the service's clock. */
  now(): number;
  /** For pauses. */
  readonly clock: Clock;
  /** Ends everything when it aborts. */
  readonly signal: AbortSignal;
}

/** The service's logs, or those of one kind of entity, as a tail reads them. */
export function serviceLogs(client: Client, filter: Pick<LogFilter, 'entityType' | 'entityId'>): LogSource {
  const { clock, signal } = client;
  return {
    clock,
    signal,
    now: () => client.now(),
    pages: ({ from, to }, pageSize) => {
      const [startDate, endDate] = [new Date(from).toISOString(), new Date(to).toISOString()];
      return client.logs.list({ ...filter, startDate, endDate }, { pageSize }).pages();
    },
  };
}
