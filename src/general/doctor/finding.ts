import { type ErrorCode, EXIT_CODES, isSvcError } from '../../base/errors.ts';

/** How a check ended. `skipped`: it could not be made, or there was no need. */
export type Result = 'ok' | 'warning' | 'failed' | 'skipped';

export interface Finding {
  readonly check: string;
  readonly result: Result;
  readonly found: string;
  /** What to do about it; null where there is nothing to do. */
  readonly fix: string | null;
  readonly next?: readonly string[] | undefined;
  /** The failure, for `failed`. */
  readonly code: ErrorCode | null;
}

export function ok(check: string, found: string): Finding {
  return { check, result: 'ok', found, fix: null, code: null };
}

export function skipped(check: string, found: string): Finding {
  return { check, result: 'skipped', found, fix: null, code: null };
}

export function warning(check: string, found: string, fix: string): Finding {
  return { check, result: 'warning', found, fix, code: null };
}

export function failed(check: string, found: string, fix: string, code: ErrorCode): Finding {
  return { check, result: 'failed', found, fix, code };
}

/** The finding for a failure, which says what to do. Anything but an `SvcError` is rethrown. */
export function failedBy(check: string, error: unknown): Finding {
  if (!isSvcError(error)) throw error;
  const { message, hint, next, code } = error;
  const fix = hint ?? (next === undefined ? 'Run the command again with tracing.' : 'Run:');
  return { ...failed(check, message, fix, code), next };
}

/** 0, or the highest exit code among what failed. */
export function exitCodeOf(findings: readonly Finding[]): number {
  return Math.max(0, ...findings.map(({ code }) => (code === null ? 0 : EXIT_CODES[code])));
}
