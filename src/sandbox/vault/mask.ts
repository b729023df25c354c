/** A card number with all hidden but the first six and the last four digits. */
export function maskedNumber(firstSix: string, lastFour: string, length: number): string {
  return firstSix + '*'.repeat(length - 10) + lastFour;
}
