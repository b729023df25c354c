import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readFaults } from '../../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../../src/emulator/faults/intercept.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { MANAGEMENT, PRIVATE, raw, sandbox } from '../harness.ts';

type Sandbox = Awaited<ReturnType<typeof sandbox>>;

function faulty(line: string): Promise<Sandbox> {
  const { faults, seed } = readFaults(line);
  return sandbox({ intercept: faultInterceptor(faults, seed) });
}

const tenant = (on: Sandbox) => raw(`${on.url}/tenants/self`, { method: 'GET', headers: MANAGEMENT });

/**
 * Sends a request, and returns what comes back and how the connection ended. A response that hangs once it has this much is
 * `open` when nothing more came within a tenth of a second.
 */
function wire(
  on: Sandbox,
  hangsAfter: (text: string) => boolean = () => false,
): Promise<{ text: string; end: string }> {
  return new Promise((resolve) => {
    let text = '';
    let timer: NodeJS.Timeout | undefined;
    const socket = connect(on.port, '127.0.0.1');
    const done = (end: string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, end });
    };
    const add = (part: string) => {
      text += part;
      if (hangsAfter(text)) timer ??= setTimeout(() => done('open'), 100);
    };
    socket
      .setEncoding('utf8')
      .on('data', add)
      .on('connect', () => add(''));
    socket.on('end', () => done('end')).on('error', (error: NodeJS.ErrnoException) => done(error.code ?? ''));
    socket.write('GET /tenants/self HTTP/1.1\r\nHost: localhost\r\nSVC-API-KEY: sandbox-management-key\r\n\r\n');
  });
}

const lengthOf = (text: string) => Number(/content-length: (\d+)/i.exec(text)?.[1]);
const bodyOf = (text: string) => text.split('\r\n\r\n').slice(1).join('\r\n\r\n');
const isHalf = (text: string) => bodyOf(text).length === Math.floor(lengthOf(text) / 2);

describe('faults on the wire', () => {
  it('faults on the wire ignore dates, and end a list with an empty page that repeats its cursor', async () => {
    const on = await faulty('ignore-dates,repeat-cursor@GET /logs');
    const list = async (query: string) => {
      const { body } = await raw(`${on.url}/logs?${query}`, { method: 'GET', headers: MANAGEMENT });
      return JSON.parse(body) as { data: unknown[]; pagination: { next: string } };
    };
    const first = await list('size=100&start_date=2999-01-01T00:00:00Z');
    expect(first.data).toHaveLength(100);
    const last = await list(`start=end-of-list&size=100`);
    expect(last).toMatchObject({ data: [], pagination: { next: 'end-of-list' } });
  });

  it('faults on the wire answer with a status, headers and a body, and leave other requests alone', async () => {
    const on = await faulty('429,retry-after=7@GET /tenants/self:#1; 503@GET /logs');
    const first = await tenant(on);
    expect([first.status, first.headers['retry-after']]).toEqual([429, '7']);
    expect(JSON.parse(first.body)).toMatchObject({ status: 429, title: 'Too Many Requests' });
    expect((await tenant(on)).status).toBe(200);
    expect((await on.call('/logs', { headers: MANAGEMENT })).status).toBe(503);
    expect(on.ledger().map(({ status }) => status)).toEqual([429, 200, 503]);
  });

  it('faults on the wire answer an upload without reading it, and the connection stays of use', async () => {
    const on = await faulty('403@PUT /store/**:#1');
    const job = await on.createJob();
    expect((await on.upload(job, 'x'.repeat(3_000_000))).status).toBe(403);
    expect((await on.upload(job, exampleRequestFile())).status).toBe(200);
  });

  it('redirect', async () => {
    const on = await faulty('redirect=https://example.com/x@GET /tenants/self:#1; 301,redirect=/y@GET /tenants/self');
    expect(await tenant(on)).toMatchObject({ status: 307, headers: { location: 'https://example.com/x' } });
    expect(await tenant(on)).toMatchObject({ status: 301, headers: { location: '/y' } });
  });

  it('faults on the wire wait before the answer', async () => {
    const on = await faulty('latency=80ms@GET /tenants/self');
    const begun = performance.now();
    expect((await tenant(on)).status).toBe(200);
    expect(performance.now() - begun).toBeGreaterThan(70);
  });

  it('hang before the head, or in the middle of the body', async () => {
    expect(await wire(await faulty('hang@* **'), () => true)).toEqual({ text: '', end: 'open' });
    const { text, end } = await wire(await faulty('hang=body@* **'), isHalf);
    expect([isHalf(text), end]).toEqual([true, 'open']);
  });

  it.each(['500,applied', 'reset,applied'])(
    'faults on the wire let the request take effect first (%s)',
    async (effect) => {
      const on = await faulty(`${effect}@POST /account-updater/jobs:#1`);
      const create = (): Promise<number> =>
        raw(`${on.url}/account-updater/jobs`, { method: 'POST', headers: PRIVATE }).then(
          ({ status }) => status,
          () => 0,
        );
      expect(await create()).toBe(effect.startsWith('500') ? 500 : 0);
      expect(await create()).toBe(201);
      const list = await raw(`${on.url}/account-updater/jobs`, { method: 'GET', headers: PRIVATE });
      expect(JSON.parse(list.body)).toMatchObject({ data: [{}, {}] });
    },
  );

  it('reset before the head, or after a number of bytes', async () => {
    expect(await wire(await faulty('reset@* **'))).toEqual({ text: '', end: 'ECONNRESET' });
    for (const bytes of [0, 10]) {
      const { text, end } = await wire(await faulty(`reset=${bytes}@* **`));
      expect([text.startsWith('HTTP/1.1 200'), bodyOf(text).length, end]).toEqual([true, bytes, 'ECONNRESET']);
    }
  });

  it('faults on the wire cut the body short, and end in order', async () => {
    for (const bytes of [0, 12]) {
      const { text, end } = await wire(await faulty(`truncate=${bytes}@* **`));
      expect([bodyOf(text).length, end]).toEqual([bytes, 'end']);
      expect(lengthOf(text)).toBeGreaterThan(100);
    }
  });

  it('faults on the wire send a byte at a time, whole in the end', async () => {
    const on = await faulty('503,trickle=1ms@* **');
    const begun = performance.now();
    const answer = await tenant(on);
    expect(JSON.parse(answer.body)).toMatchObject({ status: 503 });
    expect(performance.now() - begun).toBeGreaterThan(answer.body.length);
  });

  it('faults on the wire answer what is no HTTP', async () => {
    const on = await faulty('malformed@* **');
    expect((await wire(on)).text).toMatch(/^HTTP\/1.1 two-hundred/);
    await expect(tenant(on)).rejects.toThrow('Parse Error');
  });

  it('damage a download, which goes out in pieces', async () => {
    const on = await faulty('truncate=100@GET /store/results/*:#1; x-added=yes@GET /store/results/*');
    const job = await on.process(exampleRequestFile());
    await expect(fetch(job.download_url).then((answer) => answer.text())).rejects.toThrow('terminated');
    const whole = await fetch(job.download_url);
    expect(whole.headers.get('x-added')).toBe('yes');
    expect(await whole.text()).toContain('UPD_PAN');
  });

  it('faults on the wire do not keep a sandbox from closing', async () => {
    const on = await faulty('hang@* **:#1; trickle=1m@* **:#2; latency=5m@* **');
    const waiting = [1, 2, 3].map(() => tenant(on).catch(() => 'broken off'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await on.close();
    expect(await Promise.all(waiting)).toEqual(Array<string>(3).fill('broken off'));
  });
});
