import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import { svcHere } from '../support/run-here.ts';
import { logAgo, startLogServer } from './commands/log-server.ts';

it.each([
  ['24h', 0],
  ['1450m', 14],
])(
  'R31: svc logs --since %s --strict, of a service that keeps logs for 24 hours, ends with %d',
  async (since, expected) => {
    const server = await startLogServer();
    server.logs.push(logAgo(60_000, 'new'));
    const argv = ['logs', '--since', since, '--strict', '-o', 'jsonl', '--quiet'];
    const { code, stderr, stdout } = await svcHere(argv, { baseUrl: new URL(server.url), clock: systemClock });
    expect([code, stderr.includes('may be missing')]).toEqual([expected, expected === 14]);
    expect(stdout).toContain('"new"');
  },
);

it.each([
  ['2d', [], 14],
  ['2d', ['--retention', '7d'], 0],
  ['2d', ['--operation', 'delete'], 14],
  ['23h', [], 0],
])('R31: svc logs --until %s --strict %j that finds nothing ends with %d', async (until, more, expected) => {
  const server = await startLogServer();
  server.logs.push(logAgo(60_000, 'new'));
  const argv = ['logs', '--until', until, ...more, '--strict', '-o', 'jsonl', '--quiet'];
  const { code, stderr, stdout } = await svcHere(argv, { baseUrl: new URL(server.url), clock: systemClock });
  expect([code, stderr.includes('entries may be missing before'), stdout]).toEqual([expected, expected === 14, '']);
});

it('R31: svc logs --until with entries of a time that the service still has does not warn', async () => {
  const server = await startLogServer();
  server.logs.push(logAgo(50 * 3_600_000, 'old'));
  const argv = ['logs', '--until', '2d', '--strict', '-o', 'jsonl', '--quiet'];
  const { code, stderr, stdout } = await svcHere(argv, { baseUrl: new URL(server.url), clock: systemClock });
  expect([code, stderr, JSON.parse(stdout)]).toEqual([0, '', expect.objectContaining({ message: 'old' })]);
});
