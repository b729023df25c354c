// Posts events to a target, when they arrive or again from a journal.

import type { Clock } from '../base/system.ts';
import { exchange } from '../client/http/exchange.ts';
import { TransportFailure } from '../client/http/transport-failure.ts';
import {
  isTransient,
  MAX_ATTEMPTS,
  type StatusOrFailure,
  type RetryableFailure,
  retryAfterMs,
  withRetry,
} from '../client/http/retry.ts';
import type { TimeLimits } from '../client/http/watchdog.ts';
import type { Transport } from '../client/http/transport.ts';
import { headersToForward } from '../client/webhooks/received.ts';
import { type JournalEntry, readJournal } from './journal.ts';

export interface ForwardOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
  readonly limits?: TimeLimits | undefined;
  /** The maximum number of attempts; 5 by default. */
  readonly attempts?: number | undefined;
}

/** The request for a target. */
export interface ForwardRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ForwardResult {
  readonly attempts: number;
  /** The status of the response; undefined without a response. */
  readonly status?: number | undefined;
  /** Why the target did not accept the event; undefined if it did. */
  readonly reason?: string | undefined;
}

/** Short time limits for a target, since other events are waiting. */
export const FORWARD_LIMITS: TimeLimits = { connect: 5_000, headers: 10_000, idle: 5_000, body: 10_000 };

const MAX_PAUSE_MS = 60_000;

/** Posts an event to a target, with retries, so that a target may receive an event twice. Never rejects. */
export async function forward(
  url: URL,
  event: ForwardRequest,
  options: ForwardOptions,
  signal: AbortSignal,
): Promise<ForwardResult> {
  const { attempts: maxAttempts = MAX_ATTEMPTS } = options;
  let attempts = 0;
  const attempt = async (): Promise<{ value: ForwardResult } | RetryableFailure> => {
    attempts += 1;
    const outcome = await post(url, event, options, signal);
    const result = resultOf(outcome, attempts);
    if (result.reason === undefined || !isTransient(outcome) || attempts >= maxAttempts) return { value: result };
    return { error: new Error(result.reason), requestedMs: Math.min(MAX_PAUSE_MS, outcome.requestedMs ?? 0) };
  };
  try {
    return await withRetry(attempt, { ...options, signal });
  } catch (error) {
    if (signal.aborted) return { attempts, reason: 'its time was up' };
    return { attempts, reason: error instanceof Error ? error.message : 'unknown reason' };
  }
}

async function post(
  url: URL,
  { headers, body }: ForwardRequest,
  { transport, clock, limits = FORWARD_LIMITS }: ForwardOptions,
  signal: AbortSignal,
): Promise<StatusOrFailure & { requestedMs?: number | undefined }> {
  try {
    const response = await exchange(transport, { method: 'POST', url, headers, body, limits, signal });
    // Reads and ignores a short body, so that the connection can be reused.
    await response.read(64 * 1024);
    return { status: response.status, requestedMs: retryAfterMs(response.header('retry-after'), clock.now()) };
  } catch (error) {
    if (error instanceof TransportFailure) return { failure: error };
    throw error;
  }
}

function resultOf(outcome: StatusOrFailure, attempts: number): ForwardResult {
  if ('failure' in outcome) return { attempts, reason: outcome.failure.message };
  const { status } = outcome;
  if (status >= 200 && status < 300) return { attempts, status };
  return { attempts, status, reason: status < 400 ? `it redirects (${status})` : `it responded ${status}` };
}

/** A selection of events in a journal. An event must match all conditions. */
export interface Choice {
  readonly ids?: readonly string[] | undefined;
  /** Received at this time or later, in milliseconds since the epoch. */
  readonly since?: number | undefined;
}

/** The outcome for one line of a journal. */
export type Replayed =
  | { readonly kind: 'sent'; readonly entry: JournalEntry; readonly result: ForwardResult }
  | { readonly kind: 'unreadable'; readonly line: number; readonly problem: string; readonly isTorn: boolean }
  | { readonly kind: 'not chosen' }
  /** Not sent, because the target did not respond to the events before. */
  | { readonly kind: 'given up'; readonly entry: JournalEntry };

/** The header that marks a replayed event, with the time of its first receipt. */
const REPLAYED_HEADER = 'svc-replayed';

/** The number of events in a row without a response after which the rest is not sent. */
const MAX_UNANSWERED = 3;

/**
 * Sends events of a journal again, one after the other, with the received body and headers, except for secrets, which the
 * journal does not contain. With `dryRun`, only reads and selects.
 * @throws SvcError as `readJournal`; the signal's reason when aborted
 */
export async function* replay(
  journal: string,
  target: URL,
  choice: Choice,
  options: ForwardOptions & { readonly dryRun?: boolean | undefined },
  signal: AbortSignal,
): AsyncGenerator<Replayed> {
  let unanswered = 0;
  for await (const read of readJournal(journal, { clock: options.clock, signal })) {
    if ('problem' in read) {
      yield { kind: 'unreadable', ...read };
      continue;
    }
    if (!isChosen(read.entry, choice)) {
      yield { kind: 'not chosen' };
      continue;
    }
    if (unanswered >= MAX_UNANSWERED) {
      yield { kind: 'given up', ...read };
      continue;
    }
    if (options.dryRun) {
      yield { kind: 'sent', ...read, result: { attempts: 0 } };
      continue;
    }
    const result = await forward(target, replayedRequest(read.entry), options, signal);
    signal.throwIfAborted();
    unanswered = result.status === undefined ? unanswered + 1 : 0;
    yield { kind: 'sent', ...read, result };
  }
}

function isChosen(entry: JournalEntry, { ids = [], since }: Choice): boolean {
  return (
    (ids.length === 0 || ids.includes(entry.id)) && (since === undefined || Date.parse(entry.received_at) >= since)
  );
}

export function replayedRequest({ headers, body, received_at }: JournalEntry): ForwardRequest {
  const forwarded = headersToForward(new Map(Object.entries(headers)));
  return { headers: { ...forwarded, [REPLAYED_HEADER]: new Date(received_at).toISOString() }, body };
}
