import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_REQUEST_FILE_ROWS } from '../../src/schema/account-updater-files.ts';
import { uploadsTaken } from '../au/support.ts';
import type { Circumstances } from './history.ts';
import type { Ended } from './process.ts';
import { isUntouched, recordsIn } from './records.ts';
import type { World } from './world.ts';

/** The content of a submitted request file, and how often the operator lets it be billed. */
interface Submitted {
  /** The text of each uploaded part. */
  readonly parts: ReadonlySet<string>;
  /** The cycles in which it was submitted. It is billed once in each. */
  readonly cycles: Set<string>;
  /** How often the operator allowed it to be billed again. */
  again: number;
}

/** Checks that each tenant pays once per file content and cycle, unless the operator wants more. */
export class Payments {
  readonly #world: World;
  readonly #submitted = new Map<string, Submitted>();
  /** The number of abandoned runs. The tool accepts the file of such a run as if it were new. */
  #abandoned = 0;
  /** Whether a backup ever replaced the records. */
  #isRestored = false;

  constructor(world: World) {
    this.#world = world;
  }

  /** Notes a command before it runs. */
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
    // With --other-job, the operator declares a job foreign, so that the same rows may be billed again.
    if (isAgain || argv.includes('--other-job')) known.again += 1;
    known.cycles.add(argv.includes('--cycle') ? (argv[argv.indexOf('--cycle') + 1] ?? '') : '');
  }

  /** Allows the content of a run to be billed again, after the operator declared a job foreign. */
  #noteOtherJob(run: string): void {
    const record = recordsIn(this.#world.home).records.find(({ id }) => id === run);
    const known = this.#submitted.get(record?.input.sha256 ?? '');
    if (known) known.again += 1;
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
    for (const [text, jobs] of this.#paid()) {
      const most = this.#most(text);
      if (jobs.length <= most) continue;
      const waiting = this.#world.adversary.toldPending.get(process);
      // The tool cannot know that a job has a file while the service shows it as waiting for one.
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

  /** Returns the texts that the tenants are billed for, each with its jobs in upload order. Failed jobs are free. */
  #paid(): [string, string[]][] {
    const { ours, theirs } = this.#world;
    return [...this.#paidAt(ours), ...this.#paidAt(theirs)];
  }

  #paidAt(directory: string): Map<string, string[]> {
    const paid = new Map<string, string[]>();
    // Another system submitted the first file before any process began.
    for (const job of uploadsTaken(directory).slice(1)) {
      if (this.#world.adversary.failed.has(job)) continue;
      const text = readFileSync(join(directory, 'files', `request-${job}.csv`), 'utf8');
      if (text.trimEnd().includes('\n')) paid.set(text, [...(paid.get(text) ?? []), job]);
    }
    return paid;
  }

  /** Tells whether a file may have been sent. Only then does submitting it again bill it again. */
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

/** Returns the texts uploaded for a request file: the whole file, or parts of as many rows as one upload may have. */
function partsOf(text: string): Set<string> {
  const [header = '', ...rows] = text.split('\n').filter(Boolean);
  if (rows.length <= MAX_REQUEST_FILE_ROWS) return new Set([text]);
  const count = Math.ceil(rows.length / MAX_REQUEST_FILE_ROWS);
  const parts = Array.from({ length: count }, (_, part) =>
    rows.slice(part * MAX_REQUEST_FILE_ROWS, (part + 1) * MAX_REQUEST_FILE_ROWS),
  );
  return new Set(parts.map((part) => [header, ...part, ''].join('\n')));
}
