import { describe, expect, it } from 'vitest';
import { standingClaims } from '../../../src/au/ledger/claims.ts';
import { Ledger } from '../../../src/au/ledger/ledger.ts';
import { requireEntries } from '../../../src/au/ledger/lost-entries.ts';
import { remainingDamage, type RepairedObject, repairLedger } from '../../../src/au/ledger/repair-ledger.ts';
import { RowSet } from '../../../src/au/ledger/row-set.ts';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { FakeClock } from '../../support/clock.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { claimBody, WHO } from './entries.ts';

const CYCLE = 'ours/cycles/2026-12';
const LISTED = 'list ours/cycles/';
const clock = new FakeClock({ start: Date.UTC(2026, 11, 1, 5) });
const nameOf = (number: number): string => `${CYCLE}/0000000${number}.json`;
const setOf = (number: number): string => `${CYCLE}/rows/${RowSet.of([BigInt(number)]).name()}`;

/** A ledger with three claims that each have a row, and what a machine keeps of it. */
interface Place {
  readonly objects: MemoryObjects;
  readonly cache: MemoryObjects;
}

async function open({ objects, cache }: Place): Promise<Ledger> {
  return Ledger.open(objects, 'ours', { clock, who: WHO, cache });
}

async function threeClaims(): Promise<Place> {
  const place = { objects: new MemoryObjects(), cache: new MemoryObjects() };
  const cycle = (await open(place)).cycle('2026-12');
  for (const number of [1, 2, 3]) {
    const set = await cycle.createRowSet(RowSet.of([BigInt(number)]));
    await cycle.append(async () => claimBody(`job-${number}`, { row_set: set, rows: 1 }));
  }
  return place;
}

/** Repairs a ledger. Returns what was found by object, without the location. */
async function repaired({ objects, cache }: Place): Promise<Partial<Record<string, RepairedObject['status']>>> {
  const found = await repairLedger(objects, cache, 'ours');
  return Object.fromEntries(found.map(({ object, status }) => [object.replace('memory/', ''), status]));
}

/** Returns the jobs that a machine without copies reads, or the message of the damage. */
async function readBy(objects: MemoryObjects): Promise<readonly string[] | string> {
  try {
    const cycle = (await open({ objects, cache: new MemoryObjects() })).cycle('2026-12');
    await cycle.append(async () => undefined);
    const entries = await cycle.read();
    for (const entry of entries) if (entry.kind === 'claim' && entry.row_set) await cycle.rowSet(entry.row_set);
    return entries.map(({ kind, job }) => `${kind} ${job}`);
  } catch (error) {
    return String(error);
  }
}

const ABSENT = 'nothing of it is there; nothing was sent';
const ALL = ['claim job-1', 'claim job-2', 'claim job-3'];

