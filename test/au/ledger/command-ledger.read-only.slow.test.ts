import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { BUCKET } from '../../support/bucket-signature.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { ended, type HereResult, succeeded } from '../../support/run-here.ts';
import { type Machine, openMachine } from '../commands/machine.ts';

const SUBMIT = 'au submit tokens.csv --cycle 2026-12';

/** A machine that may write to the ledger of the tenant, and one that may only read it, with the same file. */
interface Pair extends Machine {
  readonly on: (
    which: 'writer' | 'reader',
    line: string,
    env?: Readonly<Record<string, string>>,
  ) => Promise<HereResult>;
}

async function bucketPair(): Promise<Pair> {
  const machine = await openMachine();
  const bucket = await BucketServer.start();
  let mayWrite = true;
  bucket.now = () => machine.clock.now();
  bucket.hook = (incoming, outgoing, proceed) => {
    if (incoming.method !== 'PUT' || mayWrite) return proceed();
    incoming.resume();
    outgoing.writeHead(403, { 'content-type': 'application/xml' });
    return outgoing.end('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>');
  };
  const shared = { SVC_LEDGER: `s3://${BUCKET.name}/shared`, ...bucket.environment };
  const on: Pair['on'] = async (which, line, env = {}) => {
    mayWrite = which === 'writer';
    return machine.svc(line, { ...shared, SVC_STATE_DIR: machine.path(which), ...env });
  };
  return { ...machine, on };
}

/** As above, with a directory. The superuser may write everywhere. */
async function directoryPair(): Promise<Pair> {
  const machine = await openMachine();
  const ledger = machine.path('ledger');
  mkdirSync(ledger);
  const allow = (mode: number): void => {
    for (const entry of readdirSync(ledger, { recursive: true, withFileTypes: true }))
      if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), mode);
    chmodSync(ledger, mode);
  };
  onTestFinished(() => allow(0o755));
  const on: Pair['on'] = async (which, line, env = {}) => {
    allow(which === 'writer' ? 0o755 : 0o555);
    return machine.svc(line, { SVC_LEDGER: ledger, SVC_STATE_DIR: machine.path(which), ...env });
  };
  return { ...machine, on };
}

const isSuperuser = process.getuid?.() === 0 || process.platform === 'win32';

const PLACES = [
  { place: 'a bucket', openPair: bucketPair },
  { place: 'a directory', openPair: directoryPair },
];

describe.each(isSuperuser ? PLACES.slice(0, 1) : PLACES)('a ledger in $place', ({ openPair }) => {
  it('a machine that may only read the ledger shows what is open, and sends nothing', async () => {
    const pair = await openPair();
    const { on } = pair;
    succeeded(await on('writer', SUBMIT));
    const shown = succeeded(await on('reader', 'au status -o json'));
    expect(JSON.parse(shown.stdout)).toMatchObject([{ cycle: '2026-12', status: 'completed' }]);
    writeFileSync(pair.path('work/more.csv'), `${exampleRequestFile()}00000000-0000-4000-8000-000000000001,27,01,\n`);
    ended(await on('reader', 'au submit more.csv --cycle 2026-12'), 3, {
      uploads: 1,
      error: { message: expect.stringContaining('this machine may only read the ledger') },
    });
    // It must not send them with a ledger of its own either.
    ended(await on('reader', 'au submit more.csv --cycle 2026-12', { SVC_LEDGER: '' }), 3, { uploads: 1 });
    ended(await on('writer', 'au submit more.csv --cycle 2026-12'), 0, { uploads: 2 });
  });

  it.each([`${SUBMIT} --wait`, 'au download {job} --out results.csv'])(
    'R85: a machine that may only read the ledger delivers no results whose new tokens it does not have, and the same command does later: %s',
    async (line) => {
      const pair = await openPair();
      const { on } = pair;
      const { job } = JSON.parse((await on('writer', SUBMIT)).stdout) as { job: string };
      const typed = line.replace('{job}', job).replace('results.csv', pair.path('work/results.csv'));
      const results = pair.path(line.includes('--wait') ? 'work/tokens.results.csv' : 'work/results.csv');
      ended(await on('reader', typed), 3, {
        error: {
          message: expect.stringContaining(`the results of job ${job} were not delivered`),
          next: `svc au download ${job}`,
        },
      });
      expect(existsSync(results)).toBe(false);
      succeeded(await on('writer', `au download ${job} --out ${pair.path('work/read.csv')}`));
      succeeded(await on('reader', typed));
      expect(readFileSync(results, 'utf8').split('\n').length).toBeGreaterThan(10);
      expect(pair.uploads()).toBe(1);
    },
  );

  it('a machine that may only read the ledger enters what it sent before once it may write', async () => {
    const pair = await openPair();
    const { on } = pair;
    succeeded(await pair.svc(SUBMIT, { SVC_STATE_DIR: pair.path('reader') }));
    writeFileSync(pair.path('work/others.csv'), `${exampleRequestFile().split('\n')[0]}\none-more,27,01,\n`);
    succeeded(await on('reader', 'au resume'));
    succeeded(await on('writer', 'au submit others.csv --cycle 2026-11 --new-ledger --wait'));
    succeeded(await on('reader', 'au resume'));
    // The same state directory, on a machine that may write now.
    succeeded(await on('writer', 'au resume', { SVC_STATE_DIR: pair.path('reader') }));
    rmSync(pair.path('work/tokens.results.csv'), { force: true });
    ended(await on('writer', SUBMIT), 0, { uploads: 2 });
  });
});
