import type { Trace } from '../../http/exchange.ts';
import { cut, plainLine } from '../../http/response.ts';
import { ServiceClock } from '../../http/request.ts';
import { MAX_ATTEMPTS, type RetryableFailure, withRetry } from '../../http/retry.ts';
import type { Transport } from '../../http/transport.ts';
import { objectOrUndefined, parsedJson } from '../../schema/guards.ts';
import type { Log } from '../../schema/log.ts';
import type { Clock } from '../../system.ts';
import { type CollectorResponse, isOutage, type Posted, postOnce, reasonOf, collectorError } from './post.ts';
import { type ExportRequest, exportRequests, type RecordOptions } from './request.ts';
import type { OtlpSettings } from './settings.ts';

export interface ExporterOptions extends Pick<RecordOptions, 'clean' | 'idOf'> {
  readonly settings: OtlpSettings;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Ends everything when it aborts. */
  readonly signal: AbortSignal;
  /** When it aborts, an unavailable collector is waited for no longer. */
  readonly timeUp?: AbortSignal | undefined;
  readonly random?: (() => number) | undefined;
  readonly trace?: Trace | undefined;
  readonly onEvent?: ((event: ExportEvent) => void) | undefined;
}

export type ExportEvent =
  /** The collector is unavailable; reported once for each outage. */
  | { readonly kind: 'disconnected'; readonly reason: string; readonly nextMs: number }
  | { readonly kind: 'reconnected'; readonly afterMs: number }
  /** It accepted a request, with a remark. */
  | ({ readonly kind: 'partial success'; readonly entries: number } & PartialSuccess);

const LONGEST_PAUSE_MS = 3_600_000;

/** Posts entries to a collector by OTLP/HTTP until it has accepted them: at least once each, in order. */
export class OtlpExporter {
  readonly #url: URL;
  readonly #options: ExporterOptions;
  readonly #collectorClock: ServiceClock;

  constructor(url: URL, options: ExporterOptions) {
    this.#url = url;
    this.#options = options;
    this.#collectorClock = new ServiceClock(options.clock);
  }

  /** Posts an empty request, to learn at once whether entries would be accepted. @throws SvcError like `export` */
  async check(): Promise<void> {
    await this.#post({ text: '{"resourceLogs":[]}', logs: [] });
  }

  /**
   * Resolves when the collector has accepted the entries; waits for one that is unavailable or busy.
   * @throws SvcError for a failure that waiting does not fix; the signal's reason
   */
  async export(logs: readonly Log[]): Promise<void> {
    const { settings, clock, clean, idOf } = this.#options;
    const how = { resource: settings.resource, observedAt: clock.now(), clean, idOf };
    for (const request of exportRequests(logs, how)) await this.#post(request);
  }

  async #post(request: ExportRequest): Promise<void> {
    const response = await this.#postUntilAccepted(request);
    if (response === 'too large') {
      const middle = Math.ceil(request.logs.length / 2);
      await this.export(request.logs.slice(0, middle));
      return this.export(request.logs.slice(middle));
    }
    const partial = readPartialSuccess(response);
    if (partial === undefined) return;
    this.#options.onEvent?.({ kind: 'partial success', entries: request.logs.length, ...partial });
  }

  async #postUntilAccepted({ text, logs }: ExportRequest): Promise<CollectorResponse | 'too large'> {
    const { settings, transport, clock, signal, trace, onEvent, random, timeUp } = this.#options;
    const how = { ...settings, transport, signal, collectorClock: this.#collectorClock };
    let downSince: number | undefined;
    let last: Posted | undefined;
    const attempt = async (index: number): Promise<{ value: CollectorResponse | 'too large' } | RetryableFailure> => {
      last = await postOnce(this.#url, text, how, { clock, trace, attempt: index });
      if ('status' in last && isAccepted(last)) return { value: last };
      if ('status' in last && last.status === 413 && logs.length > 1) return { value: 'too large' };
      return this.#failure(last, index);
    };
    const onWait = (nextMs: number): void => {
      if (downSince === undefined && last) onEvent?.({ kind: 'disconnected', reason: reasonOf(last), nextMs });
      downSince ??= clock.now();
    };
    const unlimited = { attempts: Infinity, maxWaitMs: Infinity, giveUp: timeUp };
    const response = await withRetry(attempt, { clock, signal, random, ...unlimited, onWait });
    if (downSince !== undefined && response !== 'too large')
      onEvent?.({ kind: 'reconnected', afterMs: clock.now() - downSince });
    return response;
  }

  /** @throws SvcError for a failure that waiting does not fix */
  #failure(posted: Posted, index: number): RetryableFailure {
    const error = collectorError(this.#url, posted);
    const isFailing = 'status' in posted && (posted.status === 500 || posted.status === 408);
    if (!isOutage(posted) && !(isFailing && index + 1 < MAX_ATTEMPTS)) throw error;
    const asked = 'status' in posted ? (posted.askedMs ?? 0) : 0;
    return { error, askedMs: Math.min(asked, LONGEST_PAUSE_MS) };
  }
}

// A web page is no collector.
function isAccepted({ status, contentType = '' }: CollectorResponse): boolean {
  return status >= 200 && status < 300 && !/\bhtml\b/i.test(contentType);
}

/** What a collector says of a request that it accepted. */
export interface PartialSuccess {
  /** Entries that it permanently rejected. */
  readonly rejected: number;
  /** A reason, or a warning where it accepted everything. */
  readonly message: string;
}

/** Reads the response of a collector that accepted a request; undefined without a remark. */
export function readPartialSuccess({ text }: CollectorResponse): PartialSuccess | undefined {
  const partial = objectOrUndefined(objectOrUndefined(parsedJson(text))?.['partialSuccess']);
  // 64-bit numbers are strings in OTLP's JSON, and numbers from some collectors.
  const rejected = Number(partial?.['rejectedLogRecords'] ?? 0);
  const message = partial?.['errorMessage'];
  const words = typeof message === 'string' ? cut(plainLine(message)) : '';
  const count = Number.isFinite(rejected) && rejected > 0 ? rejected : 0;
  return count === 0 && words === '' ? undefined : { rejected: count, message: words };
}