describe('the repair of a ledger', () => {
  it('the repair of a ledger finds nothing in a whole one, in one that never was, and changes neither', async () => {
    const whole = await threeClaims();
    const before = new Map(whole.objects.objects);
    expect(await repaired(whole)).toEqual({});
    expect(whole.objects.objects).toEqual(before);
    const never = { objects: new MemoryObjects(), cache: new MemoryObjects() };
    expect(await repaired(never)).toEqual({});
    expect(never.objects.objects.size).toBe(0);
  });

  it.each([
    ['an entry in the middle', [nameOf(2)]],
    ['the first entry', [nameOf(1)]],
    ['the last entry', [nameOf(3)]],
    ['all entries', [nameOf(1), nameOf(2), nameOf(3)]],
    ['a set of rows', [setOf(2)]],
    ['an entry and its set', [nameOf(3), setOf(3)]],
    ['the settings', ['ours/ledger.json']],
  ])('R83: the repair of a ledger puts back %s from the copies of this machine', async (_, names) => {
    const place = await threeClaims();
    const before = new Map(place.objects.objects);
    for (const name of names) place.objects.objects.delete(name);
    expect(await repaired(place)).toEqual(Object.fromEntries(names.map((name) => [name, 'put_back'])));
    expect(place.objects.objects).toEqual(before);
    expect(await readBy(place.objects)).toEqual(ALL);
    expect(await repaired(place)).toEqual({});
  });

  it('R83: a ledger of which nothing is left is put back only whole, on the word of the operator', async () => {
    const place = await threeClaims();
    const before = new Map(place.objects.objects);
    place.objects.objects.clear();
    await expect(open(place)).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(ABSENT) });
    await expect(repaired(place)).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(ABSENT) });
    expect(place.objects.objects).toEqual(new Map());
    await repairLedger(place.objects, place.cache, 'ours', { whole: true });
    expect(place.objects.objects).toEqual(before);
    expect(await readBy(place.objects)).toEqual(ALL);
  });

  it.each([
    ['an entry in the middle', nameOf(2)],
    ['the first entry', nameOf(1)],
    ['a set of rows', setOf(2)],
  ])('R83: the repair of a ledger names %s of which this machine has no copy, and creates nothing', async (_, name) => {
    const { objects, cache } = await threeClaims();
    objects.objects.delete(name);
    cache.objects.delete(name);
    objects.requests = [];
    expect(await repaired({ objects, cache })).toEqual({ [name]: 'missing' });
    expect(objects.requests.filter((request) => request.startsWith('create'))).toEqual([]);
    expect(await readBy(objects)).toContain('the ledger is damaged');
  });

  it('R83: the repair of a ledger does not put a copy back that the next entry does not name', async () => {
    const { objects, cache } = await threeClaims();
    objects.objects.delete(nameOf(2));
    cache.put(nameOf(2), cache.text(nameOf(2)).replace('job-2', 'job-8'));
    expect(await repaired({ objects, cache })).toEqual({ [nameOf(2)]: 'missing' });
    expect(objects.objects.has(nameOf(2))).toBe(false);
  });

  it.each([
    ['changed', () => '<html></html>'],
    ['changed', () => ' '.repeat(70_000)],
    ['cut', (text: string) => text.slice(0, 40)],
    ['cut', () => ''],
  ] as const)(
    'R83: the repair of a ledger never replaces an entry that is %s, and shows the hash of its copy',
    async (status, damage) => {
      const { objects, cache } = await threeClaims();
      const [good, bad] = [objects.text(nameOf(2)), damage(objects.text(nameOf(2)))];
      objects.put(nameOf(2), bad);
      const found = await repairLedger(objects, cache, 'ours');
      expect(found).toEqual([
        { object: `memory/${nameOf(2)}`, status, sha256: sha256Of(good), abandon: null, job: null, freed_by: null },
      ]);
      expect(objects.text(nameOf(2))).toBe(bad);
      expect(remainingDamage(found)).toMatchObject({
        code: 'config',
        hint: expect.stringContaining('is never replaced'),
      });
      // Whoever administers the place removes exactly this object.
      objects.objects.delete(nameOf(2));
      expect(await repaired({ objects, cache })).toEqual({ [nameOf(2)]: 'put_back' });
      expect(await readBy(objects)).toEqual(ALL);
    },
  );

  it('R83: the repair of a ledger says of its settings, and not of a set of rows, that they are cut short', async () => {
    const place = await threeClaims();
    for (const name of ['ours/ledger.json', setOf(1)]) place.objects.put(name, '{');
    expect(await repaired(place)).toEqual({ 'ours/ledger.json': 'cut', [setOf(1)]: 'changed' });
  });

  it('R83: the repair of a ledger names a changed entry and a changed set of which this machine has no copy', async () => {
    const { objects } = await threeClaims();
    objects.put(nameOf(3), objects.text(nameOf(3)).replace(/"previous":"./, '"previous":"0'));
    objects.put(setOf(1), 'x');
    expect(await repaired({ objects, cache: new MemoryObjects() })).toEqual({
      [nameOf(3)]: 'changed',
      [setOf(1)]: 'changed',
    });
  });

  it('R83: the repair of a ledger without copies, as that of one machine has none, says what is damaged', async () => {
    const { objects } = await threeClaims();
    objects.objects.delete(nameOf(2));
    expect(await repairLedger(objects, undefined, 'ours')).toMatchObject([{ status: 'missing' }]);
  });
});

/** Restores a ledger to its first entry. Another machine adds entries up to a number. */
async function goOnFrom({ objects }: Place, newest: number): Promise<void> {
  for (const number of [2, 3]) objects.objects.delete(nameOf(number));
  const cycle = (await open({ objects, cache: new MemoryObjects() })).cycle('2026-12');
  for (let number = 2; number <= newest; number += 1)
    await cycle.append(async () => claimBody(`other-${number}`, { row_set: null }));
}

