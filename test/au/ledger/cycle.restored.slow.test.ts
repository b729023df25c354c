import { expect, it } from 'vitest';
import { hasClaim, hasStandingClaim } from '../../../src/au/ledger/claims.ts';
import type { Entry } from '../../../src/au/ledger/entry.ts';
import type { LedgerCycle } from '../../../src/au/ledger/cycle.ts';
import { Ledger } from '../../../src/au/ledger/ledger.ts';
import { isSvcError } from '../../../src/base/errors.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { Chance } from '../../support/chance.ts';
import { FakeClock } from '../../support/clock.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { claimBody, WHO } from './entries.ts';

// Machines with copies share a ledger that is restored to older times, and their additions are cut at any request. As svc does,
// a machine claims rows only while it knows each job that was paid for, and what it once knew it knows whenever it claims.
// SEED runs one history.

const HISTORIES = IS_SOAK ? 20_000 : 60;
const HOSTS = ['one', 'two', 'three'];
const { SEED } = process.env;

/** Counts the claims of a job. */
function claimsOf(entries: readonly Entry[], of: string): number {
  return entries.filter(({ kind, job }) => kind === 'claim' && job === of).length;
}

/** Lives through a history. Returns what happened, and an error if a machine cannot go on or a claim is lost. */
async function live(seed: number): Promise<{ readonly story: readonly string[]; readonly problem?: string }> {
  const chance = new Chance(seed);
  const clock = new FakeClock();
  const objects = new MemoryObjects();
  const copies = new Map(HOSTS.map((host) => [host, new MemoryObjects()]));
  const older: ReadonlyMap<string, Uint8Array>[] = [];
  const paid: string[] = [];
  let created = 0;
  const story: string[] = [];
  const cycleOn = async (host: string) => {
    const ledger = await Ledger.open(objects, 'ours', { clock, who: { ...WHO, host }, cache: copies.get(host) });
    return ledger.cycle('2026-12');
  };
  const known = new Map(HOSTS.map((host) => [host, new Set<string>()]));
  /** Notes what a machine knows before it adds an entry. */
  const look = (host: string, entries: readonly Entry[]): void => {
    const before = known.get(host) ?? new Set();
    const forgotten = Array.from(before).filter((job) => !hasClaim(entries, job));
    if (forgotten.length > 0) throw new Error(`it does not know ${forgotten.join(', ')} any more`);
    for (const entry of entries) if (entry.kind === 'claim') before.add(entry.job);
  };
  /** How often each job was claimed, and how many of its claims the machine saw that released it. */
  const claimed = new Map<string, number>();
  const released = new Map<string, number>();
  const knowsAll = (entries: readonly Entry[]): boolean =>
    paid.every((job) => hasClaim(entries, job)) &&
    [...claimed].every(([job, times]) => claimsOf(entries, job) >= times);
  /** Claims a released job again, as where it turns out to have the file. */
  const claimAgain = async (host: string, cycle: LedgerCycle): Promise<void> => {
    let again = '';
    const isMade = await cycle.append(async (entries) => {
      look(host, entries);
      const free = entries.filter(({ kind, job }) => kind === 'claim' && !hasStandingClaim(entries, job));
      if (free.length === 0 || !knowsAll(entries)) return undefined;
      ({ job: again } = chance.oneOf(free));
      claimed.set(again, Math.max(claimed.get(again) ?? 0, claimsOf(entries, again)));
      return claimBody(again);
    });
    if (isMade) claimed.set(again, (claimed.get(again) ?? 0) + 1);
    story.push(`${host} ${isMade ? `claims ${again} again` : 'has nothing to claim again'}`);
  };
  const act = async (host: string, cycle: LedgerCycle): Promise<void> => {
    if (chance.happens(0.15)) return claimAgain(host, cycle);
    const job = `job-${(created += 1)}`;
    if (chance.happens(0.5)) {
      const isMade = await cycle.append(async (entries) => {
        look(host, entries);
        return knowsAll(entries) ? claimBody(job) : undefined;
      });
      if (isMade) paid.push(job);
      story.push(`${host} ${isMade ? 'claims' : 'is not to claim'} ${job}`);
      return;
    }
    const claims = (await cycle.read()).filter(({ kind }) => kind === 'claim');
    if (claims.length === 0) return;
    const { job: of } = chance.oneOf(claims);
    const end = chance.happens(0.8)
      ? ({ kind: 'done', job: of, born: null } as const)
      : ({ kind: 'release', job: of, why: 'operator', proof: 'the operator freed it' } as const);
    // What is cut may stand.
    if (end.kind === 'release') released.set(of, Math.max(released.get(of) ?? 0, claimsOf(await cycle.read(), of)));
    await cycle.endClaim(end);
    if (end.kind === 'release') released.set(of, Math.max(released.get(of) ?? 0, claimsOf(await cycle.read(), of)));
    story.push(`${host} adds ${end.kind} of ${of}`);
  };
  for (let step = chance.between(5, 25); step > 0; step -= 1) {
    // A ledger of which nothing is left is another matter: svc then says that it is not there.
    if (paid.length > 0) older.push(new Map(objects.objects));
    const host = chance.oneOf(HOSTS);
    const cycle = await cycleOn(host);
    let creations = chance.happens(0.3) ? chance.between(1, 4) : Infinity;
    const fault = chance.oneOf(['refused', 'lost'] as const);
    objects.onCreate = () => ((creations -= 1) === 0 ? fault : undefined);
    try {
      await act(host, cycle);
    } catch (error) {
      if (!isSvcError(error, 'network')) return { story, problem: `${host}: ${String(error)}` };
      story.push(`${host} is cut: ${fault}`);
      objects.onCreate = undefined;
      // Its next command goes on with a job whose claim stands, although no response said so.
      const stored = await (await cycleOn(host)).read();
      if (hasClaim(stored, `job-${created}`) && !paid.includes(`job-${created}`)) paid.push(`job-${created}`);
      for (const job of paid)
        if (claimsOf(stored, job) > 1) claimed.set(job, Math.max(claimed.get(job) ?? 0, claimsOf(stored, job)));
      // Or the same command tries once more.
      if (chance.happens(0.5))
        await cycle.append(async (entries) => {
          look(host, entries);
          return undefined;
        });
    }
    objects.onCreate = undefined;
    if (older.length === 0 || !chance.happens(0.3)) continue;
    const back = chance.oneOf(older.slice(-6));
    objects.objects.clear();
    for (const [name, bytes] of back) objects.objects.set(name, bytes);
    story.push('the ledger is restored to an older time');
  }
  try {
    for (let round = 0; round < 2; round += 1) for (const host of HOSTS) await (await cycleOn(host)).heal();
    const entries = await (await cycleOn('reader')).read();
    const lost = paid.filter((job) => !hasClaim(entries, job));
    // Rows that only an older release names would be paid for again.
    const freed = [...claimed].flatMap(([job, times]) =>
      times > (released.get(job) ?? 0) && !hasStandingClaim(entries, job) ? job : [],
    );
    if (freed.length > 0) return { story, problem: `freed: ${freed.join(', ')}` };
    return lost.length === 0 ? { story } : { story, problem: `lost: ${lost.join(', ')}` };
  } catch (error) {
    return { story, problem: String(error) };
  }
}

it(`R83: machines go on in a ledger that was restored, and lose no claim, in ${HISTORIES} histories`, async () => {
  const seeds = SEED === undefined ? Array.from({ length: HISTORIES }, (_, at) => at + 1) : [Number(SEED)];
  for (const seed of seeds) {
    const { story, problem } = await live(seed);
    expect(problem, [`seed ${seed}`, ...story].join('\n')).toBeUndefined();
  }
});
