import { EXIT_CODES, type ErrorCode, isSvcError, SvcError } from '../errors.ts';

/** How a check ended. `skipped`: it could not be made, or there was no need. */
export type Result = 'ok' | 'warning' | 'failed' | 'skipped';

/** What a check found. */
export interface Finding {
  readonly check: string;
  readonly result: Result;
  /** What is so, on one line. */
  readonly found: string;
  /** What to do about it; null where nothing is to be done. */
  readonly mend: string | null;
  /** The failure, for `failed`. */
  readonly code: ErrorCode | null;
}

/** All is well. */
export function ok(check: string, found: string): Finding {
  return { check, result: 'ok', found, mend: null, code: null };
}

/** Not tried, and why. */
export function skipped(check: string, found: string): Finding {
  return { check, result: 'skipped', found, mend: null, code: null };
}

/** It works, but somebody should look into it. */
export function warning(check: string, found: string, mend: string): Finding {
  return { check, result: 'warning', found, mend, code: null };
}

/** It does not work. */
export function failed(check: string, found: string, mend: string, code: ErrorCode): Finding {
  return { check, result: 'failed', found, mend, code };
}

/** The finding for a failure that says itself what to do. What is no `SvcError` is thrown on. */
export function failedBy(check: string, error: unknown): Finding {
  if (!isSvcError(error)) throw error;
  return failed(check, error.message, error.hint ?? 'Run the command again with --debug.', error.code);
}

/** 0, or the highest exit code among what failed. */
export function exitCodeOf(findings: readonly Finding[]): number {
  return Math.max(0, ...findings.map(({ code }) => (code === null ? 0 : EXIT_CODES[code])));
}

/** The failure of a check that is not done when its time is up. */
export function timeUp(seconds: number): SvcError {
  return new SvcError('network', `no answer within ${seconds} s`, {
    hint: 'Check your network and proxy settings, then run the command again.',
  });
}
