import { isUpdated, successor, type World } from './world.ts';
import {
  type Claim,
  type Ending,
  type Entry,
  HOUR,
  JobList,
  KEPT,
  type Machine,
  type NewJob,
  type Order,
  type Response,
  type Row,
  type Sent,
  type Status,
  type Step,
  type Steps,
} from './types.ts';

// The protocol of the ledger, without files, tokens or HTTP: what is read and written in which order before a row is
// sent, and what ends a claim. Where `world.has` is called, a mistake can be planted.

/** The number of rows that fit into a part. */
const PART_ROWS = 3;

/** How long after the end of an address bytes may still be under way. */
const GRACE = 15;

/**
 * One command: sends what no standing claim of the cycle has, and tells what is known of the rest. Codes: 0 every row
 * has a job with its file (with `wait`: results), 3 the ledger forbids it, 8 no response, 9 unknown, 10 a job failed,
 * 11 pending.
 */
export function* command(world: World, machine: Machine, order: Order): Steps<Ending> {
  const work = new Command(world, machine, order);
  try {
    yield* work.open();
    yield* work.settle();
    yield* work.sendRest();
    yield* work.lookAtOthers();
  } catch (error) {
    if (error instanceof Forbidden) return { code: 3, seen: work.seen };
    if (!(error instanceof Unreachable)) throw error;
    return { code: worse(work.code(), 8), seen: work.seen };
  }
  return { code: work.code(), seen: work.seen };
}

/** The service or the store gave no usable response. */
class Unreachable extends Error {}

/** This machine may not write the ledger, or the ledger moved. */
class Forbidden extends Error {}

type Code = Ending['code'];

/** Exit codes, the worst last. */
const CODES: readonly Code[] = [0, 11, 8, 9, 10, 3];
const worse = (a: Code, b: Code): Code => (CODES.indexOf(a) > CODES.indexOf(b) ? a : b);

const shares = (a: readonly Row[], b: readonly Row[]): boolean => a.some((row) => b.includes(row));
const minus = (a: readonly Row[], b: readonly Row[]): Row[] => a.filter((row) => !b.includes(row));

class Command {
  readonly seen = new Map<string, Response>();
  readonly #wanted: readonly Row[];
  /** Rows whose job failed: the next command sends them, so that each failure shows. */
  readonly #failed: Row[] = [];
  /** Jobs whose claims ended, and that this command read to find out whether they have their files after all. */
  readonly #lookedBack = new Set<string>();
  #spare: NewJob | undefined;
  #place = '';
  readonly world: World;
  readonly machine: Machine;
  readonly order: Order;

  constructor(world: World, machine: Machine, order: Order) {
    this.world = world;
    this.machine = machine;
    this.order = order;
    this.#wanted = world.has('repeated rows') ? order.rows : [...new Set(order.rows)];
  }

  /** Finds the ledger. A directory that used the shared one never uses a local one again. */
  *open(): Steps<void> {
    const { machine } = this;
    const { disk, name } = machine.directory;
    const local = `local-${name}`;
    if (machine.ledger === 'local' && disk.at === 'shared') throw new Forbidden();
    if (machine.ledger === 'shared' && disk.at === undefined) yield* move(this.world, machine, local);
    this.#place = machine.ledger === 'shared' ? 'shared' : local;
  }

