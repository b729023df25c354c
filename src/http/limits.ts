/** How long each stage of one exchange may take, in milliseconds. */
export interface TimeLimits {
  /** Name look-up, connection, TLS and a proxy's tunnel together. */
  readonly connect: number;
  /** From the last byte sent to the answer's headers. */
  readonly headers: number;
  /** Longest silence while a body flows, either way. */
  readonly idle: number;
  /** The whole body of an answer; Infinity where its size is not bounded. */
  readonly body: number;
}

/** Limits for the service's own endpoints. */
export const API_LIMITS: TimeLimits = { connect: 10_000, headers: 30_000, idle: 30_000, body: 60_000 };

/** Limits for files: as long as bytes keep coming, no bound on the whole. */
export const FILE_LIMITS: TimeLimits = { connect: 10_000, headers: 60_000, idle: 30_000, body: Infinity };
