import { Chance } from '../../support/chance.ts';
import type { Plant } from './mistakes.ts';
import { type Job, Service } from './service.ts';
import { Store } from './store.ts';
import { type Claim, type Entry, HOUR, type Machine, type Order, type Response, type Row, type Step } from './types.ts';

/** Every other token is updated: its results name a new token. */
export const isUpdated = (row: Row): boolean => row < 100 && row % 2 === 1;
export const successor = (row: Row): Row => row + 100;
/** Where tokens have several merchants, every third row is one of the token of the row before. */
const tokenOf = (row: Row): Row => (row < 100 && row % 3 === 1 ? row - 1 : row);

/** Gives the operator other numbers than the machines. */
const OPERATOR = 0x5ca1ab1e;

/** Time, one service and one store, the faults between them and the machines, and what must never happen. */
export class World {
  readonly random: Chance;
  readonly #plant: Plant | undefined;
  readonly #late: { readonly at: number; readonly machine: Machine; readonly cycle: string; readonly step: Step }[] =
    [];
  readonly #delivered = new Set<string>();
  readonly service: Service;
  readonly store: Store;
  readonly log: string[] = [];
  readonly problems: string[] = [];
  readonly counts: Record<string, number> = {};
  now = 0;
  /** Whether the faults have ended. */
  calm = false;
  steps = 0;
  kills = 0;
  /** Draws what the operator does. A history without such an act is the one that its seed always made. */
  readonly operator: Chance;
  /** Jobs whose rows the operator freed, until a machine claims them again. */
  readonly #freed = new Set<string>();
  /** For each job, the jobs whose rows were free by the operator's word when its rows were claimed. */
  readonly #freedBefore = new Map<string, ReadonlySet<string>>();
  /** State directories that were lost or restored, so that their records may know less than was sent. */
  readonly restored = new Set<string>();

  /** Whether rows may be of one token for several merchants. Histories without are those that their seeds always made. */
  readonly #merchants: boolean;

  constructor(
    seed: number,
    { plant, merchants = false }: { plant?: Plant | undefined; merchants?: boolean | undefined } = {},
  ) {
    this.#merchants = merchants;
    this.random = new Chance(seed);
    this.operator = new Chance(seed ^ OPERATOR);
    this.#plant = plant;
    this.store = new Store({ ignoresCondition: plant === 'no condition' });
    this.service = new Service({
      now: () => this.now,
      isCalm: () => this.calm,
      random: this.random,
      lag: () => this.#lag(),
      omits: plant === 'list omits',
      takesLateFiles: plant === 'late file',
      billsFailures: plant === 'paid failure',
      forgetsEarly: plant === 'forgets early',
      onAccepted: (job) => this.#onAccepted(job),
    });
  }

