import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_REQUEST_FILE_ROWS } from '../../src/schema/account-updater-files.ts';
import { uploadsTaken } from '../au/support.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { isUntouched, recordsIn } from './records.ts';
import type { World } from './world.ts';

/** One content of a request file that was submitted, and what the operator lets be paid for. */
interface Submitted {
  /** What is uploaded of it, part by part. */
  readonly parts: ReadonlySet<string>;
  /** Names under which it was submitted; each is paid for once. */
  readonly cycles: Set<string>;
  /** How often the operator wanted it to be paid for once more. */
  again: number;
}

/** Each tenant pays once for each content of a file in each cycle, unless the operator wants more. */
export class Payments {
  readonly #world: World;
  readonly #submitted = new Map<string, Submitted>();
  /** How often a record was moved aside, which lets its file be submitted as if it never had been. */
  #abandoned = 0;
  /** Whether the records were replaced by older ones, and no run was begun since. */
  #isRestored = false;

  constructor(world: World) {
    this.#world = world;
  }

  /** Notes a command before it is run. */
  note(argv: readonly string[], hasCompany: boolean): void {
    if (argv[1] === 'abandon') this.#abandoned += 1;
    if (argv[1] === 'resume' && argv.includes('--other-job')) this.#noteOtherJob(argv[2] ?? '');
    if (argv[1] !== 'submit' || argv.includes('--dry-run')) return;
    const text = textOf(join(this.#world.home, argv[2] ?? ''));
    if (text === undefined) return;
    const sha256 = createHash('sha256').update(text).digest('hex');
    const known = this.#submitted.get(sha256) ?? { parts: partsOf(text), cycles: new Set(), again: 0 };
    this.#submitted.set(sha256, known);
    const isAgain = argv.includes('--again') && (hasCompany || this.#mayBePaid(sha256, known));
    // Whoever says that a job is of another system takes its rows for others.
    if (isAgain || argv.includes('--other-job')) known.again += 1;
    known.cycles.add(argv.includes('--cycle') ? (argv[argv.indexOf('--cycle') + 1] ?? '') : '');
  }

  /** Whoever says that a job is of another system takes its rows for others. */
  #noteOtherJob(run: string): void {
    const record = recordsIn(this.#world.home).records.find(({ id }) => id === run);
    const known = this.#submitted.get(record?.input.sha256 ?? '');
    if (known) known.again += 1;
  }

  restored(): void {
    this.#isRestored = true;
  }

  /**
   * Checks what the tenants have to pay for after a command. One that found the records older than the list of jobs
   * may pay again, once it has named the job that was forgotten.
   */
  check({ stdout, stderr, process }: Ended, { faults = [], keys }: Circumstances): void {
    // A list that is false, or cannot be had, shows nothing.
    const isListTrue = faults.length === 0 && keys === undefined && !this.#world.adversary.isTroubled;
    for (const [text, jobs] of this.#paid()) {
      const most = this.#most(text);
      if (jobs.length <= most) continue;
      const waiting = this.#world.adversary.toldPending.get(process);
      // While a job seems to wait for its file, nobody can know that it has one; later looks come too late.
      const isNamed = jobs
        .slice(0, -1)
        .some((job) => stderr.includes(job) || stdout.includes(job) || waiting?.has(job) === true);
      if (!this.#isRestored || (isListTrue && !isNamed))
        throw new Error(`the same rows were taken ${jobs.length} times, of which ${most} were wanted`);
      for (const each of this.#submitted.values()) if (each.parts.has(text)) each.again += jobs.length - most;
    }
  }

  #most(text: string): number {
    const contents = [...this.#submitted.values()].filter(({ parts }) => parts.has(text));
    const wanted = contents.reduce((sum, { cycles, again }) => sum + cycles.size + again, 0);
    return Math.max(1, wanted) + this.#abandoned;
  }

  /** What one of the tenants pays for, and the jobs in the order of their uploads. Failed jobs cost nothing. */
  #paid(): [string, string[]][] {
    const { ours, theirs } = this.#world;
    return [...this.#paidAt(ours), ...this.#paidAt(theirs)];
  }

  #paidAt(directory: string): Map<string, string[]> {
    const paid = new Map<string, string[]>();
    // The first was there before.
    for (const job of uploadsTaken(directory).slice(1)) {
      if (this.#world.adversary.failed.has(job)) continue;
      const text = readFileSync(join(directory, 'files', `request-${job}.csv`), 'utf8');
      if (text.trimEnd().includes('\n')) paid.set(text, [...(paid.get(text) ?? []), job]);
    }
    return paid;
  }

  /** Whether a file may have been sent: only then is there anything that can be paid for once more. */
  #mayBePaid(sha256: string, { parts }: Submitted): boolean {
    const { records, isDamaged } = recordsIn(this.#world.home);
    const isBegun = records.some(({ input, parts: all }) => input.sha256 === sha256 && !all.every(isUntouched));
    return isDamaged || isBegun || this.#paid().some(([text]) => parts.has(text));
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** What is uploaded of a request file: all of it, or as many rows at a time as one upload may have. */
function partsOf(text: string): Set<string> {
  const [header = '', ...rows] = text.split('\n').filter(Boolean);
  if (rows.length <= MAX_REQUEST_FILE_ROWS) return new Set([text]);
  const count = Math.ceil(rows.length / MAX_REQUEST_FILE_ROWS);
  const parts = Array.from({ length: count }, (_, part) =>
    rows.slice(part * MAX_REQUEST_FILE_ROWS, (part + 1) * MAX_REQUEST_FILE_ROWS),
  );
  return new Set(parts.map((part) => [header, ...part, ''].join('\n')));
}
