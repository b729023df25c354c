// Posts log entries to an OTLP collector.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type ErrorCode, SvcError } from '../../base/errors.ts';
import { createRedactor } from '../../base/security/redact.ts';
import type { Clock } from '../../base/system.ts';
import { VERSION } from '../../base/version.ts';
import { exchange, type HttpResponse } from '../../client/http/exchange.ts';
import { type Trace, traced } from '../../client/http/trace.ts';
import { TransportFailure } from '../../client/http/transport-failure.ts';
import { ServiceClock } from '../../client/http/service-clock.ts';
import { plainLine } from '../../client/http/foreign-text.ts';
import { readProblem } from '../../client/http/problem.ts';
import { isTransient, MAX_ATTEMPTS, type RetryableFailure, retryAfterMs, withRetry } from '../../client/http/retry.ts';
import type { TimeLimits } from '../../client/http/watchdog.ts';
import type { Transport } from '../../client/http/transport.ts';
import { displayHost } from '../../schema/address.ts';
import { HOUR_MS } from '../../schema/durations.ts';
import { objectOrUndefined, parsedJson } from '../../schema/json-value.ts';
import type { Log } from '../../schema/log.ts';
import statuses from './errors.json' with { type: 'json' };
import { type ExportRequest, exportRequests, type RecordOptions } from './request.ts';
import type { OtlpSettings } from './settings.ts';

export interface ExporterOptions extends Pick<RecordOptions, 'clean' | 'idOf'> {
  readonly settings: OtlpSettings;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Aborts all work. */
  readonly signal: AbortSignal;
  /** Ends the wait for an unavailable collector. */
  readonly timeUp?: AbortSignal | undefined;
  readonly random?: (() => number) | undefined;
  readonly trace?: Trace | undefined;
  readonly onEvent?: ((event: ExportEvent) => void) | undefined;
}

export type ExportEvent =
  /** The collector is unavailable. Reported once for each outage. */
  | { readonly kind: 'disconnected'; readonly reason: string; readonly nextMs: number }
  | { readonly kind: 'reconnected'; readonly afterMs: number }
  /** The collector accepted a request with these entries, with a remark. */
  | ({ readonly kind: 'partial success'; readonly logs: readonly Log[] } & PartialSuccess);

const MAX_PAUSE_MS = HOUR_MS;

/** Posts entries to a collector by OTLP/HTTP, each at least once and in order, until it has accepted them. */
export class OtlpExporter {
  readonly #url: URL;
  readonly #options: ExporterOptions;
  readonly #collectorClock: ServiceClock;
  /** Hides the headers in what the collector says. Entries stay as they are: a header may have the id of their tenant. */
  readonly #redactor = createRedactor();

  constructor(url: URL, options: ExporterOptions) {
    this.#url = url;
    this.#options = options;
    this.#collectorClock = new ServiceClock(options.clock);
    for (const value of Object.values(options.settings.headers)) {
      this.#redactor.addSecret(value);
      // The collector may repeat the token without its scheme, such as Bearer or Api-Token.
      this.#redactor.addSecret(value.replace(/^\S+ +/, ''));
    }
  }

  /** Posts an empty request, to check whether entries would be accepted. @throws SvcError like `export` */
  async check(): Promise<void> {
    await this.#post({ text: '{"resourceLogs":[]}', logs: [] });
  }

  /**
   * Resolves when the collector has accepted the entries. Waits for a collector that is unavailable or busy.
   * @throws SvcError for a permanent failure, or the reason of the signal
   */
  async export(logs: readonly Log[]): Promise<void> {
    const { settings, clock, clean, idOf } = this.#options;
    const options = { resource: settings.resource, observedAt: clock.now(), clean, idOf };
    for (const request of exportRequests(logs, options)) await this.#post(request);
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
    // Of the empty request before the first entries, a collector may reject more than it has.
    const rejected = Math.min(partial.rejected, request.logs.length);
    this.#options.onEvent?.({ ...partial, kind: 'partial success', logs: request.logs, rejected });
  }

