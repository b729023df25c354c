import { fieldPaths, type View } from '../../output/view.ts';

/** A sandbox that listens. Its keys are fixed and no secret. */
export interface SandboxReady {
  readonly url: string;
  readonly management_key: string;
  readonly private_key: string;
  /** Credentials of its buckets, and the bucket that is always there; their endpoint is `url`. */
  readonly store_access_key_id: string;
  readonly store_secret_access_key: string;
  readonly store_bucket: string;
  readonly directory: string;
}

/** How a listening sandbox is shown. */
export const sandboxReadyView: View<SandboxReady> = {
  name: 'sandbox',
  fields: fieldPaths(`
    url management_key private_key store_access_key_id store_secret_access_key store_bucket
    directory
  `),
  columns: [{ path: 'url', kind: 'id' }],
};

/** A card token of the sandbox. */
export interface SandboxCardRow {
  readonly token: string;
  readonly network: string;
  /** Masked. */
  readonly number: string;
  readonly result_code: string;
}

/** How the sandbox's card tokens are shown. */
export const sandboxCardView: View<SandboxCardRow> = {
  name: 'card',
  fields: ['token', 'network', 'number', 'expiration_month', 'expiration_year', 'result_code', 'new_token'],
  columns: [
    { path: 'token', kind: 'id' },
    { path: 'network', kind: 'text', priority: 2 },
    { path: 'number', kind: 'id', priority: 1 },
    { path: 'result_code', kind: 'status' },
  ],
};

/** A request that the sandbox had, or a delivery that it made. */
export interface SandboxRequestRow {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** How the sandbox's requests are shown. */
export const sandboxRequestView: View<SandboxRequestRow> = {
  name: 'request',
  fields: ['at', 'method', 'path', 'status', 'received', 'sent', 'key', 'application', 'event', 'aborted'],
  columns: [
    { path: 'at', kind: 'time', priority: 3 },
    { path: 'method', kind: 'text' },
    { path: 'path', kind: 'text', least: 32 },
    { path: 'status', kind: 'number', paint: (status) => (isRefusal(status) ? 'bad' : undefined) },
    { path: 'sent', header: 'bytes', kind: 'number', priority: 2 },
    { path: 'key', kind: 'text', priority: 1 },
    { path: 'application', kind: 'number', priority: 0 },
    { path: 'event', kind: 'text', priority: 0 },
  ],
};

/** The sandbox's time before and after it was moved. */
export interface SandboxClock {
  readonly before: string;
  readonly after: string;
  /** How far it is ahead of the machine's clock. */
  readonly ahead_seconds: number;
}

/** How the sandbox's time is shown. */
export const sandboxClockView: View<SandboxClock> = {
  name: 'clock',
  fields: ['before', 'after', 'ahead_seconds'],
  columns: [
    { path: 'before', kind: 'time' },
    { path: 'after', kind: 'time' },
    { path: 'ahead_seconds', kind: 'number' },
  ],
};

// 0 stands for no answer.
function isRefusal(status: unknown): boolean {
  return typeof status === 'number' && (status >= 400 || status === 0);
}

/** A card token of the sandbox for 3-D Secure. */
export interface SandboxThreeDsCardRow {
  readonly token: string;
  readonly token_intent: string;
  readonly network: string;
  /** Masked. */
  readonly number: string;
  readonly scenario: string;
}

/** How the sandbox's card tokens for 3-D Secure are shown. */
export const sandboxThreeDsCardView: View<SandboxThreeDsCardRow> = {
  name: 'card',
  fields: ['token', 'token_intent', 'network', 'number', 'scenario'],
  columns: [
    { path: 'token', kind: 'id' },
    { path: 'network', kind: 'text', priority: 1 },
    { path: 'scenario', kind: 'text' },
  ],
};
