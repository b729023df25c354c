import { expect, it, vi } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { BUCKET } from '../../support/bucket-signature.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { ended, errorIn, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, writeRows } from '../commands/support.ts';

const CYCLE = '--cycle 2026-12';
const [, ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const ALL = ROWS.map((row) => `${row}M1`);

// A low limit splits even small files into several jobs.
vi.mock('../../../src/schema/account-updater-files.ts', async (original) => ({
  ...(await original<object>()),
  MAX_REQUEST_FILE_ROWS: 3,
}));

it('a file whose last job may not be claimed says how many rows were sent before, and not that nothing was sent', async () => {
  const desk = await openQuickDesk({ tenants: ['production'], merchants: ['M1'] });
  const bucket = await BucketServer.start();
  let isDenied = true;
  bucket.hook = (incoming, outgoing, proceed) => {
    if (!isDenied || incoming.method !== 'PUT' || !incoming.url?.endsWith('/00000002.json')) return proceed();
    incoming.resume();
    outgoing.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>no key</Message></Error>');
  };
  const svc = (line: string) => desk.svc(line, { ...bucket.environment, SVC_LEDGER: `s3://${BUCKET.name}/shared` });
  writeRows(desk, 'all.csv', ...ALL.slice(0, 6));
  const stopped = ended(await svc(`au submit all.csv ${CYCLE}`), 3);
  const { message } = errorIn(stopped);
  expect(message).toContain('no more rows were sent: 3 of 6 rows were sent before');
  expect(message).toContain('(403 AccessDenied: no key)');
  isDenied = false;
  expect(rowOf(await svc(`au submit all.csv ${CYCLE} --wait`))).toMatchObject({ results: { updated: 6 } });
});
