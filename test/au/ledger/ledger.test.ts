import { describe, expect, it } from 'vitest';
import type { EntryBody } from '../../../src/au/ledger/entry.ts';
import { Ledger } from '../../../src/au/ledger/ledger.ts';
import { RowSet, saltOf } from '../../../src/au/ledger/row-set.ts';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { FakeClock } from '../../support/clock.ts';
import { type CreateFault, MemoryObjects } from '../../support/memory-objects.ts';
import { claimBody, HASH, WHO } from './entries.ts';

const CYCLE = 'ours/cycles/2026-12';
const SALT = saltOf('ours');
const clock = new FakeClock();

function open(objects: MemoryObjects, host = WHO.host, cache?: MemoryObjects): Promise<Ledger> {
  return Ledger.open(objects, 'ours', { clock, who: { ...WHO, host }, cache });
}

function nameOf(number: number): string {
  return `${CYCLE}/${String(number).padStart(8, '0')}.json`;
}

/** Returns a cycle in which three jobs have claims. */
async function threeClaims(objects = new MemoryObjects()): Promise<MemoryObjects> {
  const ledger = await open(objects);
  for (const job of ['job-1', 'job-2', 'job-3']) {
    await ledger.mark(job, '2026-12');
    await ledger.cycle('2026-12').append(async () => claimBody(job));
  }
  return objects;
}

/** Returns an entry about results that made no tokens. */
function done(job: string): EntryBody {
  return { kind: 'done', job, born: null };
}

async function jobsOf(objects: MemoryObjects, cache?: MemoryObjects): Promise<string[]> {
  const cycle = (await open(objects, 'reader', cache)).cycle('2026-12');
  return (await cycle.read()).map(({ job }) => job);
}

/** Returns the jobs of claims, and of other entries with their kinds. */
async function wordsOf(objects: MemoryObjects): Promise<string[]> {
  const entries = await (await open(objects, 'reader')).cycle('2026-12').read();
  return entries.map(({ job, kind }) => (kind === 'claim' ? job : `${job} ${kind}`));
}

function restoreTo(objects: MemoryObjects, older: ReadonlyMap<string, Uint8Array>): void {
  objects.objects.clear();
  for (const [name, bytes] of older) objects.objects.set(name, bytes);
}

function change(objects: MemoryObjects, number: number, edit: (entry: Record<string, unknown>) => void): void {
  const entry = JSON.parse(objects.text(nameOf(number))) as Record<string, unknown>;
  edit(entry);
  objects.put(nameOf(number), `${JSON.stringify(entry)}\n`);
}

/** Tries to add an entry from another machine. Returns its error, and whether the store is as before. */
async function addLate(objects: MemoryObjects, cache?: MemoryObjects) {
  const before = new Map(objects.objects);
  const cycle = (await open(objects, 'late', cache)).cycle('2026-12');
  const error: unknown = await cycle.append(async () => claimBody('job-9')).catch((reason: unknown) => reason);
  const isSame =
    before.size === objects.objects.size && [...before].every(([name, bytes]) => objects.objects.get(name) === bytes);
  return { error, isSame };
}

/** Restores a ledger to its first two entries, and adds others up to a number from a machine that read nothing before. */
async function restoreAndGoOn(objects: MemoryObjects, newest: number): Promise<void> {
  for (const number of [3, 4]) objects.objects.delete(nameOf(number));
  const cycle = (await open(objects, 'other')).cycle('2026-12');
  for (let number = 3; number <= newest; number += 1) await cycle.append(async () => claimBody(`other-${number}`));
}

