import { findKey } from './keys.ts';
import { type LedgerEntry, readLedger } from './ledger.ts';

/** A request of the ledger, as it is listed. */
export interface ListedRequest {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** 0 when no answer was sent. */
  readonly status: number;
  readonly received: number;
  readonly sent: number;
  /** Name of the key; absent where none came along. */
  readonly key?: string | undefined;
  /** Number of the application that the key belongs to. */
  readonly application?: number | undefined;
  /** Type of the event, for a delivery to a webhook. */
  readonly event?: string | undefined;
  readonly aborted: boolean;
}

/** The requests of a state directory, in the order of their ends; with a limit, only the last ones. */
export function listRequests(directory: string, limit = Infinity): ListedRequest[] {
  const entries = entriesOf(directory);
  return entries.slice(Math.max(0, entries.length - limit)).map(listed);
}

function listed({
  at,
  method,
  path,
  status,
  received,
  sent,
  key,
  event,
  aborted,
}: LedgerEntry): ListedRequest {
  const application = findKey(key)?.application;
  return { at, method, path, status, received, sent, key, application, event, aborted };
}

function entriesOf(directory: string): LedgerEntry[] {
  try {
    return readLedger(directory);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