  /** Looks at the job of each standing claim that has rows of the file. */
  *settle(): Steps<void> {
    for (const claim of this.#standing(yield* this.#read())) {
      if (!shares(claim.rows, this.#wanted)) continue;
      const status = yield* this.#look(claim);
      if (status === 'failed') {
        this.#failed.push(...claim.rows);
        yield* this.#end(claim, 'failed');
      } else if (status === 'pending') yield* this.#goOn(claim);
      else if (status === 'missing') yield* this.#doubt(claim);
      else if (status === 'completed' && this.order.wait) yield* this.#deliver(claim);
    }
  }

  /** Sends the rows that no standing claim has, a part at a time. */
  *sendRest(): Steps<void> {
    for (;;) {
      const free = minus(this.#wanted, [...this.#taken(yield* this.#read()), ...this.#failed]);
      const part = this.world.withTokensOnce(free).slice(0, PART_ROWS);
      if (part.length === 0) return;
      if (yield* this.#claimAgain(part)) continue;
      const job: NewJob = this.#spare ?? (yield* createJob());
      this.#spare = undefined;
      if (this.world.has('upload first')) {
        yield* this.#put(job.id, part);
        this.seen.set(job.id, 'stored');
      }
      // Another process of this machine must not take the claim for one whose process died.
      this.machine.directory.locks.set(job.id, this.machine);
      yield* this.#record(job.id, 'none');
      const rows = yield* this.#claim(job, part);
      if (rows === undefined) this.#spare = job;
      else if (!this.world.has('upload first')) yield* this.#upload(job.id, rows);
    }
  }

  /** Reads once the jobs of claims that others made meanwhile, so that only a missing response ends with 8. */
  *lookAtOthers(): Steps<void> {
    if (this.world.has('no last look')) return;
    for (;;) {
      const claims = this.#standing(yield* this.#read());
      const claim = claims.find(({ job, rows }) => !this.seen.has(job) && shares(rows, this.#wanted));
      if (claim === undefined) return;
      const status = yield* this.#look(claim);
      if (status === 'completed' && this.order.wait) yield* this.#deliver(claim);
    }
  }

  /** Returns the exit code. Only what this command read counts. */
  code(): Code {
    const entries = this.#known();
    const claims = this.#standing(entries);
    const born = new Set(entries.flatMap((entry) => (entry.kind === 'done' ? entry.born : [])));
    let code: Code = 0;
    for (const row of this.#wanted) {
      if (born.has(row)) continue;
      const claim = claims.find(({ rows }) => rows.includes(row));
      code = worse(code, claim === undefined ? this.#codeWithoutClaim(entries, row) : this.#codeOf(claim));
    }
    return code;
  }

  #codeWithoutClaim(entries: readonly Entry[], row: Row): Code {
    if (this.#failed.includes(row)) return 10;
    // Somebody ended a claim since this command looked. The next command sends the row.
    const last = entries.findLast((entry) => entry.kind === 'release' && entry.rows.includes(row));
    if (last?.kind !== 'release') return 8;
    return last.why === 'failed' ? 10 : 9;
  }

  #codeOf(claim: Claim): Code {
    if (this.world.has('green early')) return 0;
    const status = this.seen.get(claim.job);
    if (status === undefined) return 8;
    if (status === 'failed') return 10;
    if (status === 'missing') return 9;
    if (status === 'pending') return 11;
    return this.order.wait && status !== 'completed' ? 11 : 0;
  }

  *#look(claim: Claim): Steps<Status | 'missing'> {
    const status = isDone(this.#known(), claim) ? 'completed' : yield* readJob(claim.job);
    this.seen.set(claim.job, status);
    return status;
  }

  /** Enters the new tokens of results before anybody can use them. */
  *#deliver(claim: Claim): Steps<void> {
    const { world, order, machine } = this;
    if (world.has('new tokens late')) world.deliver(order.cycle, claim);
    const isKnown = isDone(this.#known(), claim);
    if (!machine.mayWrite && !isKnown && world.has('reader delivers')) return world.deliver(order.cycle, claim);
    if (!isKnown) yield* this.#end(claim);
    yield* this.#requireNotMoved();
    world.deliver(order.cycle, claim);
    return undefined;
  }

  /**
   * Uploads to a job that this directory claimed and whose last bytes never left. A ledger that moved can bring a second
   * claim of the same rows: neither job gets its file then, so that both claims end and the rows are claimed once more.
   */
  *#goOn(claim: Claim): Steps<void> {
    const { disk } = this.machine.directory;
    // The record is read under the lock that #upload takes before its first step.
    if (this.#isLockedByOther(claim.job)) return;
    const others = this.#standing(this.#known()).filter(({ job }) => job !== claim.job);
    if (others.some(({ rows }) => shares(rows, claim.rows)) && !this.world.has('both claims')) return;
    const sent = disk.parts[claim.job];
    if (sent === 'none' || sent === 'some' || this.world.has('take over')) yield* this.#upload(claim.job, claim.rows);
  }

  /**
   * Claims rows again for a job of this directory whose claim ended, and which turns out to have its file: the operator may
   * have freed its rows while the service did not show it. Returns whether a job has some of the rows.
   */
  *#claimAgain(part: readonly Row[]): Steps<boolean> {
    const { world, machine } = this;
    const entries = this.#known();
    for (const claim of entries.filter((entry) => entry.kind === 'claim')) {
      const { job, rows } = claim;
      const isOwn = machine.directory.disk.parts[job] !== undefined;
      if (!isOwn || this.#lookedBack.has(job) || !shares(rows, part) || hasFailed(entries, job)) continue;
      this.#lookedBack.add(job);
      const status = yield* readJob(job);
      if (status !== 'processing' && status !== 'completed') continue;
      this.seen.set(job, status);
      // The job has its file, so that no list can prove the opposite later.
      const id = `again ${job} ${machine.name} ${world.random.next()}`;
      const again = { ...claim, id, expires: Infinity };
      yield* this.#append((now) => (this.#stands(now, job) && !world.has('claims twice') ? undefined : again));
      yield* this.#requireNotMoved();
      world.count('claims made again');
      return true;
    }
    return false;
  }

  *#doubt(claim: Claim): Steps<void> {
    if (this.world.has('a 404 frees')) {
      if (this.world.now > claim.expires) yield* this.#end(claim, 'gone');
      return;
    }
    if (this.#isKnownWithoutFile(claim.job)) return yield* this.#letGo(claim);
    this.#spare ??= yield* createJob();
    if (yield* provesGone(this.world, claim, this.#spare)) yield* this.#end(claim, 'gone');
  }

  /**
   * Tells whether the record of a machine proves that its job never got the last bytes of a file. Where machines share a
   * ledger, it proves nothing.
   */
  #isKnownWithoutFile(job: string): boolean {
    const sent = this.machine.directory.disk.parts[job];
    const isCertain = sent === 'none' || sent === 'some' || sent === 'gone';
    return this.#place !== 'shared' && isCertain && !this.#isLockedByOther(job);
  }

  /**
   * Ends the claim of a job without its file. The record lets go of the job first, so that another process of the machine
   * does not go on with it.
   */
  *#letGo(claim: Claim): Steps<void> {
    const { locks } = this.machine.directory;
    if (this.world.has('goes on')) return yield* this.#end(claim, 'gone');
    locks.set(claim.job, this.machine);
    yield* this.#record(claim.job, 'gone');
    yield* this.#end(claim, 'gone');
    locks.delete(claim.job);
  }

  /** Ends a claim, once: a release if its rows are free again, else `done` with the new tokens of its job. */
  *#end(claim: Claim, why?: 'failed' | 'gone'): Steps<void> {
    const { world, machine } = this;
    const id = `${why ?? 'done'} ${claim.job} ${machine.name} ${world.random.next()}`;
    const entry: EntryBody = why
      ? { id, kind: 'release', job: claim.job, rows: claim.rows, why }
      : { id, kind: 'done', job: claim.job, rows: claim.rows, born: claim.rows.filter(isUpdated).map(successor) };
    yield* this.#append((entries) => {
      // Results may still be read after a release.
      const isWanted = !isDone(entries, claim) && (why === undefined || this.#stands(entries, claim.job));
      return isWanted || world.has('free rows') ? entry : undefined;
    });
  }

  /** Binds rows to a job, without those that were claimed meanwhile. Returns the rows, or undefined if none is left. */
  *#claim(job: NewJob, part: readonly Row[]): Steps<readonly Row[] | undefined> {
    const { world, machine } = this;
    let rows: readonly Row[] = part;
    const n = yield* this.#append((entries) => {
      rows = minus(part, this.#taken(entries));
      if (rows.length === 0) return undefined;
      return {
        id: job.id,
        kind: 'claim',
        job: job.id,
        created: job.created,
        expires: job.expires,
        rows,
        at: world.now + machine.clock,
      };
    });
    if (n === undefined) return undefined;
    world.note(`${machine.name} claims ${n} of ${this.order.cycle}: ${rows.join(',')} for ${job.id}`);
    this.seen.set(job.id, 'pending');
    // What stands there decides: an earlier attempt with other rows may have won.
    const made = this.#known()[n - 1];
    return made?.kind === 'claim' ? made.rows : rows;
  }

  /**
   * Makes sure that a local ledger did not move, before bytes leave or results are delivered on the strength of one of its
   * entries. Whoever moves a ledger marks it first and then copies its entries, so that an entry without a mark is copied.
   */
  *#requireNotMoved(): Steps<void> {
    if (this.#place === 'shared' || this.world.has('mark unseen')) return;
    if ((yield* getEntry(`${this.#place}/moved`)) !== 'missing') throw new Forbidden();
  }

  /** Sends the bytes of a claim, and records before each step how much may have arrived. */
  *#upload(job: string, rows: readonly Row[]): Steps<void> {
    const { locks } = this.machine.directory;
    locks.set(job, this.machine);
    yield* this.#requireNotMoved();
    yield* this.#record(job, 'some');
    const response = yield* this.#put(job, rows);
    if (response === 'stored') {
      this.seen.set(job, 'stored');
      yield* this.#record(job, 'stored');
    } else if (response === 'refused' || (response === 'server error' && this.world.has('error is refusal'))) {
      yield* this.#record(job, 'some');
    } else this.seen.set(job, yield* readJob(job));
    locks.delete(job);
  }

  #isLockedByOther(job: string): boolean {
    const holder = this.machine.directory.locks.get(job);
    return holder !== undefined && holder !== this.machine;
  }

