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
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), Number.MAX_SAFE_INTEGER);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  // The oldest of the three forms of a date names no zone: it is GMT like the others.
  const at = Date.parse(/:\d\d \d{4}$/.test(text) ? `${text} GMT` : text);
  // A date has whole seconds: wait to the end of that second rather than undercut it.
  return Number.isNaN(at) || at <= serviceNow ? undefined : at + 999 - serviceNow;
}

const LONGEST_NAMED_S = 86_400;

/** What to say of a pause that is longer than allowed. One of more than a day is not worth naming, or allowing. */
export function longPause(ms: number): { words: string; hint: string; facts: { retry_after_s: number } } {
  const seconds = Math.ceil(ms / 1000);
  const facts = { retry_after_s: seconds };
  if (seconds <= LONGEST_NAMED_S) {
    const hint = `Run the command again in ${seconds} s, or allow the pause with --max-wait ${seconds}s.`;
    return { words: `${seconds} s`, hint, facts };
  }
  return {
    words: 'more than a day',
    hint: "Run the command again later, and contact the service's support if it still asks for this.",
    facts,
  };
}
