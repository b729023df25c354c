// A log service for measurements. It makes up its entries on request, newest first and evenly spread over time.
import { once } from 'node:events';
import { createServer } from 'node:http';

const PATH = '/logs?';
const TENANT = '0b2f3c1a-5d1e-4c53-9d3e-000000000001';

/**
 * @param {{ entries: number, spanMs: number, untilMs: number, latencyMs?: number, enforce?: boolean }} options
 * With `enforce`, more than 200 requests in a minute or 50 in 10 s are refused for a minute, as for a management key.
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
    if (!request.url.startsWith(PATH)) {
      response.writeHead(request.url === '/tenants/self' ? 200 : 404, { 'content-type': 'application/json' });
      response.end(`{"id":"${TENANT}","owner_id":"${TENANT}","type":"test","name":"Bench","settings":{}}`);
      return;
    }
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

  /** Returns the number of the first entry at or after a time. */
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
    const time = new Date(timeOf(number)).toISOString().slice(0, 19);
    return `{"tenant_id":"${TENANT}","actor_id":"${idOf(number % 7)}","actor_type":"application","entity_type":"token","entity_id":"${idOf(number)}","operation":"create","message":"Token created","created_at":"${time}Z"}`;
  }

  function close() {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  }
}

/** Returns a UUID that depends only on the number. */
export function idOf(number) {
  const hex = (salt) => (Math.imul(number + salt, 2_654_435_761) >>> 0).toString(16).padStart(8, '0');
  const [one, two, three, four] = [hex(1), hex(70_001), hex(900_001), hex(11_000_001)];
  return `${one}-${two.slice(0, 4)}-4${two.slice(5)}-a${three.slice(5)}-${three.slice(0, 4)}${four}`;
}