  *#put(job: string, rows: readonly Row[]): Steps<Response> {
    const { world } = this;
    const began = world.now;
    yield { what: 'sleep', minutes: world.random.between(0, world.random.happens(0.1) ? 89 : 2) };
    yield* this.#record(job, 'all');
    return yield { what: 'put', job, rows, began };
  }

  *#record(job: string, sent: Sent): Steps<void> {
    const { disk } = this.machine.directory;
    yield { what: 'disk', act: () => (disk.parts[job] = sent) };
  }

  #read(): Steps<readonly Entry[]> {
    return readEntries(this.machine, this.#place, this.order.cycle);
  }

  #append(wanted: (entries: readonly Entry[]) => EntryBody | undefined): Steps<number | undefined> {
    return append(this.world, this.machine, this.#place, this.order.cycle, wanted);
  }

  #known(): readonly Entry[] {
    return this.machine.directory.disk.entries[`${this.#place}/${this.order.cycle}`] ?? [];
  }

  /** Returns the claims that stand: those that no later release ends. */
  #standing(entries: readonly Entry[]): Claim[] {
    return standing(this.world, this.machine, entries);
  }

  #stands(entries: readonly Entry[], job: string): boolean {
    return this.#standing(entries).some((claim) => claim.job === job);
  }

  /** Returns the rows that are not sent: those of standing claims, and the new tokens that the cycle made. */
  #taken(entries: readonly Entry[]): Row[] {
    const born = entries.flatMap((entry) => (entry.kind === 'done' ? entry.born : []));
    return [...this.#standing(entries).flatMap(({ rows }) => rows), ...born];
  }
}

