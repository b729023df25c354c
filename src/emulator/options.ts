import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SandboxKey } from './keys.ts';
import type { LedgerEntry } from './ledger.ts';
import type { TenantType } from '../schema/tenant.ts';

/** Stands before the sandbox at the wire: responds or breaks the exchange itself, or lets it proceed. */
export type Interceptor = (incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void) => void;

export interface SandboxOptions {
  /** Where the state is; created if missing. Several sandboxes may share it. */
  readonly directory: string;
  /** A loopback address; 127.0.0.1 by default. */
  readonly host?: string | undefined;
  /** Names beside those of loopback under which it may be reached, such as that of a container. */
  readonly allowHosts?: readonly string[] | undefined;
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** Milliseconds since the epoch; the machine's by default. */
  readonly clock?: { now(): number } | undefined;
  /** What the data is generated from. Fixed by the first start on a directory. */
  readonly seed?: number | undefined;
  /** Generated logs of the day before the first start. Fixed by the first start on a directory. */
  readonly logCount?: number | undefined;
  /** `test` by default. Fixed by the first start on a directory. */
  readonly tenantType?: TenantType | undefined;
  /** Whether the live service's rate limits apply; off by default. */
  readonly limits?: 'off' | 'on' | undefined;
  /** Whether a 429 says how long to wait; true by default. */
  readonly retryAfter?: boolean | undefined;
  /** How long after its upload a job is done; 2 seconds by default. */
  readonly processingMs?: number | undefined;
  /** How long after its upload a job still shows as pending; a quarter second by default. */
  readonly pickupMs?: number | undefined;
  /** Whether reading the logs leaves a log itself, as at the service; true by default. */
  readonly auditReads?: boolean | undefined;
  /** Loopback addresses that receive events. */
  readonly webhooks?: readonly string[] | undefined;
  /** Whether each accepted event is delivered a second time. */
  readonly webhookDuplicates?: boolean | undefined;
  /** How long a webhook may take to respond, in milliseconds; 5 seconds by default. */
  readonly webhookTimeoutMs?: number | undefined;
  readonly intercept?: Interceptor | undefined;
}

export interface RunningSandbox {
  /** Base URL, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly keys: readonly SandboxKey[];
  /** How far its clock was ahead of the machine's at the start, in milliseconds. */
  readonly clockOffset: number;
  /** The requests that this process received. */
  ledger(): LedgerEntry[];
  /** Ends open connections and releases the directory. */
  close(): Promise<void>;
}
