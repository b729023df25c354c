import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TenantType } from '../schema/tenant.ts';

/** A hook for each request before the sandbox: responds itself, breaks the exchange, or calls `proceed`. */
export type Interceptor = (incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void) => void;

/** An enterprise feature, for which a tenant needs access. */
export type Feature = '3ds' | 'account-updater';

/** The order of logs: newest first (`desc`) or oldest first. */
export type LogOrder = 'desc' | 'asc';

/** The form of the ids of jobs: UUIDs, or words without a known form. */
export type JobIds = 'uuid' | 'plain';

/** Whether a cursor is valid for any request of its list (`any`), or only with the same filters and page size (`strict`). */
export type Cursors = 'any' | 'strict';

export interface SandboxOptions {
  /** The state directory, created if missing. Several sandboxes may share it. */
  readonly directory: string;
  /** Further host names under which the sandbox may be reached, such as the name of a container. */
  readonly allowHosts?: readonly string[] | undefined;
  /** The port; 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** The clock, in epoch milliseconds. Default: the machine's clock. */
  readonly clock?: { now(): number } | undefined;
  /** The seed of generated data. Fixed by the first start on a directory. */
  readonly seed?: number | undefined;
  /** The number of logs generated for the day before the first start. Fixed by the first start on a directory. */
  readonly logCount?: number | undefined;
  /** The types of the tenants; one test tenant by default. Tenants of earlier starts on a directory keep their type. */
  readonly tenants?: readonly TenantType[] | undefined;
  /** Whether the live service's rate limits apply; off by default. */
  readonly limits?: 'off' | 'on' | undefined;
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
  /** Whether `ledger()` has the requests of this process. Memory then grows with them; the file of the directory has all anyway. */
  readonly keepsRequests?: boolean | undefined;
  readonly intercept?: Interceptor | undefined;
  /** The merchant ids of a production tenant. Rows of request files must then have one of them. */
  readonly merchants?: readonly string[] | undefined;
  /** Whether the vault accepts any token in the form of a UUID, with an invented outcome. */
  readonly acceptTokens?: boolean | undefined;
  /** Features to which the tenant has no access. Requests get a 403. */
  readonly without?: readonly Feature[] | undefined;
  // The service does not document the following behaviors, so the sandbox can show each variant.
  /** The order of logs; newest first by default. */
  readonly order?: LogOrder | undefined;
  /** The requests for which a cursor is valid; `any` by default. */
  readonly cursors?: Cursors | undefined;
  /** The form of the ids of jobs; UUIDs by default. Fixed by the first start on a directory. */
  readonly jobIds?: JobIds | undefined;
  /** Whether a session shows no authentication while its challenge is open. */
  readonly hideOpenChallenges?: boolean | undefined;
  /** Outcomes of 3-D Secure authentications, as `readOutcome` parses them. */
  readonly outcomes?: readonly string[] | undefined;
}
