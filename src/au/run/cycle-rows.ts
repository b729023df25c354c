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

/** Rows of a file that another run of the cycle has. */
export interface SharedRows {
  readonly run: RunDirectory;
  /** Whether the run is surely of the tenant of the key in use. */
  readonly relation: Exclude<TenantRelation, 'other'>;
  /** Rows that no run compared before has. */
  rows: number;
  /** Of these, rows of which it is not known whether the service has them. */
  inDoubt: number;
  /** Of these, rows that a process that is at work on the run has not sent yet. */
  unsent: number;
}

/** The rows that are about to be sent: of which file, and where in it. */
export interface RowsToSend {
  readonly file: string;
  readonly ranges: readonly RowRange[];
}

/** How sure it is that the service has the rows of a part. */
type Certainty = 'stored' | 'in doubt' | 'unsent';

const ORDER: readonly Certainty[] = ['stored', 'in doubt', 'unsent'];

/** A part of another run, and what is counted of it. */
interface SentPart {
  readonly part: Part;
  readonly shared: SharedRows;
  readonly certainty: Certainty;
}

type RelationOf = (record: RunRecord) => Promise<TenantRelation>;

/**
 * Compares rows that are about to be sent with the rows that the runs of a cycle sent: a tenant pays once a cycle for
 * each token and merchant. The copies that runs keep of their request files are all there is to look them up in. A part
 * is read once: after more was sent, the next comparison reads only that.
 */
export class CycleRows {
  readonly #host: Pick<System, 'pid' | 'isAlive'>;
  readonly #toSend: RowsToSend;
  readonly #relationOf: RelationOf;
  readonly #compared = new Set<string>();
  readonly #shared = new Map<string, SharedRows>();
  #index: RowIndex | undefined;
  /** The runs of the cycle at this tenant that sent something, the oldest first. */
  others: readonly RunDirectory[] = [];
  /** A run that sent something and has no copy of its request file any more. */
  incomparable: RunDirectory | undefined;
  /** A run whose record cannot be read, and which may have sent some of the rows. */
  damaged: UnreadableRun | undefined;

  constructor(host: Pick<System, 'pid' | 'isAlive'>, toSend: RowsToSend, relationOf: RelationOf) {
    this.#host = host;
    this.#toSend = toSend;
    this.#relationOf = relationOf;
  }

  /** Compares with the runs of the cycle, but for those whose rows may be sent again. */
  async compare({ runs, unreadable }: FoundRuns, repeats: readonly string[] = []): Promise<void> {
    this.others = [];
    const parts: SentPart[] = [];
    for (const run of runs.toReversed()) parts.push(...(await this.#partsOf(run, repeats)));
    // A row that a completed run has is in no doubt, whatever other runs have it.
    for (const sent of parts.toSorted((a, b) => ORDER.indexOf(a.certainty) - ORDER.indexOf(b.certainty)))
      if (!(await this.#comparePart(sent))) this.incomparable ??= sent.shared.run;
    for (const run of unreadable) if (!repeats.includes(nameOf(run))) await this.#compareDamaged(run);
  }

  /** The runs that have rows of the file, the oldest first. */
  get shared(): readonly SharedRows[] {
    return [...this.#shared.values()].filter(({ rows }) => rows > 0);
  }

  get counts(): SentCounts & { readonly rows: number; readonly left: number } {
    const rows = this.#toSend.ranges.reduce((sum, range) => sum + range.rows, 0);
    const counts = this.#index?.counts() ?? { sent: 0, changed: 0, unchangedErrors: 0 };
    return { ...counts, rows, left: rows - counts.sent - counts.unchangedErrors };
  }

  /** A request file of the rows that no run has, in pieces. */
  async rest(): Promise<AsyncIterable<string>> {
    return (await this.#rows()).rest();
  }

  close(): void {
    this.#index?.close();
  }

  /** The parts of a run to compare with: those that may be paid for, and all that another process may send meanwhile. */
  async #partsOf(listed: RunDirectory, repeats: readonly string[]): Promise<SentPart[]> {
    const isHeld = listed.isHeld(this.#host);
    // What a process sent that has ended since the runs were listed is in the record as it is now.
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

  /** @returns whether the rows of the part could be read */
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

  /** What a damaged record had sent is not known: every row of its copy may have been. */
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

/** What a run is called among those whose rows may be sent again. */
export function nameOf({ run, directory }: UnreadableRun): string {
  return run ?? directory;
}

/** The parts of a run that have yet to be sent, among them those that failed where they are to be retried. */
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

/** The tokens of a part of which every result is an error. Without results that are kept, none is known to be. */
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
