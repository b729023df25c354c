import { expect } from 'vitest';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { openStore } from '../../../src/client/store/open-store.ts';
import type { EntryBody } from '../../../src/au/ledger/entry.ts';
import { Ledger } from '../../../src/au/ledger/ledger.ts';
import { readRows } from '../../../src/au/ledger/request-rows.ts';
import type { AccountUpdaterJob } from '../../../src/schema/account-updater.ts';
import { rowOf } from '../../support/run-here.ts';
import type { QuickDesk } from '../commands/support.ts';
import { HEADER } from '../rows.ts';

/** The salt of the keys in the ledger that an earlier build began. */
const SALT = 'a'.repeat(64);

/**
 * Sends rows in a job of cycle 2026-12 and a shared ledger as builds did that put a token with several merchants into one
 * job. Returns the job.
 */
export async function jobOfEarlierBuild(
  { svc, clock, home, envOf }: Pick<QuickDesk, 'svc' | 'clock' | 'home' | 'envOf'>,
  rows: readonly string[],
): Promise<string> {
  const env = envOf('earlier');
  const { id } = rowOf(await svc('au create', env));
  const job = rowOf(await svc(`au status ${String(id)} --show-urls`, env)) as unknown as AccountUpdaterJob;
  const body = [HEADER, ...rows, ''].join('\n');
  const source = {
    async *open() {
      yield Buffer.from(body);
    },
    sha256: sha256Of(body),
  };
  const { signal } = new AbortController();
  const place = { env: {}, cwd: home.path, pid: process.pid, isAlive: () => true, clock, signal };
  const objects = await openStore(place, env.SVC_LEDGER, { noun: 'ledger', writers: 'machines' });
  const who = { host: 'runner', user: 'ci', version: '0.1.0' };
  const opened = await Ledger.open(objects, job.tenant_id ?? '', { clock, who });
  const cycle = opened.cycle('2026-12');
  const { created_at, expires_at = null } = job;
  const claim: EntryBody = {
    kind: 'claim',
    job: job.id,
    salt: SALT,
    created_at: created_at ?? '',
    expires_at,
    row_set: await cycle.createRowSet((await readRows(SALT, source)).rows),
    rows: rows.length,
    part: 1,
    file: { name: 'one.csv', sha256: source.sha256, rows: rows.length },
    bytes: Buffer.byteLength(body),
    sha256: source.sha256,
  };
  await opened.mark(job.id, '2026-12');
  await cycle.append(async () => claim);
  expect((await fetch(job.upload_url ?? '', { method: 'PUT', body })).status).toBeLessThan(300);
  return job.id;
}
