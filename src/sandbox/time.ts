/** ISO 8601 with milliseconds, as jobs carry it. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** ISO 8601 in whole seconds, as logs carry it. */
export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
