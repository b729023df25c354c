// Forwards events to a target, and replays a journal.

import type { Clock } from '../base/system.ts';
import { exchange } from '../client/http/exchange.ts';
import { TransportFailure } from '../client/http/failure.ts';
import {
  isTransient,
  MAX_ATTEMPTS,
  type StatusOrFailure,
  type RetryableFailure,
  retryAfterMs,
  type TimeLimits,
  withRetry,
} from '../client/http/retry.ts';
import type { Transport } from '../client/http/transport.ts';
import { headersToForward } from '../client/webhooks/received.ts';
import { type JournalEntry, readJournal } from './journal.ts';

export interface ForwardOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
  readonly limits?: TimeLimits | undefined;
  /** The most attempts; 5 by default. */
  readonly attempts?: number | undefined;
}

export interface Forwarded {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The outcome: a `reason` if the target did not accept the event, and a `status` if it responded. */
export interface ForwardResult {
  readonly attempts: number;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
}

/** Short time limits for a target, since other events are waiting. */
export const FORWARD_LIMITS: TimeLimits = { connect: 5_000, headers: 10_000, idle: 5_000, body: 10_000 };

const LONGEST_PAUSE_MS = 60_000;

/**
 * Posts an event to a target, and retries where that may help. Delivery is at least once, so a target may receive an event
 * twice. Never rejects.
 */
export async function forward(
  url: URL,
  event: Forwarded,
  options: ForwardOptions,
  signal: AbortSignal,
): Promise<ForwardResult> {
  const { attempts: most = MAX_ATTEMPTS } = options;
  let attempts = 0;
  const attempt = async (): Promise<{ value: ForwardResult } | RetryableFailure> => {
    attempts += 1;
    const outcome = await post(url, event, options, signal);
    const result = resultOf(outcome, attempts);
    if (result.reason === undefined || !isTransient(outcome) || attempts >= most) return { value: result };
    return { error: new Error(result.reason), askedMs: Math.min(LONGEST_PAUSE_MS, outcome.askedMs ?? 0) };
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
  { headers, body }: Forwarded,
  { transport, clock, limits = FORWARD_LIMITS }: ForwardOptions,
  signal: AbortSignal,
): Promise<StatusOrFailure & { askedMs?: number | undefined }> {
  try {
    const response = await exchange(transport, { method: 'POST', url, headers, body, limits, signal });
    // Reading a short body allows reusing the connection; its content does not matter.
    await response.read(64 * 1024);
    return { status: response.status, askedMs: retryAfterMs(response.header('retry-after'), clock.now()) };
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

/** A selection of events in a journal; an event must match all given conditions. */
export interface Choice {
  readonly ids?: readonly string[] | undefined;
  /** Received at this time or later, in milliseconds since the epoch. */
  readonly since?: number | undefined;
}

/** The outcome for one line of a journal. */
export type Replayed =
  | { readonly kind: 'sent'; readonly line: number; readonly entry: JournalEntry; readonly result: ForwardResult }
  | { readonly kind: 'unreadable'; readonly line: number; readonly problem: string; readonly isTorn: boolean }
  | { readonly kind: 'not chosen' }
  /** The target failed too often, so this event was not tried. */
  | { readonly kind: 'given up'; readonly line: number; readonly entry: JournalEntry };

/** The header that marks a replayed event, with the time of its first receipt. */
const REPLAYED_HEADER = 'svc-replayed';

const MOST_UNANSWERED = 3;

/**
 * Sends events of a journal again, one after the other, with the body and headers that were received, except for what
 * the journal hides. With `dryRun` it reads and selects, and sends nothing.
 * @throws SvcError as `readJournal`; the signal's reason when it aborts
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
    if (unanswered >= MOST_UNANSWERED) {
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

/** Tells whether a choice selects an event. */
export function isChosen(entry: JournalEntry, { ids = [], since }: Choice): boolean {
  return (
    (ids.length === 0 || ids.includes(entry.id)) && (since === undefined || Date.parse(entry.received_at) >= since)
  );
}

export function replayedRequest({ headers, body, received_at }: JournalEntry): Forwarded {
  const forwarded = headersToForward(new Map(Object.entries(headers)));
  return { headers: { ...forwarded, [REPLAYED_HEADER]: new Date(received_at).toISOString() }, body };
}
