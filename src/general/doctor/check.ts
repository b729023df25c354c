import { type ErrorCode, EXIT_CODES, isSvcError } from '../../base/errors.ts';

/** The time limit for a check that needs the service or a store, in milliseconds. */
export const LIMIT_MS = 8_000;

/** The result of a check. `skipped` stands for a check that was impossible or unnecessary. */
export type Result = 'ok' | 'warning' | 'failed' | 'skipped';

/** What a check found. */
export interface CheckOutcome {
  readonly result: Result;
  readonly found: string;
  /** The fix, where the check's own `cure` does not fit. */
  readonly fix?: string | undefined;
  readonly next?: readonly string[] | undefined;
  /** The error code of a `failed` check. */
  readonly code?: ErrorCode;
}

export interface Check {
  readonly name: string;
  /** Returns what was found, as a text if all is well; undefined if there is nothing to check. @throws SvcError for a failure */
  readonly try: () => CheckOutcome | string | undefined | Promise<CheckOutcome | string | undefined>;
  /** The usual fix of a warning or failure. */
  readonly cure?: string;
}

/** A tried check, as `svc doctor` shows it. */
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

export function skip(found: string): CheckOutcome {
  return { result: 'skipped', found };
}

export function warn(found: string, fix?: string): CheckOutcome {
  return { result: 'warning', found, fix };
}

export function fail(code: ErrorCode, found: string, fix?: string): CheckOutcome {
  return { result: 'failed', found, fix, code };
}

/** Fails a check with an error that occurred before the check. */
export function rethrow(error: unknown): never {
  throw error;
}

/** Tries a check. Returns no finding if there is nothing to check. @throws any error but an `SvcError` */
export async function findingsOf({ name, cure, ...check }: Check): Promise<Finding[]> {
  try {
    const tried = await check.try();
    if (tried === undefined) return [];
    if (typeof tried === 'string') return [{ check: name, result: 'ok', found: tried, fix: null, code: null }];
    const { result, found, fix = cure ?? null, next, code = null } = tried;
    const isWrong = result === 'warning' || result === 'failed';
    return [{ check: name, result, found, fix: isWrong ? fix : null, next, code }];
  } catch (error) {
    if (!isSvcError(error)) throw error;
    const { message, hint, next, code } = error;
    const fix = hint ?? cure ?? (next === undefined ? 'Run the command again with tracing.' : 'Run:');
    return [{ check: name, result: 'failed', found: message, fix, next, code }];
  }
}

/** Tries checks in parallel, and returns their findings in order. */
export async function findingsOfAll(checks: readonly Check[]): Promise<Finding[]> {
  return (await Promise.all(checks.map(findingsOf))).flat();
}

/** A finding of a failed check. */
export type Failure = Finding & { readonly code: ErrorCode };

/** Returns the first failure with the highest exit code; undefined if no check failed. */
export function worstOf(findings: readonly Finding[]): Failure | undefined {
  const failures = findings.filter((finding): finding is Failure => finding.code !== null);
  return failures.toSorted((a, b) => EXIT_CODES[b.code] - EXIT_CODES[a.code])[0];
}
