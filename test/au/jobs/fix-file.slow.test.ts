import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { BucketServer, type BucketHook } from '../../support/bucket-server.ts';
import { openQuickDesk } from '../commands/support.ts';
import { succeeded } from '../../support/run-here.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

/**
 * A desk whose ledger is in a bucket, with a cycle that was delivered. The bucket responds as `later` does once left-out rows
 * whose result is an error were written.
 */
async function bucketDesk(later: BucketHook) {
  const desk = await openQuickDesk();
  const bucket = await BucketServer.start();
  bucket.now = () => desk.clock.now();
  const fixFile = desk.home.file('more.fix.csv');
  let asked = 0;
  bucket.hook = (incoming, outgoing, proceed) => {
    if (!existsSync(fixFile)) return proceed();
    asked += 1;
    return later(incoming, outgoing, proceed);
  };
  const env = { ...bucket.environment, SVC_LEDGER: 's3://logs/ledger' };
  const svc = (line: string | readonly string[]) => desk.svc(line, env);
  succeeded(await svc('au submit tokens.csv --cycle 2026-12 --wait'));
  writeFileSync(desk.home.file('more.csv'), [HEADER, ...ROWS, 'one-more,27,01,', ''].join('\n'));
  return { ...desk, svc, fixFile, asked: () => asked };
}

it.each([
  ['refuses', (_incoming, outgoing) => outgoing.writeHead(403).end()],
  ['fails', (_incoming, outgoing) => outgoing.writeHead(503).end()],
  ['does not respond', () => undefined],
] satisfies [string, BucketHook][])(
  'R86: a ledger that %s after the results were delivered changes no exit code, and the command names no cycle',
  async (_, later) => {
    const { svc, home, fixFile, asked } = await bucketDesk(later);
    const done = succeeded(await svc(['au', 'submit', 'more.csv', '--cycle', '2026-12', '--wait']));
    expect(asked()).toBeGreaterThan(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ sent: 1, results: { compared: true } });
    expect(done.stderr).toContain('svc au submit more.fix.csv --cycle <name>');
    expect(done.stderr).not.toContain('retrying');
    expect(existsSync(home.file('more.results.csv'))).toBe(true);
    expect(readFileSync(fixFile, 'utf8')).not.toContain('one-more');
  },
);