function standing(world: World, machine: Machine, entries: readonly Entry[]): Claim[] {
  const claims = entries.filter((entry) => entry.kind === 'claim');
  const releases = entries.filter((entry) => entry.kind === 'release');
  if (world.has('free rows')) {
    const left = (claim: Claim): Row[] =>
      claim.rows.filter((row) => !releases.some(({ n, rows }) => n > claim.n && rows.includes(row)));
    return claims.map((claim) => ({ ...claim, rows: left(claim) })).filter(({ rows }) => rows.length > 0);
  }
  return claims.filter((claim) => {
    if (world.has('lease') && world.now + machine.clock > claim.at + 2 * HOUR && !isDone(entries, claim)) return false;
    return !releases.some(({ job, n }) => job === claim.job && (n > claim.n || world.has('release is final')));
  });
}

/** Tells whether some machine saw that the job of a claim is completed. */
const isDone = (entries: readonly Entry[], claim: Claim): boolean =>
  entries.some((entry) => entry.kind === 'done' && entry.job === claim.job);

/** Tells whether some machine saw that a job failed. */
const hasFailed = (entries: readonly Entry[], job: string): boolean =>
  entries.some((entry) => entry.kind === 'release' && entry.why === 'failed' && entry.job === job);

type WithoutNumber<E> = E extends Entry ? Omit<E, 'n'> : never;
type EntryBody = WithoutNumber<Entry>;

