import { exchange } from '../http/exchange.ts';
import {
  MAX_ATTEMPTS,
  mayRetry,
  type Outcome,
  type RetryableFailure,
  retryAfterMs,
  type TimeLimits,
  withRetry,
} from '../http/retry.ts';
import { TransportFailure } from '../http/failure.ts';
import type { Transport } from '../http/transport.ts';
import type { Clock } from '../system.ts';
import { headersToPassOn } from './address.ts';
import { type JournalEntry, type JournalLine, readJournal } from './journal.ts';

/** How to forward. */
export interface ForwardOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
  readonly limits?: TimeLimits | undefined;
  /** At most this many; 5 by default. */
  readonly attempts?: number | undefined;
}

/** A request as it goes on. */
export interface Forwarded {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How it ended: `reason` is there when it was not taken, `status` when any answer came. */
export interface ForwardResult {
  readonly attempts: number;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
}

/** A webhook's target answers soon or not at all: whoever waits is another event. */
export const FORWARD_LIMITS: TimeLimits = { connect: 5_000, headers: 10_000, idle: 5_000, body: 10_000 };

const LONGEST_PAUSE_MS = 60_000;

/**
 * Posts an event to a target, several times where that may help. Delivery is at least once: a target can see an
 * event twice. Never rejects.
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
    if (result.reason === undefined || !mayRetry(outcome, 'always') || attempts >= most)
      return { value: result };
    return { error: new Error(result.reason), askedMs: Math.min(LONGEST_PAUSE_MS, outcome.askedMs ?? 0) };
  };
  try {
    return await withRetry(attempt, { ...options, signal });
  } catch (error) {
    if (signal.aborted) return { attempts, reason: 'it was not done when its time was over' };
    return { attempts, reason: error instanceof Error ? error.message : 'unknown reason' };
  }
}

async function post(
  url: URL,
  { headers, body }: Forwarded,
  { transport, clock, limits = FORWARD_LIMITS }: ForwardOptions,
  signal: AbortSignal,
): Promise<Outcome & { askedMs?: number | undefined }> {
  try {
    const answer = await exchange(transport, { method: 'POST', url, headers, body, limits, signal });
    // A short body is read, so that the connection can serve again; nothing in it matters.
    await answer.readPartial(64 * 1024);
    return { status: answer.status, askedMs: retryAfterMs(answer.header('retry-after'), clock.now()) };
  } catch (error) {
    if (error instanceof TransportFailure) return { failure: error };
    throw error;
  }
}

function resultOf(outcome: Outcome, attempts: number): ForwardResult {
  if ('failure' in outcome) return { attempts, reason: outcome.failure.message };
  const { status } = outcome;
  if (status >= 200 && status < 300) return { attempts, status };
  return { attempts, status, reason: status < 400 ? `it redirects (${status})` : `it answered ${status}` };
}

/** Which events of a journal are sent again; all that is given must hold. */
export interface Choice {
  readonly ids?: readonly string[] | undefined;
  readonly types?: readonly string[] | undefined;
  /** Received at this time or later, in milliseconds since the epoch. */
  readonly since?: number | undefined;
}

/** An event that was sent again, or a line that could not be. */
export type Replayed =
  | { readonly kind: 'sent'; readonly entry: JournalEntry; readonly result: ForwardResult }
  | { readonly kind: 'unreadable'; readonly line: number; readonly problem: string }
  /** The target gave no answer so often that the rest, from this event on, was not tried. */
  | { readonly kind: 'given up'; readonly from: JournalEntry };

/** The header that tells a target that an event is sent again, and when it first came. */
const REPLAYED_HEADER = 'svc-replayed';

const SILENT_AT_MOST = 3;

/** How to send again. */
export interface ReplayOptions extends ForwardOptions {
  /** Chooses and reads as ever, and sends nothing. */
  readonly dryRun?: boolean | undefined;
}

/**
 * Sends events of a journal again, in order, one after the other: the bytes and headers with which they came, but
 * for what the journal hides.
 * @throws SvcError `local` when the journal cannot be read; the signal's reason when it aborts
 */
export async function* replay(
  journal: string,
  target: URL,
  choice: Choice,
  options: ReplayOptions,
  signal: AbortSignal,
): AsyncGenerator<Replayed> {
  let silent = 0;
  for await (const read of readJournal(journal)) {
    if ('problem' in read) {
      yield { kind: 'unreadable', ...read };
      continue;
    }
    if (!isChosen(read, choice)) continue;
    if (silent >= SILENT_AT_MOST) return yield { kind: 'given up', from: read.entry };
    if (options.dryRun) {
      yield { kind: 'sent', entry: read.entry, result: { attempts: 0 } };
      continue;
    }
    const result = await forward(target, replayedRequest(read.entry), options, signal);
    signal.throwIfAborted();
    silent = result.status === undefined ? silent + 1 : 0;
    yield { kind: 'sent', entry: read.entry, result };
  }
}

function isChosen({ entry }: Extract<JournalLine, { entry: JournalEntry }>, choice: Choice): boolean {
  const { ids = [], types = [], since } = choice;
  return (
    (ids.length === 0 || ids.includes(entry.id)) &&
    (types.length === 0 || types.includes(entry.type)) &&
    (since === undefined || Date.parse(entry.received_at) >= since)
  );
}

/** What is sent for an event of a journal. */
export function replayedRequest({ headers, body, received_at }: JournalEntry): Forwarded {
  const passed = headersToPassOn(new Map(Object.entries(headers)));
  return { headers: { ...passed, [REPLAYED_HEADER]: new Date(received_at).toISOString() }, body };
}
