import { type ErrorCode, EXIT_CODES, isSvcError } from '../../base/errors.ts';

/** The result of a check. `skipped` means that it was impossible or unnecessary. */
export type Result = 'ok' | 'warning' | 'failed' | 'skipped';

export interface Finding {
  readonly check: string;
  readonly result: Result;
  readonly found: string;
  /** The fix; null if nothing needs fixing. */
  readonly fix: string | null;
  readonly next?: readonly string[] | undefined;
  /** The error code of a `failed` check. */
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

/** Returns the finding for a failure, with its fix. Rethrows anything but an `SvcError`. */
export function failedBy(check: string, error: unknown): Finding {
  if (!isSvcError(error)) throw error;
  const { message, hint, next, code } = error;
  const fix = hint ?? (next === undefined ? 'Run the command again with tracing.' : 'Run:');
  return { ...failed(check, message, fix, code), next };
}

/** A finding of a failed check. */
export type Failure = Finding & { readonly code: ErrorCode };

/** Returns the first failure with the highest exit code; undefined if no check failed. */
export function worstOf(findings: readonly Finding[]): Failure | undefined {
  const failures = findings.filter((finding): finding is Failure => finding.code !== null);
  return failures.toSorted((a, b) => EXIT_CODES[b.code] - EXIT_CODES[a.code])[0];
}
