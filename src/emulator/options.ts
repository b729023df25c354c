import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TenantType } from '../schema/tenant.ts';

/** A hook before the sandbox: it responds itself, breaks the exchange, or lets it proceed. */
export type Interceptor = (incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void) => void;

/** An enterprise feature, which a tenant needs access to. */
export type Feature = '3ds' | 'account-updater';

/** The order of logs: newest first (`desc`) or oldest first. */
export type LogOrder = 'desc' | 'asc';

/** The form of the ids of jobs: UUIDs, or words without a known form. */
export type JobIds = 'uuid' | 'plain';

/** Whether a cursor fits any request for its list, or only one with the same filters and page size. */
export type Cursors = 'any' | 'strict';

export interface SandboxOptions {
  /** The state directory, created if missing. Several sandboxes may share it. */
  readonly directory: string;
  /** A loopback address; 127.0.0.1 by default. */
  readonly host?: string | undefined;
  /** Further host names under which the sandbox may be reached, such as that of a container. */
  readonly allowHosts?: readonly string[] | undefined;
  /** The port; 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** The clock, in milliseconds since the epoch; by default that of the machine. */
  readonly clock?: { now(): number } | undefined;
  /** The seed of generated data. Fixed by the first start on a directory. */
  readonly seed?: number | undefined;
  /** The number of logs generated for the day before the first start. Fixed by the first start on a directory. */
  readonly logCount?: number | undefined;
  /** `test` by default. Fixed by the first start on a directory. */
  readonly tenantType?: TenantType | undefined;
  /** The types of several tenants, in place of `tenantType`. Those of earlier starts on a directory stay. */
  readonly tenants?: readonly TenantType[] | undefined;
  /** Whether the live service's rate limits apply; off by default. */
  readonly limits?: 'off' | 'on' | undefined;
  /** Whether a 429 says how long to wait; true by default. */
  readonly retryAfter?: boolean | undefined;
  /** Time from the upload until a job is completed; 2 seconds by default. */
  readonly processingMs?: number | undefined;
  /** Time from the upload until a job leaves `pending`; a quarter of a second by default. */
  readonly pickupMs?: number | undefined;
  /** Whether reading logs creates a log, as at the service; true by default. */
  readonly auditReads?: boolean | undefined;
  /** Loopback addresses that receive events. */
  readonly webhooks?: readonly string[] | undefined;
  /** Whether each accepted event is delivered a second time. */
  readonly webhookDuplicates?: boolean | undefined;
  /** How long a webhook may take to respond, in milliseconds; 5 seconds by default. */
  readonly webhookTimeoutMs?: number | undefined;
  readonly intercept?: Interceptor | undefined;
  /** Merchant ids that a production tenant takes in request files; then it requires one of them. */
  readonly merchants?: readonly string[] | undefined;
  /** Whether every token in the form of a UUID stands for a card, whose outcome is invented. */
  readonly acceptTokens?: boolean | undefined;
  /** Features to which the tenant has no access: a 403. */
  readonly without?: readonly Feature[] | undefined;
  /** The order of logs, which the interface leaves open; newest first by default. */
  readonly order?: LogOrder | undefined;
  /** What a cursor fits, which the interface leaves open; `any` by default. */
  readonly cursors?: Cursors | undefined;
  /** The form of the ids of jobs, which the interface leaves open; UUIDs by default. Fixed by the first start on a directory. */
  readonly jobIds?: JobIds | undefined;
  /** Whether a session shows no authentication while its challenge is open, which the interface leaves open. */
  readonly hideOpenChallenges?: boolean | undefined;
  /** Outcomes of 3-D Secure authentications, as `readOutcome` parses them. */
  readonly outcomes?: readonly string[] | undefined;
}
