/** A half-open stretch of time, in epoch milliseconds. */
export interface Interval {
  readonly since: number;
  readonly until: number;
}

/** An hour in milliseconds. */
export const HOUR_MS = 3_600_000;

/** The beginning of the hour that a time lies in. Both in epoch milliseconds. */
export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}