describe('a ledger that was restored and went on without a machine', () => {
  const none = { sha256: null, abandon: null, freed_by: null };

  it.each([2, 3, 4])(
    'R83: a ledger that was restored and went on to entry %i is forked: nothing is put back or to be removed',
    async (newest) => {
      const place = await threeClaims();
      await goOnFrom(place, newest);
      const before = new Map(place.objects.objects);
      const found = await repairLedger(place.objects, place.cache, 'ours');
      expect(found).toEqual([
        { object: `memory/${nameOf(2)}`, status: 'forked', job: 'job-2', ...none },
        { object: `memory/${nameOf(3)}`, status: 'forked', job: 'job-3', ...none },
      ]);
      expect(place.objects.objects).toEqual(before);
      const { hint, next } = remainingDamage(found) ?? {};
      expect(hint).toContain('Remove none of the entries above');
      expect(hint).not.toMatch(/removes|Run this command|restore an older/);
      expect(hint).toContain('svc au download <job>');
      expect(next).toEqual(['au', 'status', 'job-2']);
      expect(await repaired({ ...place, cache: new MemoryObjects() })).toEqual({});
    },
  );

  it('R83: a newer entry is forked, and not changed, although an older one was put back after it', async () => {
    const place = await threeClaims();
    await goOnFrom(place, 2);
    place.objects.put(nameOf(3), place.cache.text(nameOf(3)));
    expect(await repaired(place)).toEqual({ [nameOf(2)]: 'forked' });
  });

  it('R83: a whole entry in the place of the one that a machine read is forked, even if the next one names the copy', async () => {
    const place = await threeClaims();
    place.objects.put(nameOf(2), place.objects.text(nameOf(2)).replace('job-2', 'job-8'));
    expect(await repairLedger(place.objects, place.cache, 'ours')).toEqual([
      { object: `memory/${nameOf(2)}`, status: 'forked', job: 'job-2', ...none },
    ]);
  });

  it('R83: no entry is put back after one that is not the copy of this machine', async () => {
    const place = await threeClaims();
    const before = new Map(place.objects.objects);
    place.objects.put(nameOf(2), '<html></html>');
    place.objects.objects.delete(nameOf(3));
    expect(await repaired(place)).toEqual({ [nameOf(2)]: 'changed', [nameOf(3)]: 'missing' });
    place.objects.objects.delete(nameOf(2));
    expect(await repaired(place)).toEqual({ [nameOf(2)]: 'put_back', [nameOf(3)]: 'put_back' });
    expect(place.objects.objects).toEqual(before);
  });
});

describe('the entries of which a machine has copies', () => {
  it('the entries of which a machine has copies are compared by one list, and only those that it lacks are read', async () => {
    const place = await threeClaims();
    place.objects.requests = [];
    await requireEntries(place.objects, place.cache, 'ours');
    expect(place.objects.requests).toEqual([LISTED]);
    place.objects.unlisted.add(nameOf(3));
    await requireEntries(place.objects, place.cache, 'ours');
    expect(place.objects.requests).toEqual([LISTED, LISTED, `read ${nameOf(3)}`]);
  });

  it.each([1, 2, 3])(
    'the entries of which a machine has copies are damaged where number %i is missing, cut or another file',
    async (number) => {
      const { objects, cache } = await threeClaims();
      objects.put(nameOf(number), '{"version":1,"prev');
      await expect(requireEntries(objects, cache, 'ours')).rejects.toThrow(`memory/${nameOf(number)}: it is cut`);
      objects.put(nameOf(number), '<html></html>');
      await expect(requireEntries(objects, cache, 'ours')).rejects.toThrow('it is not what svc writes');
      objects.objects.delete(nameOf(number));
      await expect(requireEntries(objects, cache, 'ours')).rejects.toThrow(`memory/${nameOf(number)}: it is missing`);
      cache.put(nameOf(number), '{');
      await requireEntries(objects, cache, 'ours');
    },
  );

  it.each([2, 3, 4])('a ledger that went on to entry %i without a machine is not damaged for good', async (newest) => {
    const place = await threeClaims();
    await goOnFrom(place, newest);
    await expect(requireEntries(place.objects, place.cache, 'ours')).resolves.toBeUndefined();
  });

  it('a cut entry that was abandoned is not damaged for good', async () => {
    const { objects, cache } = await threeClaims();
    objects.put(nameOf(3), '{"version":1,"prev');
    await (await open({ objects, cache: new MemoryObjects() })).cycle('2026-12').abandonCut(3, 'made up');
    await expect(requireEntries(objects, cache, 'ours')).resolves.toBeUndefined();
  });
});

