/**
 * Reads a `Retry-After` header: whole or decimal seconds, or an HTTP date, which is compared with the
 * service's own clock. Where it was sent several times, joined with commas, the longest counts.
 * Anything else, and anything in the past, counts as not given.
 * @returns milliseconds to wait, or undefined
 */
export function retryAfterMs(header: string | undefined, serviceNow: number): number | undefined {
  // A date has a comma of its own, after the name of its day.
  const parts = header?.match(/(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,\s[^,]+|[^,]+/gi) ?? [];
  const pauses = parts.map((part) => pauseOf(part.trim(), serviceNow)).filter((ms) => ms !== undefined);
  return pauses.length === 0 ? undefined : Math.max(...pauses);
}

function pauseOf(text: string, serviceNow: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  // The oldest of the three forms of a date names no zone: it is GMT like the others.
  const at = Date.parse(/:\d\d \d{4}$/.test(text) ? `${text} GMT` : text);
  // A date has whole seconds: wait to the end of that second rather than undercut it.
  return Number.isNaN(at) || at <= serviceNow ? undefined : at + 999 - serviceNow;
}
