import { expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { ended, errorIn, svcHere } from '../../support/run-here.ts';
import { logAgo, startLogServer } from '../commands/log-server.ts';
import { startCollector } from './collector.ts';

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

it('svc logs tail --to counts the rejected entries of a request in which no entry has a readable time', async () => {
  const [server, collector] = [await startLogServer(), await startCollector()];
  onTestFinished(() => collector.close());
  server.logs.push(logAgo(60_000, 'an entry', { created_at: 'yesterday' }));
  const body = '{"partialSuccess":{"rejectedLogRecords":"1"}}';
  collector.reply = ({ records }) => (records.length === 0 ? undefined : { status: 200, body });
  const argv = ['logs', 'tail', '--to', `otlp+${collector.url}`, '--since', '1h', '--max', '1'];
  const clock = new FakeClock({ start: Date.now() });
  ended(await svcHere(argv, { baseUrl: new URL(server.url), clock }), 14, 'permanently rejected 1 of 1 entry\n');
});
