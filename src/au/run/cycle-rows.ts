import type { System } from '../../base/system.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { RowIndex, type RowRange, type SentCounts } from '../request/row-index.ts';
import { isIntact } from '../results/download.ts';
import { explainResultCode, readResults } from '../results/result-codes.ts';
import { uploadedRows } from './part-source.ts';
import { mayBePaid, type Part, sentOf, todo } from './part.ts';
import type { RunRecord } from './record.ts';
import { type FoundRuns, requestFileIn, RunDirectory, type UnreadableRun } from './run-directory.ts';
import type { TenantRelation } from './tenant-proof.ts';

/** Rows of a file that another run of the cycle contains. */
export interface SharedRows {
  readonly run: RunDirectory;
  /** Whether the run certainly belongs to the tenant of the current key. */
  readonly relation: Exclude<TenantRelation, 'other'>;
  /** The number of rows that no earlier compared run contains. */
  rows: number;
  /** The subset of `rows` for which it is unknown whether the service received them. */
  inDoubt: number;
  /** The subset of `rows` that a running process has yet to send. */
  unsent: number;
}

/** The rows to send: their file and their ranges in it. */
export interface RowsToSend {
  readonly file: string;
  readonly ranges: readonly RowRange[];
}

/** The certainty that the service has the rows of a part. */
type Certainty = 'stored' | 'in doubt' | 'unsent';

const ORDER: readonly Certainty[] = ['stored', 'in doubt', 'unsent'];

/** A part of another run, with the counts that it contributes to. */
interface SentPart {
  readonly part: Part;
  readonly shared: SharedRows;
  readonly certainty: Certainty;
}

type RelationOf = (record: RunRecord) => Promise<TenantRelation>;

/**
 * Compares the rows to send with the rows that other runs of the cycle sent, because a tenant pays once a cycle for
 * each token and merchant. Rows are looked up in the copies of request files that runs keep. Each part is read once, so
 * a second comparison reads only parts that were sent since.
 */
export class CycleRows {
  readonly #host: Pick<System, 'pid' | 'isAlive'>;
  readonly #toSend: RowsToSend;
  readonly #relationOf: RelationOf;
  readonly #compared = new Set<string>();
  readonly #shared = new Map<string, SharedRows>();
  #index: RowIndex | undefined;
  /** The runs of the cycle that sent something for this tenant, oldest first. */
  others: readonly RunDirectory[] = [];
  /** A run that sent something but has no copy of its request file. */
  incomparable: RunDirectory | undefined;
  /** A run with an unreadable record, which may have sent some of the rows. */
  damaged: UnreadableRun | undefined;

  constructor(host: Pick<System, 'pid' | 'isAlive'>, toSend: RowsToSend, relationOf: RelationOf) {
    this.#host = host;
    this.#toSend = toSend;
    this.#relationOf = relationOf;
  }

