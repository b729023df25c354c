import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, type HereResult, rowOf, svcHere } from '../../support/run-here.ts';
import { logAgo, startLogServer } from '../commands/log-server.ts';
import { TENANT } from './build.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** A machine with a log service that has one entry. */
async function openMachine() {
  const server = await startLogServer();
  server.tenant = TENANT;
  server.logs.push(logAgo(60_000, 'made', { tenant_id: TENANT }));
  const home = temporaryDirectory();
  const clock = new FakeClock({ start: Date.now() });
  const archive = (line = '', env: Readonly<Record<string, string>> = {}, to = 'audit'): Promise<HereResult> =>
    svcHere(`logs archive ${to} -o json ${line}`.trim().split(' '), { baseUrl: new URL(server.url), home, env, clock });
  return { archive, at: (name: string) => join(home, name) };
}

it('R33: an archive that is gone, such as on a volume that is not mounted, is not begun again, and goes on once it is back', async () => {
  const { archive, at } = await openMachine();
  expect(rowOf(await archive())).toMatchObject({ hours_left_before: null });
  renameSync(at('audit'), at('away'));
  for (const [options, begin] of [
    ['', '--since 24h'],
    ['--keep 13M --retention 72h --strict', '--since 72h --retention 72h --strict'],
    ['--retention 30m', '--since 1800s --retention 1800s'],
  ] as const) {
    const refused = await archive(options);
    expect([refused.code, refused.stdout, existsSync(at('audit'))], refused.stderr).toEqual([3, '', false]);
    expect(errorIn(refused)).toMatchObject({
      message: `this machine wrote an archive to ${at('audit')}, and there is none now; nothing was archived`,
      next: `svc logs archive audit ${begin}`,
    });
  }
  renameSync(at('away'), at('audit'));
  expect(rowOf(await archive())).toMatchObject({ hours_left_before: expect.any(Number) });
});

it('an archive that is gone is begun again with --since', async () => {
  const { archive, at } = await openMachine();
  rowOf(await archive());
  renameSync(at('audit'), at('away'));
  expect(rowOf(await archive('--since 24h'))).toMatchObject({ hours_left_before: null, entries: 1 });
  expect(rowOf(await archive())).toMatchObject({ hours_left_before: expect.any(Number) });
});

it('an archive that cannot be remembered is written all the same, with a warning', async () => {
  const { archive, at } = await openMachine();
  writeFileSync(at('taken'), '');
  const done = await archive('', { SVC_STATE_DIR: at('taken') });
  expect(rowOf(done)).toMatchObject({ hours_left_before: null, entries: 1 });
  expect(done.stderr).toContain(`warning: if ${at('audit')} is gone one day, this machine does not notice it: `);
});

it('a card number in the name of an archive is not kept in the state of this machine', async () => {
  const { archive, at } = await openMachine();
  rowOf(await archive('', {}, './4111111111111111'));
  const files = readdirSync(at('.'), { recursive: true, encoding: 'utf8' }).map(at);
  const texts = files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, 'latin1'));
  expect(files.filter((file) => file.endsWith('.known'))).toHaveLength(1);
  expect(texts.filter((text) => text.includes('4111111111111111'))).toEqual([]);
});
