import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** An archive with a signed review of a day and one of access, and with an index that its records name, as they were first written. */
const KEPT = fileURLToPath(new URL('../../fixtures/kept-archive', import.meta.url));

function copyArchive() {
  const home = temporaryDirectory();
  cpSync(KEPT, join(home, 'audit'), { recursive: true });
  const clock = new FakeClock({ start: Date.parse('2026-11-28T18:00:00Z') });
  const svc = async (line: string) => {
    const { code, stdout } = await svcHere(line.split(' '), { home, clock });
    return { code, rows: JSON.parse(stdout) as unknown };
  };
  const recordIn = (number: number) =>
    JSON.parse(readFileSync(join(home, `audit/_manifest/0000000${number}.json`), 'utf8')) as {
      readonly review: { readonly of: string; readonly sha256: string };
    };
  return { svc, recordIn };
}

it('R33: an archive of the first version verifies with its signed reviews, and has the hash that it had', async () => {
  const { code, rows } = await copyArchive().svc('logs verify audit -o json');
  expect(code).toBe(0);
  expect(rows).toMatchObject([
    { kind: 'review', problem: null, message: expect.stringMatching(/^day reviewed, .* SEC-41$/), entries: 31 },
    { kind: 'review', problem: null, message: expect.stringMatching(/^access reviewed, .* SEC-42$/), entries: 31 },
    { kind: 'covered', problem: null, from: '2026-11-27T17:15:50.935Z', to: '2026-11-28T17:15:51.000Z' },
    {
      kind: 'archive',
      records: 4,
      segments: 2,
      entries: 124,
      bytes: 3976,
      sha256: 'cbb2fda1b03654cb468bd78ec875200ea3e979da9ae5c40d452c5800237bace5',
    },
  ]);
});

it('R82: a day and its access that the first version signed have the same hashes when they are reviewed again', async () => {
  const { svc, recordIn } = copyArchive();
  expect(await svc('logs review audit --day 2026-11-27 -o json')).toMatchObject({
    rows: { sha256: recordIn(2).review.sha256, signed: [{ record: 2, note: 'SEC-41', is_current: true }] },
  });
  await svc('logs review audit --day 2026-11-27 --sign-off -o json');
  await svc('logs review audit --access --since 2026-11-27 --sign-off -o json');
  for (const number of [2, 3]) {
    const { of, sha256 } = recordIn(number).review;
    expect(recordIn(number + 2).review).toMatchObject({ of, sha256 });
  }
  expect(await svc('logs verify audit -o json')).toMatchObject({ code: 0 });
});

it('R69: an archive of the first version, whose records name its index, is searched by another one', async () => {
  const { svc } = copyArchive();
  const id = '84df26f7-313f-43e3-a340-2599278ef7a8';
  const { code, rows } = await svc(`logs search audit --entity-id ${id} -o json`);
  expect([code, rows]).toEqual([0, Array.from({ length: 5 }, () => expect.objectContaining({ entity_id: id }))]);
});