  async #postUntilAccepted({ text, logs }: ExportRequest): Promise<CollectorResponse | 'too large'> {
    const { clock, signal, onEvent, random, timeUp } = this.#options;
    let downSince: number | undefined;
    let last: Posted | undefined;
    const attempt = async (index: number): Promise<{ value: CollectorResponse | 'too large' } | RetryableFailure> => {
      last = await this.#postOnce(text, index);
      if ('status' in last && isAccepted(last)) return { value: last };
      if ('status' in last && last.status === 413 && logs.length > 1) return { value: 'too large' };
      return this.#failure(last, index);
    };
    const onWait = (nextMs: number): void => {
      if (downSince === undefined && last) {
        const reason = 'failure' in last ? last.failure.message : `it responded with ${last.status}`;
        onEvent?.({ kind: 'disconnected', reason, nextMs });
      }
      downSince ??= clock.now();
    };
    const unlimited = { attempts: Infinity, maxWaitMs: Infinity, giveUp: timeUp };
    const response = await withRetry(attempt, { clock, signal, random, ...unlimited, onWait });
    if (downSince !== undefined) onEvent?.({ kind: 'reconnected', afterMs: clock.now() - downSince });
    return response;
  }

  /** Posts once. Rejects only with the reason of the signal, or for an unusable proxy. */
  async #postOnce(text: string, attempt: number): Promise<Posted> {
    const { settings, transport, clock, signal, trace } = this.#options;
    const headers = {
      'user-agent': `svc/${VERSION}`,
      ...settings.headers,
      'content-type': 'application/json',
      ...(settings.gzip && { 'content-encoding': 'gzip' }),
    };
    const body = settings.gzip ? await compressed(text) : text;
    try {
      const sent = { method: 'POST', url: this.#url, headers, body, limits: LIMITS, signal };
      const options = { clock, trace, attempt };
      const response = await traced(sent, options, async () => this.#redacted(await exchange(transport, sent)));
      this.#collectorClock.learn(response.header('date'));
      const { bytes } = await response.read(MAX_BODY);
      return {
        status: response.status,
        // Redacted before anything is cut from it: the rest of a token that was cut would be shown.
        text: this.#redactor.redact(bytes.toString('utf8')),
        contentType: response.header('content-type'),
        location: response.header('location'),
        requestedMs: retryAfterMs(response.header('retry-after'), this.#collectorClock.now()),
      };
    } catch (error) {
      if (error instanceof TransportFailure) return { failure: error };
      throw error;
    }
  }

  #redacted(response: HttpResponse): HttpResponse {
    const { redact } = this.#redactor;
    return { ...response, header: (name) => redact(response.header(name) ?? '') || undefined };
  }

  /** Returns a failure to retry. @throws SvcError for a permanent failure */
  #failure(posted: Posted, index: number): RetryableFailure {
    const error = collectorError(this.#url, posted);
    const isFailing = 'status' in posted && (posted.status === 500 || posted.status === 408);
    if (!isOutage(posted) && !(isFailing && index + 1 < MAX_ATTEMPTS)) throw error;
    const asked = 'status' in posted ? (posted.requestedMs ?? 0) : 0;
    return { error, requestedMs: Math.min(asked, MAX_PAUSE_MS) };
  }
}

// A web page with a success status did not come from a collector.
function isAccepted({ status, contentType = '' }: CollectorResponse): boolean {
  return status >= 200 && status < 300 && !/\bhtml\b/i.test(contentType);
}

/** The remarks of a collector about a request that it accepted. */
export interface PartialSuccess {
  /** The number of entries that the collector permanently rejected. */
  readonly rejected: number;
  /** The reason, or a warning if everything was accepted. */
  readonly message: string;
}

/** Parses the response of a collector that accepted a request; undefined without a remark. */
export function readPartialSuccess({ text }: CollectorResponse): PartialSuccess | undefined {
  const partial = objectOrUndefined(objectOrUndefined(parsedJson(text))?.['partialSuccess']);
  // OTLP's JSON has 64-bit numbers as strings, but some collectors send numbers.
  const rejected = Number(partial?.['rejectedLogRecords'] ?? 0);
  const message = partial?.['errorMessage'];
  const words = typeof message === 'string' ? plainLine(message) : '';
  const count = Number.isFinite(rejected) && rejected > 0 ? rejected : 0;
  return count === 0 && words === '' ? undefined : { rejected: count, message: words };
}

interface CollectorResponse {
  readonly status: number;
  readonly text: string;
  readonly contentType: string | undefined;
  /** The target of a redirect. */
  readonly location: string | undefined;
  /** The requested wait in milliseconds. */
  readonly requestedMs: number | undefined;
}

type Posted = CollectorResponse | { readonly failure: TransportFailure };

const LIMITS: TimeLimits = { connect: 10_000, headers: 30_000, idle: 10_000, body: 20_000 };
const MAX_BODY = 64 * 1024;

const compressed = promisify(gzip);

/** Statuses by which a collector requests a retry, however long it takes. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Whether the collector is temporarily unavailable. */
function isOutage(posted: Posted): boolean {
  return 'failure' in posted ? isTransient(posted) : RETRYABLE.has(posted.status);
}

/** Returns the error for a post that is not retried. */
function collectorError(url: URL, posted: Posted): SvcError {
  const collector = `the collector at ${displayHost(url)}`;
  if ('failure' in posted)
    return posted.failure.toError(`no response from ${collector}`, {
      hint: `Check the address of the collector and your proxy settings; ${RESUMES}`,
    });
  const { status, location = '' } = posted;
  if (status < 400) {
    const target = URL.canParse(location) ? displayHost(new URL(location)) : 'another address';
    const redirects = `redirects to ${target}, and redirects are not followed`;
    const words = status < 300 ? 'responds with a web page' : redirects;
    return new SvcError('bad_response', `${collector} ${words} (${status})`, { status, hint: ADDRESS });
  }
  const { code, words, hint } = REFUSALS.get(String(status)) ?? (status < 500 ? REJECTED : FAILED);
  const { summary } = readProblem(posted.text, posted.contentType);
  const problem = summary === undefined ? '' : `: ${summary}`;
  return new SvcError(code, `${collector} ${words} (${status})${problem}`, { status, hint });
}

interface Refusal {
  readonly code: ErrorCode;
  readonly words: string;
  readonly hint: string;
}

/** The refusals by status. */
const REFUSALS = new Map(Object.entries(statuses).map(([status, known]) => [status, known as Refusal]));
const ADDRESS = statuses[404].hint;
const RESUMES = 'run again, the tail resumes from its checkpoint.';
const REJECTED: Refusal = {
  code: 'rejected',
  words: 'rejected the entries',
  hint: `See what the collector requires; ${RESUMES}`,
};
const FAILED: Refusal = { code: 'server', words: 'failed', hint: `See the log of the collector; ${RESUMES}` };
