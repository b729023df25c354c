/** Whether `digits` (0 to 9 only) is a card number: issued in a known range, of a length in use there, with a valid check digit. */
export function isCardNumber(digits: string): boolean {
  return (
    RANGES.some(
      ([fewest, most, prefix]) => digits.length >= fewest && digits.length <= most && prefix.test(digits),
    ) && hasCheckDigit(digits)
  );
}

/** Issuer ranges: the lengths in use, and the leading digits. Merchant numbers often have 15 digits, so lengths are kept tight. */
const RANGES: readonly [fewest: number, most: number, prefix: RegExp][] = [
  [13, 13, /^4/], // Visa, the old length
  [16, 16, /^4/],
  [19, 19, /^4/],
  [16, 16, /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/], // Mastercard
  [15, 15, /^3[47]/], // American Express
  [16, 19, /^(?:6011|64[4-9]|65)/], // Discover
  [14, 19, /^3(?:0|6|8|9)/], // Diners Club
  [16, 19, /^35(?:2[89]|[3-8])/], // JCB
  [16, 19, /^(?:62|81|82)/], // UnionPay, RuPay
  [13, 19, /^(?:50|5[6-8]|6)/], // Maestro and the domestic schemes beside it
  [16, 19, /^220[0-5]/], // Mir, Borica
  [15, 15, /^(?:1|2131)/], // UATP, the old JCB length
  [16, 16, /^(?:9792|8600|9860)/], // Troy, Uzcard, Humo
];

/** The Luhn check. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    const weighed = index % 2 === 1 ? digit * 2 : digit;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return sum % 10 === 0;
}
