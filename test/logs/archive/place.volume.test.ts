import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { ended, succeeded, svcHere } from '../../support/run-here.ts';
import { logAgo, startLogServer } from '../commands/log-server.ts';
import { TENANT } from './build.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** A new volume, and a machine with a log service that archives to it. */
async function openMachine() {
  const server = await startLogServer();
  server.tenant = TENANT;
  server.logs.push(logAgo(60_000, 'made', { tenant_id: TENANT }));
  const [home, volume] = [temporaryDirectory(), temporaryDirectory()];
  const clock = new FakeClock({ start: Date.now() });
  const svc = (command: 'archive' | 'verify') =>
    svcHere(['logs', command, volume], { baseUrl: new URL(server.url), home, clock });
  return { svc, volume };
}

it('R66: an archive at the top of a volume is begun and intact beside the folders that systems keep there', async () => {
  const { svc, volume } = await openMachine();
  for (const name of ['lost+found', 'System Volume Information', '$RECYCLE.BIN']) {
    mkdirSync(join(volume, name));
    writeFileSync(join(volume, name, 'found'), '');
  }
  succeeded(await svc('archive'));
  succeeded(await svc('archive'));
  succeeded(await svc('verify'));
});

it('R66: a link named as a folder that systems keep does not belong to an archive', async () => {
  const { svc, volume } = await openMachine();
  succeeded(await svc('archive'));
  symlinkSync(temporaryDirectory(), join(volume, 'lost+found'));
  ended(await svc('verify'), 12);
});

it('R66: no archive is begun beside an empty folder, which svc logs verify would report', async () => {
  const { svc, volume } = await openMachine();
  mkdirSync(join(volume, 'notes'));
  ended(await svc('archive'), 3, `${volume} is not an archive, and not empty: notes/`);
});
