import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../support/until.ts';
import { MANAGEMENT, PRIVATE, raw, sandbox } from './harness.ts';

it('the app refuses a body that is too large, whether or not its length is given', async () => {
  const { url } = await sandbox();
  const body = `"${'x'.repeat(1_000_001)}"`;
  for (const framing of [{ 'transfer-encoding': 'chunked' }, { 'content-length': body.length }]) {
    const headers = { ...MANAGEMENT, 'content-type': 'application/json', ...framing };
    const answer = await raw(`${url}/tenants/self`, { method: 'PUT', headers, chunks: [body] });
    expect([answer.status, answer.headers['content-type']]).toEqual([413, 'application/problem+json']);
  }
});

it('the app refuses other hosts, other methods and other paths', async () => {
  const { url } = await sandbox();
  const answer = (method: string, path: string, headers = {}) => raw(url + path, { method, headers });
  expect((await answer('GET', '/logs', { host: 'example.com' })).status).toBe(403);
  const refused = await answer('PUT', '/logs');
  expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET']);
  const ofPage = await answer('DELETE', '/acs/challenge/1/2');
  expect([ofPage.status, ofPage.headers['allow']]).toEqual([405, 'GET, POST']);
  for (const path of ['/nothing', '/logs/', '/account-updater/jobs//', '/%zz'])
    expect([path, (await answer('GET', path)).status]).toEqual([path, 404]);
});

it('the app answers HEAD as GET, without the body', async () => {
  const { url } = await sandbox();
  const read = await raw(`${url}/tenants/self`, { method: 'GET', headers: MANAGEMENT });
  const head = await raw(`${url}/tenants/self`, { method: 'HEAD', headers: MANAGEMENT });
  expect([head.status, head.body, head.headers['content-length']]).toEqual([200, '', String(read.body.length)]);
});

it('the app takes a segment of a path decoded', async () => {
  const on = await sandbox();
  const { id } = await on.createJob();
  const answer = await raw(`${on.url}/account-updater/jobs/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`, {
    method: 'GET',
    headers: PRIVATE,
  });
  expect([answer.status, (JSON.parse(answer.body) as { id: string }).id]).toEqual([200, id]);
});

it('the app answers the next request of a connection after it refused a body in the middle', async () => {
  const { url } = await sandbox();
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const received: string[] = [];
  socket.setEncoding('utf8').on('data', (text: string) => received.push(text));
  const key = 'svc-api-key: sandbox-management-key';
  socket.write(`PUT /tenants/self HTTP/1.1\r\nhost: 127.0.0.1\r\n${key}\r\ntransfer-encoding: chunked\r\n\r\n`);
  const chunk = 'x'.repeat(500_000);
  for (let sent = 0; sent < 4; sent += 1) socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  socket.write(`0\r\n\r\nGET /tenants/self HTTP/1.1\r\nhost: 127.0.0.1\r\n${key}\r\n\r\n`);
  await until(() => received.join('').includes('HTTP/1.1 200'));
  expect(received.join('')).toContain('HTTP/1.1 413');
});