/** Sends a request that may be repeated, a few times. */
function* insist(step: Step, isFinal = (response: Response) => isAnswer(response)): Steps<Response> {
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const response = yield step;
    if (response === 'forbidden') throw new Forbidden();
    if (isFinal(response)) return response;
  }
  throw new Unreachable(step.what);
}

const isAnswer = (response: Response): boolean => response !== 'lost' && response !== 'server error';

function* readJob(job: string): Steps<Status | 'missing'> {
  return (yield* insist({ what: 'read', job })) as Status | 'missing';
}

function* getEntry(name: string, isFinal?: (response: Response) => boolean): Steps<Entry | 'missing'> {
  return (yield* insist({ what: 'get', name }, isFinal)) as Entry | 'missing';
}

/** Reads the entries of a cycle, by number, to the first that does not exist. Known entries are not read again. */
function* readEntries(machine: Machine, place: string, cycle: string): Steps<readonly Entry[]> {
  const known = (machine.directory.disk.entries[`${place}/${cycle}`] ??= []);
  for (;;) {
    const n = known.length + 1;
    const entry = yield* getEntry(`${place}/${cycle}/${n}`);
    // Another process of the same machine may have read the entry meanwhile.
    if (known.length >= n) continue;
    if (entry === 'missing') return known;
    known.push(entry);
  }
}

/**
 * Adds an entry under the next free number. Before each attempt, `wanted` sees all entries so far and returns the entry,
 * or undefined if it is no longer wanted. Returns the number, or undefined.
 */
function* append(
  world: World,
  machine: Machine,
  place: string,
  cycle: string,
  wanted: (entries: readonly Entry[]) => EntryBody | undefined,
): Steps<number | undefined> {
  let first: EntryBody | undefined;
  for (;;) {
    const entries = yield* readEntries(machine, place, cycle);
    const entry = world.has('no second look') && first ? first : wanted(entries);
    if (!entry) return undefined;
    first = entry;
    const n = entries.length + 1;
    const name = `${place}/${cycle}/${n}`;
    const step: Step = { what: 'create', name, body: { ...entry, n } };
    if (world.has('lost is made')) {
      const response = yield step;
      if (response === 'created' || response === 'lost') return n;
      continue;
    }
    if ((yield* insist(step)) === 'created') return n;
    // The number is taken, perhaps by an earlier attempt of this very entry: what stands there decides.
    const winner = yield* getEntry(name, (response) => typeof response === 'object');
    if (winner !== 'missing' && winner.id === entry.id) return n;
  }
}

