export const IS_SOAK = process.env['SOAK'] !== undefined;

/** Returns how many cases a property tries: all in a soak, and a tenth in a fast test. */
export function cases(inSoak: number): number {
  return IS_SOAK ? inSoak : inSoak / 10;
}
