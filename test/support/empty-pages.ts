import type { Interceptor } from '../../src/emulator/options.ts';

/** Lets each list of jobs begin with this many empty pages, each with a cursor for the next page. */
export function emptyPages(count: number): Interceptor {
  return (incoming, outgoing, proceed) => {
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    const start = url.searchParams.get('start');
    const number = start === null ? 0 : Number(/^empty-(\d+)$/.exec(start)?.[1] ?? Infinity);
    if (incoming.method !== 'GET' || url.pathname !== '/account-updater/jobs' || number > count) return proceed();
    if (number === count) {
      url.searchParams.delete('start');
      incoming.url = `${url.pathname}${url.search}`;
      return proceed();
    }
    const pagination = { next: `empty-${number + 1}`, page_size: 20 };
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ pagination, data: [] }));
  };
}
