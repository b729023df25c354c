/**
 * Reads a `Retry-After` header: whole or decimal seconds, or an HTTP date, which is compared with the
 * service's own clock. Anything else, and anything in the past, counts as not given.
 * @returns milliseconds to wait, or undefined
 */
export function retryAfterMs(header: string | undefined, serviceNow: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const at = Date.parse(text);
  // A date has whole seconds: wait to the end of that second rather than undercut it.
  return Number.isNaN(at) || at <= serviceNow ? undefined : at + 999 - serviceNow;
}