  /** Compares the rows with the runs of the cycle, except for runs whose rows may be sent again. */
  async compare({ runs, unreadable }: FoundRuns, repeats: readonly string[] = []): Promise<void> {
    this.others = [];
    const parts: SentPart[] = [];
    for (const run of runs.toReversed()) parts.push(...(await this.#partsOf(run, repeats)));
    // Parts with certain rows come first, so that such a row never counts as doubtful because another run contains it
    // too.
    for (const sent of parts.toSorted((a, b) => ORDER.indexOf(a.certainty) - ORDER.indexOf(b.certainty)))
      if (!(await this.#comparePart(sent))) this.incomparable ??= sent.shared.run;
    for (const run of unreadable) if (!repeats.includes(nameOf(run))) await this.#compareDamaged(run);
  }

  /** The runs that contain rows of the file, oldest first. */
  get shared(): readonly SharedRows[] {
    return [...this.#shared.values()].filter(({ rows }) => rows > 0);
  }

  get counts(): SentCounts & { readonly rows: number; readonly left: number } {
    const rows = this.#toSend.ranges.reduce((sum, range) => sum + range.rows, 0);
    const counts = this.#index?.counts() ?? { sent: 0, changed: 0, unchangedErrors: 0 };
    return { ...counts, rows, left: rows - counts.sent - counts.unchangedErrors };
  }

  /** Returns a request file of the rows that no run contains, in pieces. */
  async rest(): Promise<AsyncIterable<string>> {
    return (await this.#rows()).rest();
  }

  close(): void {
    this.#index?.close();
  }

  /**
   * Returns the parts of a run to compare with: parts that may be billed, and every part of a run in use, which may yet
   * send them.
   */
  async #partsOf(listed: RunDirectory, repeats: readonly string[]): Promise<SentPart[]> {
    const isHeld = listed.isHeld(this.#host);
    // A process that ended after the runs were listed may have sent more, so the record is read again.
    const run = isHeld ? listed : ((await RunDirectory.open(listed.path)) ?? listed);
    const { record } = run;
    const parts = record.parts.filter((part) => isHeld || mayBePaid(part));
    const relation = parts.length === 0 ? 'other' : await this.#relationOf(record);
    if (relation === 'other') return [];
    this.others = [...this.others, run];
    if (repeats.includes(record.id)) return [];
    const shared = { run, relation, rows: 0, inDoubt: 0, unsent: 0, ...this.#shared.get(record.id) };
    this.#shared.set(record.id, shared);
    return parts.map((part) => ({ part, shared, certainty: certaintyOf(part) }));
  }

  /** Compares the rows with a part. @returns whether the rows of the part were readable */
  async #comparePart({ part, shared, certainty }: SentPart): Promise<boolean> {
    const { run } = shared;
    const name = `${run.record.id} ${part.number}`;
    if (this.#compared.has(name)) return true;
    const sent = await uploadedRows(part, run);
    if (sent === undefined) return false;
    const index = await this.#rows();
    const marked = await index.mark(sent, await failedTokens(part, run));
    this.#compared.add(name);
    shared.rows += marked;
    if (certainty === 'unsent') shared.unsent += marked;
    if (certainty === 'in doubt') shared.inDoubt += marked;
    return true;
  }

  /** Compares the rows with the copy of a damaged run. Every row in the copy may have been sent. */
  async #compareDamaged(run: UnreadableRun): Promise<void> {
    const name = nameOf(run);
    if (this.#compared.has(name)) return;
    const copy = requestFileIn(run.directory);
    const marked = copy === undefined ? 1 : await (await this.#rows()).mark(await fileSource(copy), new Set());
    if (marked === 0) this.#compared.add(name);
    else this.damaged ??= run;
  }

  async #rows(): Promise<RowIndex> {
    const { file, ranges } = this.#toSend;
    return (this.#index ??= await RowIndex.of(file, ranges));
  }
}

/** Returns the name of an unreadable run in the list of runs whose rows may be sent again. */
export function nameOf({ run, directory }: UnreadableRun): string {
  return run ?? directory;
}

/** Returns the parts of a run that have yet to be sent. Includes failed parts if they are to be retried. */
export function partsToSend({ parts }: Pick<RunRecord, 'parts'>, how: { readonly retries: boolean }): Part[] {
  return parts.filter((part) => {
    if (part.state === 'failed') return how.retries;
    return ['create', 'upload', 'settle'].includes(todo(part)) && sentOf(part) === 'some';
  });
}

function certaintyOf(part: Part): Certainty {
  if (!mayBePaid(part)) return 'unsent';
  return sentOf(part) === 'stored' && part.state !== 'unknown' ? 'stored' : 'in doubt';
}

/** Returns the tokens of a part whose results are all errors. Returns none if the results are no longer stored. */
async function failedTokens(part: Part, run: RunDirectory): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  if (part.state !== 'downloaded' || !(await isIntact(run, part))) return failed;
  const others = new Set<string>();
  const results = await fileSource(run.resultsFile(part));
  for await (const rows of readResults(results.open()))
    for (const { token, result_code: code } of rows)
      (explainResultCode(code).class === 'error' ? failed : others).add(token);
  for (const token of others) failed.delete(token);
  return failed;
}