  /** Returns the first rows of each token, whose others go into the next job. */
  withTokensOnce(rows: readonly Row[]): readonly Row[] {
    if (!this.#merchants || this.has('token twice')) return rows;
    return rows.filter((row, at) => rows.findIndex((other) => tokenOf(other) === tokenOf(row)) === at);
  }

  has(mistake: Plant): boolean {
    return this.#plant === mistake;
  }

  note(text: string): void {
    this.log.push(`${String(this.now).padStart(6)} ${text}`);
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  problem(text: string): void {
    this.note(`PROBLEM ${text}`);
    this.problems.push(text);
  }

  /** The operator frees the rows of a claim, which may have been paid for. */
  free(place: string, cycle: string, { job, rows }: Claim): void {
    let n = 1;
    while (this.store.objects.has(`${place}/${cycle}/${n}`)) n += 1;
    const body = { id: `operator ${n}`, n, kind: 'release', job, rows, why: 'operator' } as const;
    this.store.create(`${place}/${cycle}/${n}`, body, this.now);
    this.#freed.add(job);
    this.note(`the operator frees the rows of ${job}`);
    this.count('claims abandoned by the operator');
  }

  /** Results are delivered: the operator may put their new tokens into the table from which files are made. */
  deliver(cycle: string, claim: Claim): void {
    for (const row of claim.rows) if (isUpdated(row)) this.#delivered.add(`${cycle} ${row}`);
  }

  /** Returns the rows of a file that is made now. */
  updated({ cycle, rows }: Pick<Order, 'cycle' | 'rows'>): Row[] {
    return rows.map((row) =>
      this.#delivered.has(`${cycle} ${row}`) && this.random.happens(0.5) ? successor(row) : row,
    );
  }

  /** Does what a machine wants, or loses the request, the response, or both, or delivers the request much later. */
  perform(machine: Machine, step: Step): Response {
    const { random } = this;
    const cycle = machine.running?.order.cycle ?? '';
    const act = (): Response => this.#act(machine, cycle, step);
    if (this.calm || isLocal(step)) return act();
    const dice = random.next();
    if (dice < 0.03) return 'lost';
    if (dice < 0.07) {
      act();
      return 'lost';
    }
    if (dice < 0.11 && (step.what === 'put' || step.what === 'create')) {
      // The upload has begun: its address is checked now, its bytes arrive later.
      this.#late.push({ at: this.now + 1 + random.between(0, 2 * HOUR - 1), machine, cycle, step });
      return 'lost';
    }
    if (dice < 0.13) {
      if (random.happens(0.5)) act();
      return 'server error';
    }
    if (dice < 0.17 && step.what === 'read') return 'missing';
    return act();
  }

  /** Lets time pass, and delivers what was under way. */
  pass(minutes: number): void {
    const until = this.now + minutes;
    for (;;) {
      this.#late.sort((a, b) => a.at - b.at);
      const first = this.#late[0];
      if (first === undefined || first.at > until) break;
      this.#late.shift();
      this.now = Math.max(this.now, first.at);
      this.#act(first.machine, first.cycle, first.step);
    }
    this.now = until;
  }

  #act(machine: Machine, cycle: string, step: Step): Response {
    switch (step.what) {
      case 'disk':
        step.act();
        return undefined;
      case 'sleep':
        return undefined;
      case 'post':
        return this.service.post();
      case 'read':
        return this.service.read(step.job);
      case 'list':
        return this.service.list(step.size);
      case 'put':
        return this.service.put(step.job, { cycle, rows: step.rows, began: step.began }, () =>
          this.#onSecondUpload(step.job, machine),
        );
      case 'create':
        if (!machine.mayWrite && step.name.startsWith('shared/')) return 'forbidden';
        return this.#create(step.name, step.body);
      case 'get':
        return this.store.read(step.name, this);
      case 'cycles':
        return this.store.cycles(step.place);
    }
  }

  #create(name: string, entry: Entry): 'created' | 'exists' {
    const outcome = this.store.create(name, entry, this.now);
    if (outcome === 'exists' || entry.kind !== 'claim') return outcome;
    // A claim in a ledger that moved protects nothing: the machine makes it again in the shared one.
    if (!this.store.objects.has(`${name.split('/', 1).join('')}/moved`)) this.#freed.delete(entry.job);
    if (!this.#freedBefore.has(entry.job)) this.#freedBefore.set(entry.job, new Set(this.#freed));
    return outcome;
  }

  /** Tells whether rows may have two jobs, because those of one of them were free by the operator's word. */
  #mayBoth(one: string, other: string): boolean {
    const isFreedBefore = (job: string, later: string): boolean => this.#freedBefore.get(later)?.has(job) === true;
    return isFreedBefore(one, other) || isFreedBefore(other, one);
  }

  #lag(): number {
    if (this.calm || this.random.happens(0.6)) return 0;
    return this.random.between(0, this.random.happens(0.2) ? 89 : 9);
  }

  /** The same bytes come to a job that has them: what the service then does is not known. */
  #onSecondUpload(job: string, { directory: { name } }: Machine): void {
    this.count('second uploads to a job');
    this.note(`a second upload to ${job}`);
    if (!this.restored.has(name) || this.has('take over')) this.problem(`a second upload to ${job}`);
  }

  #onAccepted(job: Job): void {
    const { cycle, rows } = job;
    this.note(`service accepts ${job.id}: ${cycle} ${rows.join(',')}`);
    const paid = new Set<Row>();
    for (const other of this.service.jobs.values())
      if (other !== job && other.cycle === cycle && this.service.isPaid(other) && !this.#mayBoth(job.id, other.id))
        for (const row of other.rows) paid.add(row);
    const tokens = new Set(rows.map(tokenOf));
    if (this.#merchants && tokens.size < new Set(rows).size) this.problem(`a token stands twice in ${job.id}`);
    for (const row of rows) {
      if (row >= 100) this.problem(`new token ${row} is paid for in the cycle ${cycle} that made it`);
      if (paid.has(row)) this.problem(`row ${row} of cycle ${cycle} is paid for twice (${job.id})`);
      paid.add(row);
    }
  }
}

/** Tells whether a step stays on the machine, so that no fault of a network can change it. */
function isLocal(step: Step): boolean {
  if (step.what === 'create' || step.what === 'get') return !step.name.startsWith('shared/');
  return step.what === 'disk' || step.what === 'sleep' || step.what === 'cycles';
}
