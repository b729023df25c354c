import { headersToPassOn } from './address.ts';
import { forward, type Forwarded, type ForwardOptions, type ForwardResult } from './forward.ts';
import { type JournalEntry, type JournalLine, readJournal } from './journal.ts';

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