/** Returns what `addLate` returns for a damaged ledger. */
function refused(problem: string) {
  const message = expect.stringContaining(problem) as string;
  const facts = { object: expect.stringMatching(/^memory\/ours\/cycles\/2026-12\//) as string };
  return { error: { code: 'config', exitCode: 3, message, facts }, isSame: true };
}

describe('opening a ledger', () => {
  it('all ledgers of a tenant have the same salt, and those of two tenants differ', async () => {
    const objects = new MemoryObjects();
    const [one, other] = await Promise.all([open(objects, 'one'), open(new MemoryObjects(), 'other')]);
    expect(other.salt).toBe(one.salt);
    const elsewhere = await Ledger.open(objects, 'theirs', { clock, who: WHO });
    expect(elsewhere.salt).not.toBe(one.salt);
  });

  it('opening a ledger refuses a store that replaces objects that exist, on the first use by each machine', async () => {
    const objects = new MemoryObjects();
    await open(objects);
    objects.ignoresCondition = true;
    const lying = { code: 'config', message: expect.stringContaining('replaces objects that exist') as string };
    for (const store of [objects, Object.assign(new MemoryObjects(), { ignoresCondition: true })])
      for (let time = 0; time < 2; time += 1) await expect(open(store)).rejects.toMatchObject(lying);
    await expect(Ledger.open(objects, 'ours', { clock, who: WHO, isFirstUse: false })).resolves.toBeDefined();
  });

  it('opening a ledger whose first response was lost ends, and the next command opens it', async () => {
    const objects = new MemoryObjects();
    objects.onCreate = () => 'lost';
    await expect(open(objects)).rejects.toMatchObject({ code: 'network' });
    objects.onCreate = undefined;
    await expect(open(objects)).resolves.toBeDefined();
  });

  it.each([
    ['an empty file', ''],
    ['a page', '<html></html>'],
    ['a short salt', '{"version":1,"keys":1,"salt":"00","created_at":"2026-01-01T00:00:00Z"}'],
    ['keys of another kind', `{"version":1,"keys":2,"salt":"${HASH}","created_at":"2026-01-01T00:00:00Z"}`],
    ['a newer version', `{"version":2,"keys":1,"salt":"${HASH}","created_at":"2026-01-01T00:00:00Z"}`],
    ['too many bytes', ' '.repeat(70_000)],
  ])('R83: opening a ledger refuses %s in place of its settings, and leaves it', async (_, text) => {
    const objects = new MemoryObjects();
    objects.put('ours/ledger.json', text);
    await expect(open(objects)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('ours/ledger.json') as string,
    });
    expect(objects.text('ours/ledger.json')).toBe(text);
  });

  it.each(['', '../up', '.', 'a/b', 'ours ', 'o'.repeat(81)])(
    'opening a ledger never makes a path from the tenant id %j',
    async (tenant) => {
      const objects = new MemoryObjects();
      const ledger = await Ledger.open(objects, tenant, { clock, who: WHO });
      await ledger.mark(tenant, tenant);
      await ledger.cycle(tenant).append(async () => claimBody('job-1'));
      for (const name of objects.objects.keys()) expect(name).toMatch(/^id-[0-9a-f]{16}\/[a-z0-9/.-]+$/);
      expect((await ledger.cycleOfJob(tenant)) === ledger.cycle(tenant)).toBe(true);
    },
  );

  it.each(['2026-12', 'December', 'a..b', 'nul', 'con.1', '-a', 'a-', 'a'.repeat(41), 'é', '../x'])(
    'opening a ledger gives the cycle %j a folder that every system can have',
    async (cycle) => {
      const objects = new MemoryObjects();
      const ledger = await open(objects);
      await ledger.cycle(cycle).append(async () => claimBody('job-1'));
      const [name = ''] = [...objects.objects.keys()].slice(1);
      expect(name).toMatch(/^ours\/cycles\/(?:2026-12|old-[0-9a-f]{16})\/00000001\.json$/);
      expect(name.includes('2026-12')).toBe(cycle === '2026-12');
    },
  );
});

describe('adding to a ledger', () => {
  it('adding to a ledger gives each entry the next number, the hash of the one before, a time and a name', async () => {
    const objects = await threeClaims();
    const names = [...objects.objects.keys()].filter((name) => name.startsWith(CYCLE));
    expect(names).toEqual([1, 2, 3].map(nameOf));
    expect(JSON.parse(objects.text(nameOf(1)))).toMatchObject({ previous: null, by: WHO, job: 'job-1' });
    expect(JSON.parse(objects.text(nameOf(3)))).toMatchObject({
      previous: sha256Of(objects.text(nameOf(2))),
      at: new Date(clock.now()).toISOString(),
    });
  });

  it('adding to a ledger asks with all entries whether the entry is still wanted', async () => {
    const objects = await threeClaims();
    const seen: number[] = [];
    const cycle = (await open(objects)).cycle('2026-12');
    const isAdded = await cycle.append(async (entries) => void seen.push(entries.length));
    expect([isAdded, ...seen]).toEqual([false, 3]);
    expect(objects.objects.has(nameOf(4))).toBe(false);
  });

  it('adding to a ledger asks again after another machine took the number', async () => {
    const objects = await threeClaims();
    const mine = (await open(objects, 'mine')).cycle('2026-12');
    const theirs = (await open(objects, 'theirs')).cycle('2026-12');
    const seen: string[][] = [];
    const isAdded = await mine.append(async (entries) => {
      seen.push(entries.map(({ job }) => job));
      if (seen.length === 1) await theirs.append(async () => claimBody('job-4'));
      return claimBody('job-5');
    });
    expect(isAdded).toBe(true);
    expect(seen).toEqual([
      ['job-1', 'job-2', 'job-3'],
      ['job-1', 'job-2', 'job-3', 'job-4'],
    ]);
    expect(await jobsOf(objects)).toEqual(['job-1', 'job-2', 'job-3', 'job-4', 'job-5']);
  });

  it('adding to a ledger counts an entry whose first response was lost', async () => {
    const objects = await threeClaims();
    const cycle = (await open(objects)).cycle('2026-12');
    objects.onCreate = () => 'repeated';
    expect(await cycle.append(async () => claimBody('job-4'))).toBe(true);
    expect((await cycle.read()).map(({ job }) => job)).toEqual(['job-1', 'job-2', 'job-3', 'job-4']);
    expect(await jobsOf(objects)).toEqual(['job-1', 'job-2', 'job-3', 'job-4']);
  });

  it.each(['lost', 'refused'] as const)(
    'adding to a ledger without a response ends, and the next attempt sees whether the entry stands: %s',
    async (fault: CreateFault) => {
      const objects = await threeClaims();
      const cycle = (await open(objects)).cycle('2026-12');
      const once = (body: EntryBody): Promise<boolean> =>
        cycle.append(async (entries) => (entries.some(({ job }) => job === body.job) ? undefined : body));
      objects.onCreate = () => fault;
      await expect(once(claimBody('job-4'))).rejects.toMatchObject({ code: 'network', exitCode: 8 });
      objects.onCreate = undefined;
      expect(await once(claimBody('job-4'))).toBe(fault === 'refused');
      expect(await jobsOf(objects)).toEqual(['job-1', 'job-2', 'job-3', 'job-4']);
    },
  );

  it('R58: entries that many machines add at once each stand once, in an order that all read', async () => {
    const objects = new MemoryObjects();
    const jobs = Array.from({ length: 8 }, (_, at) => `job-${at}`);
    let creations = 0;
    objects.onCreate = (name) =>
      name.endsWith('.json') && (creations += 1) % 3 === 0 && !objects.objects.has(name) ? 'repeated' : undefined;
    const add = async (job: string): Promise<boolean> =>
      (await open(objects, `host-${job}`)).cycle('2026-12').append(async () => claimBody(job));
    expect(await Promise.all(jobs.map(add))).toEqual(jobs.map(() => true));
    const read = await jobsOf(objects);
    expect(read.toSorted()).toEqual(jobs);
  });

  it('entries that one process adds and reads at once each stand once', async () => {
    const objects = await threeClaims();
    const cycle = (await open(objects)).cycle('2026-12');
    const added = ['job-4', 'job-5', 'job-6'].map((job) => cycle.append(async () => claimBody(job)));
    const read = await Promise.all([cycle.read(), ...added, cycle.read(), cycle.read()]);
    expect(read.slice(1, 4)).toEqual([true, true, true]);
    const jobs = (await cycle.read()).map(({ job }) => job);
    expect(jobs.toSorted()).toEqual(['job-1', 'job-2', 'job-3', 'job-4', 'job-5', 'job-6']);
    expect(await jobsOf(objects)).toEqual(jobs);
  });

  it('an entry that no machine could read is not added', async () => {
    const objects = await threeClaims();
    const cycle = (await open(objects)).cycle('2026-12');
    await expect(cycle.append(async () => claimBody('j'.repeat(2000)))).rejects.toMatchObject({ code: 'config' });
    expect(objects.objects.has(nameOf(4))).toBe(false);
  });
});

describe('a damaged ledger', () => {
  it.each([[1], [2], [3], [1, 2], [2, 3], [1, 2, 3]])(
    'R83: a machine that read the entries puts %j back, byte for byte, before it adds another',
    async (...numbers) => {
      const objects = await threeClaims();
      const cache = new MemoryObjects();
      expect(await jobsOf(objects, cache)).toHaveLength(3);
      const before = new Map(objects.objects);
      for (const number of numbers) objects.objects.delete(nameOf(number));
      expect(await addLate(objects, cache)).toMatchObject({ error: true });
      for (const number of [1, 2, 3]) expect(objects.objects.get(nameOf(number))).toEqual(before.get(nameOf(number)));
      expect(await jobsOf(objects)).toEqual(['job-1', 'job-2', 'job-3', 'job-9']);
    },
  );

  it('R83: a set and a mark are put back before the entry that needs them', async () => {
    const objects = new MemoryObjects();
    const cache = new MemoryObjects();
    const ledger = await open(objects, 'one', cache);
    const cycle = ledger.cycle('2026-12');
    const rows = RowSet.of([1n, 2n], SALT);
    await ledger.mark('job-1', '2026-12');
    await cycle.append(async () => claimBody('job-1', { row_set: rows.name(), rows: 2 }));
    expect(await cycle.createRowSet(rows)).toBe(rows.name());
    const set = `${CYCLE}/rows/${rows.name()}`;
    const before = new Map(objects.objects);
    for (const name of [set, 'ours/jobs/job-1', nameOf(1)]) objects.objects.delete(name);
    objects.put('ours/begun.json', '{}');
    objects.requests = [];
    expect(await addLate(objects, cache)).toMatchObject({ error: true });
    const created = objects.requests.filter((request) => /^create .*(?:cycles|jobs)/.test(request));
    expect([...new Set(created)]).toEqual([
      `create ${set}`,
      'create ours/jobs/job-1',
      `create ${nameOf(1)}`,
      `create ${nameOf(2)}`,
    ]);
    for (const name of [set, 'ours/jobs/job-1', nameOf(1)]) expect(objects.objects.get(name)).toEqual(before.get(name));
  });

  it('R83: nothing is put back in a ledger in which an object differs from what a machine read', async () => {
    for (const text of ['', '{"version":1,"previous":nu', '<html></html>']) {
      const objects = await threeClaims();
      const cache = new MemoryObjects();
      await jobsOf(objects, cache);
      objects.objects.delete(nameOf(1));
      objects.put(nameOf(3), text);
      expect(await addLate(objects, cache)).toMatchObject(refused('it is cut, or is no entry'));
      // Whoever administers the place removes exactly the object that the message names.
      objects.objects.delete(nameOf(3));
      expect(await addLate(objects, cache)).toMatchObject({ error: true });
      expect(await jobsOf(objects)).toEqual(['job-1', 'job-2', 'job-3', 'job-9']);
    }
  });

  it.each([
    ['results', 'a claim', ['job-1', 'other', 'job-1 done', 'job-9']],
    ['a claim and results', 'results', ['job-1', 'job-1 done', 'job-2', 'job-2 done', 'job-9']],
    ['a claim that ended', 'results', ['job-1', 'job-1 done', 'job-2', 'job-2 release', 'job-9']],
    ['results', 'the same results', ['job-1', 'job-1 done', 'job-9']],
  ] as const)(
    'R83: a machine with %s adds them to a ledger that was restored and went on with %s',
    async (own, others, expected) => {
      const objects = new MemoryObjects();
      const cache = new MemoryObjects();
      const cycle = (await open(objects, 'one', cache)).cycle('2026-12');
      await cycle.append(async () => claimBody('job-1'));
      const restored = new Map(objects.objects);
      if (own !== 'results') await cycle.append(async () => claimBody('job-2'));
      if (own === 'a claim that ended')
        await cycle.endClaim({ kind: 'release', job: 'job-2', why: 'gone', proof: 'it is gone' });
      else await cycle.append(async () => done(own === 'results' ? 'job-1' : 'job-2'));
      restoreTo(objects, restored);
      const other = (await open(objects, 'other')).cycle('2026-12');
      await other.append(async () => (others === 'a claim' ? claimBody('other') : done('job-1')));
      expect(await addLate(objects, cache)).toMatchObject({ error: true });
      expect(await wordsOf(objects)).toEqual(expected);
      // From now on, the copies of this machine are those of the place.
      for (const [at] of expected.entries())
        expect(cache.objects.get(nameOf(at + 1))).toEqual(objects.objects.get(nameOf(at + 1)));
      expect(await addLate(objects, cache)).toMatchObject({ error: true });
      expect(await jobsOf(objects)).toHaveLength(expected.length + 1);
    },
  );

  it('R83: a machine does not repeat a release over a claim that stands again, which would free rows that are paid', async () => {
    const objects = new MemoryObjects();
    const cache = new MemoryObjects();
    const release = { kind: 'release', job: 'job-1', why: 'gone', proof: 'it is gone' } as const;
    const cycle = (await open(objects, 'one', cache)).cycle('2026-12');
    await cycle.append(async () => claimBody('job-1'));
    const restored = new Map(objects.objects);
    await cycle.endClaim(release);
    restoreTo(objects, restored);
    const other = (await open(objects, 'other')).cycle('2026-12');
    await other.endClaim(release);
    await other.append(async () => claimBody('job-1'));
    expect(await addLate(objects, cache)).toMatchObject({ error: true });
    expect(await wordsOf(objects)).toEqual(['job-1', 'job-1 release', 'job-1', 'job-9']);
  });

  it('R83: a machine does not repeat a claim that another one repeated and ended, which would keep its rows from being sent', async () => {
    const objects = new MemoryObjects();
    const [cache, others] = [new MemoryObjects(), new MemoryObjects()];
    const cycle = (await open(objects, 'one', cache)).cycle('2026-12');
    await cycle.append(async () => claimBody('job-1'));
    const restored = new Map(objects.objects);
    for (const body of [done('job-1'), claimBody('job-2')]) await cycle.append(async () => body);
    await jobsOf(objects, others);
    restoreTo(objects, restored);
    await (await open(objects, 'third')).cycle('2026-12').append(async () => done('job-1'));
    const other = (await open(objects, 'other', others)).cycle('2026-12');
    await other.endClaim({ kind: 'release', job: 'job-2', why: 'operator', proof: 'the operator freed it' });
    expect(await addLate(objects, cache)).toMatchObject({ error: true });
    expect(await wordsOf(objects)).toEqual(['job-1', 'job-1 done', 'job-2', 'job-2 release', 'job-9']);
  });

  it.each([['the same command'], ['another command']])(
    'R83: what a machine adds to a ledger that was restored and went on is completed by %s after an outage',
    async (which) => {
      const objects = new MemoryObjects();
      const cache = new MemoryObjects();
      const cycle = (await open(objects, 'one', cache)).cycle('2026-12');
      await cycle.append(async () => claimBody('job-1'));
      const restored = new Map(objects.objects);
      for (const body of [claimBody('job-2'), done('job-2')]) await cycle.append(async () => body);
      restoreTo(objects, restored);
      await (await open(objects, 'other')).cycle('2026-12').append(async () => done('job-1'));
      const before = (await open(objects, 'one', cache)).cycle('2026-12');
      objects.onCreate = (name) => (name === nameOf(4) ? 'refused' : undefined);
      await expect(before.append(async () => claimBody('job-9'))).rejects.toMatchObject({ code: 'network' });
      objects.onCreate = undefined;
      const after = which === 'the same command' ? before : (await open(objects, 'one', cache)).cycle('2026-12');
      await after.append(async (entries) => {
        expect(entries.map(({ job }) => job)).toContain('job-2');
        return claimBody('job-9');
      });
      expect(await jobsOf(objects)).toEqual(['job-1', 'job-1', 'job-2', 'job-2', 'job-9']);
      expect(await jobsOf(objects, cache)).toEqual(await jobsOf(objects));
    },
  );

  it.each([3, 4, 5])(
    'R83: a ledger that was restored to 2 entries and went on to %i takes no other from a machine that read 4',
    async (newest) => {
      const objects = await threeClaims();
      await (await open(objects)).cycle('2026-12').append(async () => claimBody('job-4'));
      const cache = new MemoryObjects();
      const before = (await open(objects, 'late', cache)).cycle('2026-12');
      expect(await before.read()).toHaveLength(4);
      await restoreAndGoOn(objects, newest);
      const problem = 'is not the one that this machine read';
      expect(await addLate(objects, cache)).toMatchObject(refused(problem));
      // A process that read the entries itself compares them as well, as there are no copies of the ledger of one machine.
      const error: unknown = await before.append(async () => claimBody('job-9')).catch((reason: unknown) => reason);
      expect(error).toMatchObject(refused(problem).error);
      expect(objects.text(nameOf(newest))).toContain(`other-${newest}`);
    },
  );

  it('a command opens each entry of a cycle before its first addition, and the newest one before the others', async () => {
    const objects = await threeClaims();
    const cache = new MemoryObjects();
    await jobsOf(objects, cache);
    const cycle = (await open(objects, 'again', cache)).cycle('2026-12');
    const requests = async (): Promise<string[]> => {
      objects.requests = [];
      expect(await cycle.append(async () => undefined)).toBe(false);
      return objects.requests.filter((request) => request !== `read ${nameOf(4)}` && !request.includes('/rows/'));
    };
    const all = [1, 2, 3].map((number) => `read ${nameOf(number)}`);
    expect(await requests()).toEqual([`list ${CYCLE}/`, ...all, 'list ours/jobs/']);
    expect(await requests()).toEqual([`read ${nameOf(3)}`]);
  });

  it.each<readonly [string, (objects: MemoryObjects) => void]>([
    ['the wrong hash of the one before', (objects) => change(objects, 2, (entry) => (entry['previous'] = HASH))],
    ['no hash of the one before', (objects) => change(objects, 3, (entry) => (entry['previous'] = null))],
    ['another job than it had', (objects) => change(objects, 1, (entry) => (entry['job'] = 'job-8'))],
    [
      'the place of another',
      (objects) => {
        const [second, third] = [objects.text(nameOf(2)), objects.text(nameOf(3))];
        objects.put(nameOf(2), third);
        objects.put(nameOf(3), second);
      },
    ],
  ])('R83: with an entry that has %s, a ledger takes no other', async (_, damage) => {
    const objects = await threeClaims();
    damage(objects);
    expect(await addLate(objects)).toMatchObject(refused('it does not follow the entry before it'));
  });

  it('a list that does not show the newest entries yet is no damage', async () => {
    const objects = await threeClaims();
    for (const number of [2, 3]) objects.unlisted.add(nameOf(number));
    const cycle = (await open(objects)).cycle('2026-12');
    expect(await cycle.append(async () => claimBody('job-4'))).toBe(true);
  });

  it('objects of other names beside the entries are ignored', async () => {
    const objects = await threeClaims();
    for (const name of ['README', '00000009.json.bak', '9.json', 'rows/00000009.json'])
      objects.put(`${CYCLE}/${name}`, 'x');
    const cycle = (await open(objects)).cycle('2026-12');
    expect(await cycle.append(async () => claimBody('job-4'))).toBe(true);
  });
});

describe('the sets of a ledger', () => {
  const rows = RowSet.of([1n, 2n, 3n], SALT);
  const place = `${CYCLE}/rows/${rows.name()}`;

  it('a set is created once, and read by its name', async () => {
    const objects = new MemoryObjects();
    for (const host of ['one', 'other'])
      expect(await (await open(objects, host)).cycle('2026-12').createRowSet(rows)).toBe(rows.name());
    expect(Buffer.from(objects.objects.get(place) ?? [])).toEqual(rows.bytes());
    expect(await (await open(objects)).cycle('2026-12').rowSet(rows.name(), { keys: 2 })).toEqual(rows);
  });
});

describe('the copies of a ledger on a machine', () => {
  it('a read without news takes one request, and a new entry one more', async () => {
    const objects = await threeClaims();
    const cache = new MemoryObjects();
    await jobsOf(objects, cache);
    const cycle = (await open(objects, 'again', cache)).cycle('2026-12');
    objects.requests = [];
    expect(await cycle.read()).toHaveLength(3);
    expect(objects.requests).toEqual([`read ${nameOf(4)}`]);
    await (await open(objects)).cycle('2026-12').append(async () => claimBody('job-4'));
    objects.requests = [];
    expect(await cycle.read()).toHaveLength(4);
    expect(objects.requests).toEqual([`read ${nameOf(4)}`, `read ${nameOf(5)}`]);
  });

  it('a machine reads neither its own entries nor its own sets again', async () => {
    const [objects, cache] = [new MemoryObjects(), new MemoryObjects()];
    const rows = RowSet.of([1n], SALT);
    const cycle = (await open(objects, 'one', cache)).cycle('2026-12');
    const name = await cycle.createRowSet(rows);
    await cycle.append(async () => claimBody('job-1', { row_set: name }));
    const again = (await open(objects, 'one', cache)).cycle('2026-12');
    objects.requests = [];
    expect(await again.read()).toHaveLength(1);
    expect(await again.rowSet(name, { keys: 2 })).toEqual(rows);
    expect(objects.requests).toEqual([`read ${nameOf(2)}`]);
  });

  it('a damaged copy is read from the store', async () => {
    const objects = await threeClaims();
    const rows = RowSet.of([1n], SALT);
    await (await open(objects)).cycle('2026-12').createRowSet(rows);
    const place = `${CYCLE}/rows/${rows.name()}`;
    for (const damage of ['', 'x', ' '.repeat(70_000), objects.text(nameOf(3))]) {
      const cache = new MemoryObjects();
      await jobsOf(objects, cache);
      cache.put(nameOf(2), damage);
      cache.put(place, damage);
      expect(await jobsOf(objects, cache)).toEqual(['job-1', 'job-2', 'job-3']);
      expect(await (await open(objects, 'one', cache)).cycle('2026-12').rowSet(rows.name(), { keys: 2 })).toEqual(rows);
    }
  });

  it('a machine whose copies cannot be written reads the store', async () => {
    const objects = await threeClaims();
    const cache = new MemoryObjects();
    cache.onCreate = () => 'refused';
    const cycle = (await open(objects, 'one', cache)).cycle('2026-12');
    expect(await cycle.append(async () => claimBody('job-4'))).toBe(true);
    expect(await jobsOf(objects, cache)).toHaveLength(4);
  });
});

describe('the time since which a ledger has all jobs', () => {
  it('a ledger has all jobs since the time of the job with which it began, whatever the clock of its machine says', async () => {
    const ledger = await open(new MemoryObjects());
    await ledger.begin('2026-12-01T05:00:00Z');
    expect(await ledger.since()).toBe(Date.UTC(2026, 11, 1, 5));
  });

  it('a ledger that does not say since when it has all jobs has them since its earliest claim', async () => {
    const objects = new MemoryObjects();
    const ledger = await open(objects);
    objects.put('ours/begun.json', '{"version":1,"begun_at":"2027-06-01T00:00:00.000Z"}');
    expect(await ledger.since()).toBeUndefined();
    const claimed = [
      { cycle: '2026-12', created_at: '2026-12-02T05:00:00Z' },
      { cycle: 'file-1', created_at: '2026-11-30T05:00:00Z' },
    ];
    for (const { cycle, created_at } of claimed)
      await ledger.cycle(cycle).append(async () => claimBody(`job-${cycle}`, { created_at }));
    expect(await ledger.since()).toBe(Date.UTC(2026, 10, 30, 5));
  });

  it('a ledger knows results of a job since the time at which the job was created', async () => {
    const objects = await threeClaims();
    const created = Date.parse('2026-12-01T05:00:00Z');
    expect(await (await open(objects)).hasResultsSince(created)).toBe(false);
    const ledger = await open(objects);
    await ledger.cycle('2026-12').append(async () => done('job-2'));
    expect([await ledger.hasResultsSince(created), await ledger.hasResultsSince(created + 1)]).toEqual([true, false]);
  });
});

describe('the marks of jobs', () => {
  it('a job that was marked is known to all machines, with its cycle', async () => {
    const objects = new MemoryObjects();
    const ledger = await open(objects, 'one');
    for (let time = 0; time < 2; time += 1) expect(await ledger.mark('job-1', '2026-12')).toBe(true);
    const other = await open(objects, 'other');
    expect([await other.isMarked('job-1'), await other.isMarked('job-2')]).toEqual([true, false]);
    expect((await other.cycleOfJob('job-1')) === other.cycle('2026-12')).toBe(true);
    expect(await other.cycleOfJob('job-2')).toBeUndefined();
  });

  it('a job that is marked for another cycle, or as one of another system, is not marked again', async () => {
    const ledger = await open(new MemoryObjects());
    await ledger.mark('job-1', '2026-12');
    await ledger.ignore('job-2');
    expect([await ledger.mark('job-1', '2027-01'), await ledger.mark('job-2', '2026-12')]).toEqual([false, false]);
    expect((await ledger.cycleOfJob('job-1')) === ledger.cycle('2026-12')).toBe(true);
  });
});
