// A log service for measurements: entries spread evenly over a stretch of time, newest first, made when asked for.
import { once } from 'node:events';
import { createServer } from 'node:http';

const PATH = '/logs?';

/**
 * @param {{ entries: number, spanMs: number, untilMs: number, latencyMs?: number, enforce?: boolean }} options
 * `enforce`: 200 requests a minute and 50 in 10 s, then refused for a minute, as a management key is.
 */
export async function startLogService({ entries, spanMs, untilMs, latencyMs = 0, enforce = false }) {
  const served = { url: '', requests: 0, refused: 0, close };
  const begin = Math.ceil((untilMs - spanMs) / 1000) * 1000;
  const step = spanMs / entries;
  const recent = [];
  let blockedUntil = 0;
  const server = createServer((request, response) => {
    served.requests += 1;
    if (enforce && isTooMany()) {
      served.refused += 1;
      response.writeHead(429, { 'content-type': 'application/json' }).end('{}');
    } else if (!request.url.startsWith(PATH)) response.writeHead(403).end('{}');
    else if (latencyMs > 0) setTimeout(answer, latencyMs, request, response);
    else answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  served.url = `http://127.0.0.1:${server.address().port}`;
  return served;

  function isTooMany() {
    const now = Date.now();
    if (now < blockedUntil) return true;
    recent.push(now);
    while (recent[0] < now - 60_000) recent.shift();
    if (recent.length <= 200 && recent.filter((at) => at > now - 10_000).length <= 50) return false;
    blockedUntil = now + 60_000;
    return true;
  }

  function answer(request, response) {
    const query = new URLSearchParams(request.url.slice(PATH.length));
    const [first, last] = [place(query.get('start_date'), 0), place(query.get('end_date'), entries)];
    const from = Math.min(Number(query.get('start') ?? last), last);
    const to = Math.max(first, from - Number(query.get('size') ?? 20));
    const rows = [];
    for (let number = from - 1; number >= to; number -= 1) rows.push(entry(number));
    const next = to > first ? `"${to}"` : 'null';
    response.setHeader('content-type', 'application/json');
    response.end(`{"pagination":{"next":${next},"page_size":100},"data":[${rows.join()}]}`);
  }

  /** The number of the first entry at or after a time. */
  function place(date, otherwise) {
    if (date === null) return otherwise;
    let [low, high] = [0, entries];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (timeOf(middle) < Date.parse(date)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function timeOf(number) {
    return begin + Math.floor((number * step) / 1000) * 1000;
  }

  function entry(number) {
    const tail = String(number).padStart(12, '0');
    return `{"tenant_id":"0b2f3c1a-5d1e-4c53-9d3e-000000000001","actor_id":"5e0a7c11-2f6b-4a3f-8f0d-${String(number % 7).padStart(12, '0')}","actor_type":"application","entity_type":"token","entity_id":"9a51d2b4-7c38-4f7e-b1a2-${tail}","operation":"create","message":"Token created","created_at":"${new Date(timeOf(number)).toISOString().slice(0, 19)}Z"}`;
  }

  function close() {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  }
}