/**
 * Moves the ledger of a directory to the shared one, before the directory's first use of it. Each step may be repeated,
 * since whoever does it may be killed.
 */
function* move(world: World, machine: Machine, local: string): Steps<void> {
  const { disk } = machine.directory;
  const mark: Entry = { id: `moved ${local}`, n: 0, kind: 'moved' };
  if (!world.has('no mark')) yield* insist({ what: 'create', name: `${local}/moved`, body: mark });
  const cycles = (yield { what: 'cycles', place: local }) as readonly string[];
  // A process that still works with the local ledger may claim a job again while its entries are copied.
  for (const cycle of cycles)
    for (let moved: readonly Entry[] = []; ;) {
      const entries = yield* readEntries(machine, local, cycle);
      if (moved.length === entries.length) break;
      moved = [...entries];
      const jobs = new Set(standing(world, machine, entries).map(({ job }) => job));
      // Other machines need no claim that ended. They need the new tokens of its job where somebody read its results all the
      // same: the record of its run has them.
      for (const entry of moved)
        if ('job' in entry && (jobs.has(entry.job) || entry.kind === 'done') && entry.kind !== 'release')
          yield* append(world, machine, 'shared', cycle, (now) => (hasSame(world, now, entry) ? undefined : entry));
    }
  yield { what: 'disk', act: () => (disk.at = 'shared') };
}

/** Tells whether a ledger has an entry of a local one already. Jobs are compared, not rows: what is paid is paid. */
function hasSame(world: World, entries: readonly Entry[], entry: Entry): boolean {
  if (world.has('moved twice')) return false;
  const ofJob = entries.filter((each) => 'job' in each && 'job' in entry && each.job === entry.job);
  return entry.kind === 'claim' ? ofJob.length > 0 : ofJob.some(({ kind }) => kind === entry.kind);
}

/** Creates a job. One without a file costs nothing. */
function* createJob(): Steps<NewJob> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const job = yield { what: 'post' };
    if (typeof job === 'object') return job as NewJob;
  }
  throw new Unreachable('post');
}

/** The sizes of pages that are tried until two lists prove it. */
const PAGE_SIZES = [7, 6, 5, 4];

/**
 * Proves that a job never got its file: two lists show a newer job of the same tenant, and not this one. All times are
 * those that the service gave to the jobs. A job can be lost between two pages, so that the second list must have on one
 * page what was on both sides of its place in the first one.
 */
function* provesGone(world: World, claim: Claim, newer: NewJob): Steps<boolean> {
  if (newer.created < claim.expires + GRACE) return false;
  // Later, the service may have forgotten a job that did get its file.
  if (newer.created > claim.created + KEPT && !world.has('old list frees')) return false;
  const lists: JobList[] = [];
  for (const size of PAGE_SIZES) {
    const list = yield* jobList(world, newer, size);
    if (list === undefined || list.has(claim.job)) return false;
    if (lists.some((earlier) => world.has('between pages') || showsAll(earlier, list, claim.created))) return true;
    lists.push(list);
  }
  return false;
}

/** Tells whether a later list would show each job of a moment that an earlier one may have lost between its pages. */
function showsAll({ borders }: JobList, { pages }: JobList, created: number): boolean {
  const gaps = borders.filter(({ first, last }) => first <= created && created <= last);
  return gaps.every(({ ids: [before, after] }) => pages.has(before) && pages.get(before) === pages.get(after));
}

/** Reads the jobs until a list shows the newer one. */
function* jobList(world: World, newer: NewJob, size: number): Steps<JobList | undefined> {
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const list = yield { what: 'list', size };
    if (list instanceof JobList && (list.has(newer.id) || world.has('any list frees'))) return list;
    yield { what: 'sleep', minutes: 2 };
  }
  return undefined;
}