describe('a cut last entry that no machine has', () => {
  it.each(['', '{"version":1,"prev'])(
    'R83: a cut last entry that no machine has (%s) stops the cycle until the operator abandons it, and is part of the ledger then',
    async (text) => {
      const { objects } = await threeClaims();
      const cache = new MemoryObjects();
      const place = { objects, cache };
      objects.put(nameOf(3), text);
      expect(await readBy(objects)).toContain('it is no entry');
      const found = await repairLedger(objects, cache, 'ours');
      expect(found).toMatchObject([{ status: 'cut', sha256: null, abandon: '2026-12/00000003' }]);
      expect(remainingDamage(found)).toMatchObject({ next: ['au', 'abandon', '2026-12/00000003'] });
      const cycle = (await open(place)).cycle('2026-12');
      await cycle.abandonCut(3, 'made up');
      const entries = [...ALL.slice(0, 2), 'claim 2026-12/00000003', 'release 2026-12/00000003'];
      expect(await readBy(objects)).toEqual(entries);
      expect(await repaired(place)).toEqual({});
      const again = (await open(place)).cycle('2026-12');
      await again.append(async () => claimBody('job-4', { row_set: null }));
      expect(await readBy(objects)).toEqual([...entries, 'claim job-4']);
      expect(await repaired(place)).toEqual({});
    },
  );

  it('R83: a cut last entry that was abandoned is known to the machine that has it, which does not send its rows again', async () => {
    const place = await threeClaims();
    const { objects, cache } = place;
    objects.put(nameOf(3), '{"version":1,"prev');
    const other = (await open({ objects, cache: new MemoryObjects() })).cycle('2026-12');
    await other.abandonCut(3, 'made up');
    const found = await repairLedger(objects, cache, 'ours');
    expect(found).toMatchObject([{ status: 'freed', job: 'job-3', freed_by: 'ci@runner-7' }]);
    expect(remainingDamage(found)).toMatchObject({ exitCode: 3, next: ['au', 'status', 'job-3'] });
    for (let time = 4; time < 7; time += 1) {
      const cycle = (await open(place)).cycle('2026-12');
      expect(standingClaims(await cycle.read()).map(({ job }) => job)).toContain('job-3');
      expect(await cycle.append(async () => claimBody(`job-${time}`, { row_set: null }))).toBe(true);
    }
    expect(await readBy(objects)).toContain('claim job-6');
    expect(await repaired(place)).toEqual({ [nameOf(3)]: 'freed' });
  });

  it.each([1, 2, 3])('R83: an entry that is whole or not the last is not abandoned: %i', async (number) => {
    const place = await threeClaims();
    if (number < 3) place.objects.put(nameOf(number), '');
    const cycle = (await open({ ...place, cache: new MemoryObjects() })).cycle('2026-12');
    const before = new Map(place.objects.objects);
    await expect(cycle.abandonCut(number, 'made up')).rejects.toMatchObject({
      code: expect.stringMatching(/config|not_found/),
    });
    expect(place.objects.objects).toEqual(before);
  });

  it('R83: an entry that is cut after another one followed it is damage', async () => {
    const { objects } = await threeClaims();
    objects.put(nameOf(2), '');
    expect(await repaired({ objects, cache: new MemoryObjects() })).toEqual({ [nameOf(2)]: 'cut' });
    expect(await readBy(objects)).toContain('it is no entry');
  });
});

describe('the settings of a ledger', () => {
  it('R83: the settings of a ledger that are gone are not made anew, whether or not a machine has read them', async () => {
    const { objects, cache } = await threeClaims();
    objects.objects.delete('ours/ledger.json');
    for (const copies of [cache, new MemoryObjects()])
      await expect(open({ objects, cache: copies })).rejects.toMatchObject({
        code: 'config',
        next: ['au', 'ledger', 'repair'],
      });
    expect(objects.objects.has('ours/ledger.json')).toBe(false);
  });

  it.each([
    ['no entries', 0, ['au', 'ledger', 'repair', '--whole']],
    ['entries', 1, ['au', 'jobs']],
  ])(
    'R83: a ledger with %s that was begun in place of another one gets none of its entries',
    async (_, claims, next) => {
      const place = await threeClaims();
      const { objects, cache } = place;
      const before = new Map(objects.objects);
      objects.objects.clear();
      const cycle = (await open({ objects, cache: new MemoryObjects() })).cycle('2026-12');
      for (let number = 1; number <= claims; number += 1) await cycle.append(async () => claimBody(`job-${number}`));
      const now = new Map(objects.objects);
      const replaced = {
        code: 'config',
        message: expect.stringContaining('is another one than this machine used'),
        next,
      };
      await expect(open(place)).rejects.toMatchObject(replaced);
      for (const options of [{}, { whole: true }])
        await expect(repairLedger(objects, cache, 'ours', options)).rejects.toMatchObject(replaced);
      expect(objects.objects).toEqual(now);
      if (claims > 0) return;
      objects.objects.delete('ours/ledger.json');
      await repairLedger(objects, cache, 'ours', { whole: true });
      expect(objects.objects).toEqual(before);
    },
  );
});
