import { expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { ended, errorIn, succeeded, svcHere } from '../../support/run-here.ts';
import { logAgo, startLogServer } from '../commands/log-server.ts';
import { startCollector } from './collector.ts';

/** A log service, a collector, and a run that sends a first entry of the one to the other. */
async function shipping() {
  const [server, collector] = [await startLogServer(), await startCollector()];
  onTestFinished(() => collector.close());
  const argv = ['logs', 'tail', '--to', `otlp+${collector.url}`, '--since', '1h', '--max', '1', '--debug'];
  const ship = (env: Readonly<Record<string, string>> = {}) =>
    svcHere(argv, { baseUrl: new URL(server.url), clock: new FakeClock({ start: Date.now() }), env });
  return { server, collector, ship };
}

it.each([
  ['--fields', 'message'],
  ['--jq', '.message'],
])('svc logs tail --to sends whole entries, so that %s is refused before anything is sent', async (option, value) => {
  const refused = await svcHere(['--sandbox', 'logs', 'tail', '--to', 'otlp+http://localhost:4318', option, value]);
  expect([refused.code, errorIn(refused)['message']]).toEqual([
    2,
    `${option} cannot be combined with --to: entries are sent whole`,
  ]);
});

it('svc logs tail --to sends entries whole that have the value of a header, such as the id of the tenant', async () => {
  const { server, collector, ship } = await shipping();
  const tenant = '3f2c8a9e-1111-4222-8333-444455556666';
  server.logs.push(logAgo(60_000, `an application of ${tenant}`, { tenant_id: tenant, entity_type: 'application' }));
  succeeded(await ship({ OTEL_EXPORTER_OTLP_HEADERS: `x-scope-orgid=${tenant},stream-name=application` }));
  expect(collector.messages()).toEqual([`an application of ${tenant}`]);
  expect(collector.taken[1]?.resource).toMatchObject({ 'svc.tenant_id': { stringValue: tenant } });
  expect(collector.taken[1]?.records[0]?.attributes).toContainEqual({
    key: 'svc.entity_type',
    value: { stringValue: 'application' },
  });
});

const LONG = 'x'.repeat(290);
const problem = (status: number, message: string) => ({ status, body: JSON.stringify({ message }) });

it.each([
  ['as it refuses the entries', 'Bearer', problem(401, 'not Bearer canary-token-1, nor canary-token-1'), 4],
  ['as the id of its response', 'Bearer', { ...problem(401, 'no'), headers: { 'x-request-id': 'canary-token-1' } }, 4],
  ['after a scheme with a hyphen', 'Api-Token', problem(401, 'not canary-token-1'), 4],
  ['after two spaces', 'Bearer ', problem(401, 'canary-token-1 is unknown'), 4],
  ['where its message is cut', 'Bearer', problem(401, `${LONG} canary-token-1`), 4],
  ['as the host of a redirect', 'Bearer', { status: 307, headers: { location: 'https://canary-token-1/' } }, 8],
  [
    'where its remark is cut',
    'Bearer',
    { status: 200, body: `{"partialSuccess":{"errorMessage":"${LONG} canary-token-1"}}` },
    0,
  ],
])('R06: svc logs tail --to shows no token that the collector repeats %s', async (_, scheme, reply, code) => {
  const { server, collector, ship } = await shipping();
  server.logs.push(logAgo(60_000, 'an entry'));
  collector.reply = () => reply;
  const headers = `authorization=${encodeURIComponent(scheme)}%20canary-token-1`;
  const run = await ship({ OTEL_EXPORTER_OTLP_HEADERS: headers });
  ended(run, code, `< ${reply.status} POST`, { unsaid: 'canary' });
});

it('svc logs tail --to counts the rejected entries of a request in which no entry has a readable time', async () => {
  const { server, collector, ship } = await shipping();
  server.logs.push(logAgo(60_000, 'an entry', { created_at: 'yesterday' }));
  const body = '{"partialSuccess":{"rejectedLogRecords":"1"}}';
  collector.reply = ({ records }) => (records.length === 0 ? undefined : { status: 200, body });
  ended(await ship(), 14, 'permanently rejected 1 of 1 entry\n');
});
