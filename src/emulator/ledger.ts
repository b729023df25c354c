import { closeSync, constants, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { objectOrUndefined, parsedJson } from '../schema/json-value.ts';
import { findKey } from './keys.ts';
import { APPEND, statePaths } from './state/journal.ts';

/** A request to the sandbox, or a request of the sandbox to a webhook, without key and signature. */
export interface LedgerEntry {
  /** The time of arrival by the sandbox's clock, ISO 8601. */
  readonly at: string;
  readonly method: string;
  /** The path as sent, without the secret part of addresses of the store and of pages. */
  readonly path: string;
  /** Names of all headers, lower case, in the order sent. */
  readonly headerNames: readonly string[];
  /** Values of the headers that describe the body or the requested content. */
  readonly headers: Readonly<Record<string, string>>;
  /** Name of the key; `unknown` for a foreign one. */
  readonly key?: string;
  /** Type of the event delivered to a webhook; absent for requests that reached the sandbox. */
  readonly event?: string;
  /** HTTP status; 0 without a response. */
  status: number;
  /** Bytes on the wire, head included. */
  received: number;
  sent: number;
  /** Whether the exchange ended before the response was sent. */
  aborted: boolean;
  /** Set if a fault responded instead of the sandbox, or changed the status. */
  fault?: true;
}

const SHOWN_HEADERS = [
  'accept',
  'content-length',
  'content-md5',
  'content-type',
  'expect',
  'host',
  'if-match',
  'if-range',
  'range',
  'transfer-encoding',
  'user-agent',
  'x-ms-blob-type',
] as const;

/** The record of every request that a sandbox process received: in a file of the state directory, and if wanted in memory. */
export class Ledger {
  readonly #file: number;
  readonly #keepsEntries: boolean;
  readonly #entries: LedgerEntry[] = [];
  readonly #ownStatuses = new WeakMap<ServerResponse, number>();
  readonly #bytes = new WeakMap<Socket, { read: number; written: number }>();
  #closed = false;

  constructor(path: string, keepsEntries = false) {
    this.#keepsEntries = keepsEntries;
    this.#file = openSync(path, APPEND | constants.O_WRONLY, 0o600);
  }

  /** Follows an exchange from its arrival to its end. */
  watch(incoming: IncomingMessage, outgoing: ServerResponse, now: number): void {
    const entry = newEntry(incoming, now);
    this.#keep(entry);
    const { socket } = incoming;
    let recorded = false;
    const record = (): void => {
      if (recorded) return;
      recorded = true;
      entry.aborted = !outgoing.writableFinished;
      entry.status = outgoing.headersSent ? outgoing.statusCode : 0;
      if (!entry.aborted && this.#ownStatuses.get(outgoing) !== entry.status) entry.fault = true;
      Object.assign(entry, this.#traffic(socket));
      this.#write(entry);
    };
    outgoing.once('finish', record).once('close', record);
  }

  /** Notes the status with which the sandbox itself responds, before a fault may change it. */
  noteStatus(outgoing: ServerResponse, status: number): void {
    this.#ownStatuses.set(outgoing, status);
  }

  /** Adds a request that the sandbox sent to a webhook. */
  note(sent: Pick<LedgerEntry, 'at' | 'path' | 'status' | 'received' | 'sent'> & { event: string }): void {
    const entry = { method: 'POST', headerNames: [], headers: {}, aborted: sent.status === 0, ...sent };
    this.#keep(entry);
    this.#write(entry);
  }

  /** Returns the requests of this process in order of arrival, if it keeps them. */
  entries(): LedgerEntry[] {
    return this.#entries.map((entry) => ({ ...entry }));
  }

  /** Closes the file. Exchanges that are still open are not recorded. */
  close(): void {
    if (!this.#closed) closeSync(this.#file);
    this.#closed = true;
  }

  #keep(entry: LedgerEntry): void {
    if (this.#keepsEntries) this.#entries.push(entry);
  }

  #write(entry: LedgerEntry): void {
    if (this.#closed) return;
    try {
      writeSync(this.#file, `${JSON.stringify(entry)}\n`);
    } catch {
      // The disk is full. The exchange is over, so this failure cannot be reported.
      this.close();
    }
  }

  #traffic(socket: Socket): { received: number; sent: number } {
    const before = this.#bytes.get(socket) ?? { read: 0, written: 0 };
    const after = { read: socket.bytesRead, written: socket.bytesWritten };
    this.#bytes.set(socket, after);
    return { received: after.read - before.read, sent: after.written - before.written };
  }
}

/** Reads the requests that all sandboxes of a state directory received, in the order in which they ended. */
export function readLedger(directory: string): LedgerEntry[] {
  const lines = readFileSync(statePaths(directory).ledger, 'utf8').split('\n');
  // A killed process may have left an incomplete line.
  return lines
    .map((line) => objectOrUndefined(parsedJson(line)) as LedgerEntry | undefined)
    .filter((entry) => entry !== undefined);
}

function newEntry({ method = '', url = '', headers, rawHeaders }: IncomingMessage, now: number): LedgerEntry {
  const key = headers['svc-api-key'];
  return {
    at: new Date(now).toISOString(),
    method,
    path: withoutSecret(url),
    headerNames: rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()),
    headers: Object.fromEntries(
      SHOWN_HEADERS.flatMap((name) => {
        const value = headers[name];
        return value === undefined ? [] : [[name, String(value)]];
      }),
    ),
    ...(key !== undefined && { key: findKey(String(key))?.value ?? 'unknown' }),
    status: 0,
    received: 0,
    sent: 0,
    aborted: false,
  };
}

function withoutSecret(url: string): string {
  // A signed address of another store may be sent here by mistake.
  if (url.startsWith('/store/') || /[?&][\w-]*sig(?:nature)?=/i.test(url)) return url.replace(/\?.*/s, '');
  return url.replace(/^(\/acs\/[^/]*\/[^/]*).*/s, '$1');
}

/**
 * Lists the requests of a state directory in the order in which they ended, each with the number of its key's application.
 * With a limit, lists only the last requests.
 */
export function listRequests(directory: string, limit = Infinity) {
  if (!existsSync(statePaths(directory).ledger)) return [];
  const entries = readLedger(directory);
  return entries.slice(Math.max(0, entries.length - limit)).map(listed);
}

function listed({ headerNames: _names, headers: _headers, ...entry }: LedgerEntry) {
  return { ...entry, application: findKey(entry.key)?.application };
}
