import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { svcHere } from '../../support/run-here.ts';
import { logAgo, startLogServer } from '../commands/log-server.ts';

it.each([
  ['24h', 0],
  ['1450m', 14],
])(
  'R31: svc logs --since %s --strict, of a service that keeps logs for 24 hours, ends with %d',
  async (since, expected) => {
    const server = await startLogServer();
    onTestFinished(() => server.close());
    server.logs.push(logAgo(60_000, 'new'));
    const argv = ['logs', '--since', since, '--strict', '-o', 'jsonl', '--quiet'];
    const { code, stderr, stdout } = await svcHere(argv, { baseUrl: new URL(server.url), clock: systemClock });
    expect([code, stderr.includes('may be missing')]).toEqual([expected, expected === 14]);
    expect(stdout).toContain('"new"');
  },
);
