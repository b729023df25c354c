import type { View } from '../render/view.ts';

/** A sandbox that listens. Its keys are fixed and no secret. */
export interface SandboxReady {
  readonly url: string;
  readonly management_key: string;
  readonly private_key: string;
  readonly directory: string;
}

/** How a listening sandbox is shown. */
export const sandboxReadyView: View<SandboxReady> = {
  name: 'sandbox',
  fields: ['url', 'management_key', 'private_key', 'directory'],
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
