import { isLoopback } from '../../address.ts';
import type { Context } from '../../cli/context.ts';
import { SvcError } from '../../errors.ts';

const SHORTEST_MS = 1_000;

/** Refuses a pause that would use up the key's requests, unless the service is on this machine. @throws SvcError `usage` */
export function checkInterval({ settings }: Context, intervalMs: number | undefined): void {
  const url = settings.baseUrl?.value;
  if (intervalMs === undefined || intervalMs >= SHORTEST_MS || url === undefined || isLoopback(url)) return;
  throw new SvcError('usage', '--interval must be 1s or longer', {
    hint: 'A key has 200 requests a minute for everything; without --interval the pace follows what happens.',
  });
}
