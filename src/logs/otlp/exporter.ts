import type { Trace } from '../../http/exchange.ts';
import { cut, plainLine } from '../../http/response.ts';
import { ServiceClock } from '../../http/request.ts';
import { MAX_ATTEMPTS, type RetryableFailure, withRetry } from '../../http/retry.ts';
import type { Transport } from '../../http/transport.ts';
import type { Log } from '../../schema/log.ts';
import type { Clock } from '../../system.ts';
import {
  type CollectorAnswer,
  isOutage,
  type Posted,
  postOnce,
  reasonOf,
  refusedByCollector,
} from './post.ts';
import { type ExportRequest, exportRequests } from './request.ts';
import type { OtlpSettings } from './settings.ts';

/** What an exporter works with. */
export interface ExporterOptions {
  readonly settings: OtlpSettings;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Ends everything when it aborts. */
  readonly signal: AbortSignal;
  /** When it aborts, a collector that is away is waited for no longer. */
  readonly timeUp?: AbortSignal | undefined;
  /** Takes out of a text what must not leave. */
  readonly clean: (text: string) => string;
  /** What identifies an entry, if anything does. */
  readonly idOf?: ((log: Log) => string | undefined) | undefined;
  readonly random?: (() => number) | undefined;
  readonly trace?: Trace | undefined;
  readonly onEvent?: ((event: ExportEvent) => void) | undefined;
}

/** What happens beside the entries. */
export type ExportEvent =
  /** The collector is away; said once for each outage. */
  | { readonly kind: 'disconnected'; readonly reason: string; readonly nextMs: number }
  | { readonly kind: 'reconnected'; readonly afterMs: number }
  /** It took a request, and says something of it. */
  | ({ readonly kind: 'partial success'; readonly entries: number } & PartialSuccess);

const LONGEST_PAUSE_MS = 3_600_000;

/** Posts entries to a collector by OTLP/HTTP, until it has taken them: at least once each, in their order. */
export class OtlpExporter {
  readonly #url: URL;
  readonly #options: ExporterOptions;
  readonly #collectorClock: ServiceClock;

  constructor(url: URL, options: ExporterOptions) {
    this.#url = url;
    this.#options = options;
    this.#collectorClock = new ServiceClock(options.clock);
  }

  /** Posts nothing, to learn at once whether entries would be taken. @throws SvcError like `export` */
  async check(): Promise<void> {
    await this.#post({ text: '{"resourceLogs":[]}', logs: [] });
  }

  /**
   * Resolves when the collector has taken the entries. One that is away or busy is waited for.
   * @throws SvcError for an answer that no waiting mends; the signal's reason
   */
  async export(logs: readonly Log[]): Promise<void> {
    const { settings, clock, clean, idOf } = this.#options;
    const how = { resource: settings.resource, observedAt: clock.now(), clean, idOf };
    for (const request of exportRequests(logs, how)) await this.#post(request);
  }

  async #post(request: ExportRequest): Promise<void> {
    const answer = await this.#accepted(request);
    if (answer === 'too large') return this.#inHalves(request.logs);
    const partial = readPartialSuccess(answer);
    if (partial === undefined) return;
    this.#options.onEvent?.({ kind: 'partial success', entries: request.logs.length, ...partial });
  }

  async #inHalves(logs: readonly Log[]): Promise<void> {
    const middle = Math.ceil(logs.length / 2);
    await this.export(logs.slice(0, middle));
    await this.export(logs.slice(middle));
  }

  /** Posts until it is taken. */
  async #accepted({ text, logs }: ExportRequest): Promise<CollectorAnswer | 'too large'> {
    const { settings, transport, clock, signal, trace, onEvent, random, timeUp } = this.#options;
    const how = { ...settings, transport, signal, collectorClock: this.#collectorClock };
    let cutOffAt: number | undefined;
    let last: Posted | undefined;
    const attempt = async (
      index: number,
    ): Promise<{ value: CollectorAnswer | 'too large' } | RetryableFailure> => {
      last = await postOnce(this.#url, text, how, { clock, trace, attempt: index });
      if ('status' in last && isTaken(last)) return { value: last };
      if ('status' in last && last.status === 413 && logs.length > 1) return { value: 'too large' };
      return this.#failure(last, index);
    };
    const onWait = (nextMs: number): void => {
      if (cutOffAt === undefined && last) onEvent?.({ kind: 'disconnected', reason: reasonOf(last), nextMs });
      cutOffAt ??= clock.now();
    };
    const patience = { attempts: Infinity, maxWaitMs: Infinity, giveUp: timeUp };
    const answer = await withRetry(attempt, { clock, signal, random, ...patience, onWait });
    if (cutOffAt !== undefined && answer !== 'too large')
      onEvent?.({ kind: 'reconnected', afterMs: clock.now() - cutOffAt });
    return answer;
  }

  /** @throws SvcError for what no waiting helps against */
  #failure(posted: Posted, index: number): RetryableFailure {
    const error = refusedByCollector(this.#url, posted);
    const isFailing = 'status' in posted && (posted.status === 500 || posted.status === 408);
    if (!isOutage(posted) && !(isFailing && index + 1 < MAX_ATTEMPTS)) throw error;
    const asked = 'status' in posted ? (posted.askedMs ?? 0) : 0;
    return { error, askedMs: Math.min(asked, LONGEST_PAUSE_MS) };
  }
}

// Where a web page answers, nobody took anything.
function isTaken({ status, contentType = '' }: CollectorAnswer): boolean {
  return status >= 200 && status < 300 && !/\bhtml\b/i.test(contentType);
}

/** What a collector that took a request says of it all the same. */
export interface PartialSuccess {
  /** Entries that it did not take and never will. */
  readonly rejected: number;
  /** Its words: a reason, or a warning where it took everything. */
  readonly message: string;
}

/** Reads the answer of a collector that took a request. Undefined where it has nothing more to say. */
export function readPartialSuccess({ text }: CollectorAnswer): PartialSuccess | undefined {
  const partial = member(parse(text), 'partialSuccess');
  // 64-bit numbers travel as text in OTLP's JSON, and as numbers from some.
  const rejected = Number(member(partial, 'rejectedLogRecords') ?? 0);
  const message = member(partial, 'errorMessage');
  const words = typeof message === 'string' ? cut(plainLine(message)) : '';
  const count = Number.isFinite(rejected) && rejected > 0 ? rejected : 0;
  return count === 0 && words === '' ? undefined : { rejected: count, message: words };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
