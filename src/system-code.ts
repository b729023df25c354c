/** The system's name of a failure (`ENOENT`, `ENOSPC` …), or undefined for any other error. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
