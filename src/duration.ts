const UNITS_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Reads `90s`, `15m`, `1h30m`, `7d`: whole numbers with units, largest first. Milliseconds, or undefined. */
export function parseDuration(text: string): number | undefined {
  const parts = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text);
  if (parts === null || text === '') return undefined;
  const sizes = Object.values(UNITS_MS);
  const ms = parts.slice(1).reduce((sum, part, at) => sum + Number(part ?? 0) * (sizes[at] ?? 0), 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}
