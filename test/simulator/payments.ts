import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { uploadsTaken } from '../au/support.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { claimsIn } from './records.ts';
import type { World } from './world.ts';

/** The content of a submitted request file, and how often the operator lets it be billed. */
interface Submitted {
  /** Its rows, each known by token and merchant. */
  readonly rows: ReadonlySet<string>;
  /** The cycles in which it was submitted. It is billed once in each. */
  readonly cycles: Set<string>;
  /** How often the operator allowed it to be billed again. */
  again: number;
}

/** Checks that each tenant pays once per file content and cycle, unless the operator wants more. */
export class Payments {
  readonly #world: World;
  readonly #submitted = new Map<string, Submitted>();
  /** The jobs that the operator abandoned, whose rows can be sent again. */
  readonly #abandoned = new Set<string>();
  /** Whether a backup ever replaced the records. */
  #isRestored = false;

  constructor(world: World) {
    this.#world = world;
  }

  /** Notes a command before it runs. */
  note(argv: readonly string[], hasCompany: boolean): void {
    if (argv[1] === 'abandon') this.#abandoned.add(argv[2] ?? '');
    // A job that the operator ignores may have any of the files.
    if (argv[1] === 'ignore') for (const each of this.#submitted.values()) each.again += 1;
    if (argv[1] !== 'submit' || argv.includes('--dry-run')) return;
    const text = textOf(join(this.#world.home, argv[2] ?? ''));
    if (text === undefined) return;
    const sha256 = createHash('sha256').update(text).digest('hex');
    const known = this.#submitted.get(sha256) ?? { rows: new Set(rowsOf(text)), cycles: new Set(), again: 0 };
    this.#submitted.set(sha256, known);
    // The operator lets a ledger or a cycle begin although the rows may have been sent before.
    const isConfirmed = argv.includes('--pay-again') || argv.includes('--new-ledger');
    if (isConfirmed && (hasCompany || this.#mayBePaid(sha256, known))) known.again += 1;
    known.cycles.add(argv.includes('--cycle') ? (argv[argv.indexOf('--cycle') + 1] ?? '') : '');
  }

  restored(): void {
    this.#isRestored = true;
  }

  /**
   * Checks what the tenants are billed for after a command. After a backup was restored, rows may be billed again if
   * the command named the job that the records lack.
   */
  check({ stdout, stderr, process }: Ended, { faults = [], keys }: Circumstances): void {
    // Without a true list of jobs, the tool cannot find the job that the records lack.
    const isListTrue = faults.length === 0 && keys === undefined && !this.#world.adversary.isTroubled;
    const excess = new Map<Submitted, number>();
    for (const [row, jobs] of this.#paid()) {
      const most = this.#most(row) + jobs.filter((job) => this.#abandoned.has(job)).length;
      if (jobs.length <= most) continue;
      const waiting = this.#world.adversary.toldPending.get(process);
      // The tool cannot know that a job has a file while the service shows it as waiting for one.
      const isNamed = jobs
        .slice(0, -1)
        .some((job) => stderr.includes(job) || stdout.includes(job) || waiting?.has(job) === true);
      if (!this.#isRestored || (isListTrue && !isNamed))
        throw new Error(`row ${row} was taken ${jobs.length} times, of which ${most} were wanted`);
      for (const each of this.#submitted.values())
        if (each.rows.has(row)) excess.set(each, Math.max(excess.get(each) ?? 0, jobs.length - most));
    }
    for (const [each, times] of excess) each.again += times;
  }

  #most(row: string): number {
    const contents = [...this.#submitted.values()].filter(({ rows }) => rows.has(row));
    const wanted = contents.reduce((sum, { cycles, again }) => sum + cycles.size + again, 0);
    return Math.max(1, wanted);
  }

  /** Returns the rows that the tenants are billed for, each with its jobs in upload order. Failed jobs are free. */
  #paid(): [string, string[]][] {
    const { ours, theirs } = this.#world;
    return [...this.#paidAt(ours), ...this.#paidAt(theirs)];
  }

  #paidAt(directory: string): Map<string, string[]> {
    const paid = new Map<string, string[]>();
    for (const job of uploadsTaken(directory)) {
      if (this.#world.adversary.strangers.has(job)) continue;
      if (this.#world.adversary.failed.has(job)) continue;
      const text = readFileSync(join(directory, 'files', `request-${job}.csv`), 'utf8');
      for (const row of rowsOf(text)) paid.set(row, [...(paid.get(row) ?? []), job]);
    }
    return paid;
  }

  /** Tells whether a file may have been sent. Only then can a confirmation bill it again. */
  #mayBePaid(sha256: string, { rows }: Submitted): boolean {
    const isClaimed = claimsIn(this.#world).some(({ file }) => file.sha256 === sha256);
    return isClaimed || this.#paid().some(([row]) => rows.has(row));
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function rowsOf(text: string): string[] {
  const [, ...lines] = text.split('\n').filter(Boolean);
  return lines.map((line) => {
    const [token = '', , , merchant = ''] = line.split(',');
    return `${token} ${merchant}`;
  });
}
