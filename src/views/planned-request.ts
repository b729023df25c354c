import type { View } from '../render/view.ts';

/** A request that `--dry-run` shows in place of sending it. */
export interface PlannedRequest {
  readonly method: string;
  readonly url: string;
  /** The kind of key that would go with it; none goes to a pre-signed address or a webhook's target. */
  readonly key: 'management' | 'private' | null;
  /** Bytes of a file that would be the body. */
  readonly bytes?: number | undefined;
  readonly body?: unknown;
}

/** How a request that was not sent is shown. */
export const plannedRequestView: View<PlannedRequest> = {
  name: 'request that was not sent',
  fields: ['method', 'url', 'key', 'bytes', 'body.*'],
  columns: [
    { path: 'method', kind: 'status' },
    { path: 'url', kind: 'id' },
    { path: 'key', kind: 'text' },
  ],
};
