/** What a receiver grants to whoever connects. Times in milliseconds. */
export interface ReceiverLimits {
  /** Bytes of a body. */
  readonly body: number;
  /** Until a request's headers are there. */
  readonly headersMs: number;
  /** Until the whole request is there. */
  readonly requestMs: number;
  /** Connections at a time. */
  readonly connections: number;
}

/** Events are small and their sender is in a hurry. */
export const RECEIVER_LIMITS: ReceiverLimits = {
  body: 1_000_000,
  headersMs: 10_000,
  requestMs: 20_000,
  connections: 500,
};
