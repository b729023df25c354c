export const IS_SOAK = process.env['SOAK'] !== undefined;

/** Returns how many cases a property tries: all in a soak, a tenth in a slow test, and at least 30 in a fast one. */
export function cases(inSoak: number): number {
  if (IS_SOAK) return inSoak;
  return process.env['PROPERTY'] === 'fast' ? Math.max(30, inSoak / 100) : inSoak / 10;
}
