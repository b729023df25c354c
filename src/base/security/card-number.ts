import { UUID_FORM } from '../../schema/uuid.ts';

/**
 * How strictly to search for payment card numbers: 13 to 19 digits of any script with a valid check digit (Luhn), in a range
 * from which a card network issues. Digits in UUIDs and hexadecimal digests never count.
 *
 * `text` is for output: digits must be grouped as people write cards, so that figures and dates stay. `cell` is for values
 * to send: any separators between the digits, leading zeros, and several adjoining card numbers count too.
 */
export type Strictness = 'text' | 'cell';

/** A card number found in a text: its position, and the masked form that may be shown. */
interface CardNumberMatch extends Span {
  /** The first six and the last four digits, with bullets between. */
  readonly masked: string;
}

// The last text without card numbers. A renderer checks each text before the redactor, which then need not check again.
let lastCleanText = '';

/** Whether `text` contains a card number. A text without digits costs one pass. */
export function containsCardNumber(text: string, strictness: Strictness = 'text'): boolean {
  if (strictness === 'cell') return inspectCell(text) === 'card_number';
  const isFound = runsIn(text).some((run) => search(text, run, strictness).length > 0);
  if (!isFound) lastCleanText = text;
  return isFound;
}

/**
 * Classifies the digits of a cell: a card number, digits that begin or end with a card number (as a third of all random ids of
 * 20 to 24 digits do), or neither.
 */
export function inspectCell(text: string): 'card_number' | 'attached_digits' | 'no_card_number' {
  const runs = runsIn(text);
  if (runs.some((run) => search(text, run, 'cell').length > 0 || hidesCardNumber(text, run))) return 'card_number';
  const isAttached = runs.some((run) =>
    run.some((group) => beginsOrEndsWithCard(group.digits) && !inDigest(text, group)),
  );
  return isAttached ? 'attached_digits' : 'no_card_number';
}

/** Replaces the middle of every card number by bullets. */
export function maskCardNumbers(text: string): string {
  if (text === lastCleanText) return text;
  let masked = '';
  let copied = 0;
  for (const match of runsIn(text).flatMap((run) => search(text, run, 'text'))) {
    masked += text.slice(copied, match.start) + match.masked;
    copied = match.end;
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

const MIN_DIGITS = 13;
const MAX_DIGITS = 19;
const MAX_WORD_LENGTH = 64;
/** The maximum length of a separator between two groups of digits, in visible characters. */
const MAX_GAP_LENGTH = 3;

const UUID = new RegExp(`(?<![0-9a-z])${UUID_FORM}(?![0-9a-z])`, 'gi');
const UUID_LENGTH = 36;

/** Finds all runs of digits that are long enough for a card number. */
function runsIn(text: string): Group[][] {
  const runs: Group[][] = [];
  let chain = nextChain(text, 0, MIN_DIGITS);
  for (; chain !== undefined; chain = nextChain(text, chain.end, MIN_DIGITS)) {
    for (const run of runsOf(text, digitGroups(text, chain))) runs.push(run);
  }
  return runs;
}

/** Divides groups into runs: a gap too wide for a card ends a run, and groups inside a UUID are left out. */
function runsOf(text: string, groups: readonly Group[]): Group[][] {
  const uuids = uuidsAround(text, groups);
  const runs: Group[][] = [[]];
  let next = 0;
  for (const group of groups) {
    while ((uuids[next]?.end ?? Infinity) <= group.start) next += 1;
    const inUuid = (uuids[next]?.start ?? Infinity) < group.end;
    if (inUuid || group.gap.length > MAX_GAP_LENGTH) runs.push([]);
    if (!inUuid) runs.at(-1)?.push(group);
  }
  return runs;
}

function uuidsAround(text: string, groups: readonly Group[]): Span[] {
  const from = Math.max(0, (groups[0]?.start ?? 0) - UUID_LENGTH - 1);
  const nearby = text.slice(from, (groups.at(-1)?.end ?? 0) + UUID_LENGTH + 1);
  const uuids: Span[] = [];
  UUID.lastIndex = 0;
  for (let match = UUID.exec(nearby); match !== null; match = UUID.exec(nearby))
    uuids.push({ start: from + match.index, end: from + match.index + UUID_LENGTH });
  return uuids;
}

/** Finds the card numbers of one run, from left to right, the longest at each position. */
function search(text: string, run: readonly Group[], strictness: Strictness): CardNumberMatch[] {
  const found: CardNumberMatch[] = [];
  for (let first = 0; first < run.length; first += 1) {
    const groups = run.slice(first, first + longest(text, run, first, strictness));
    const start = groups[0]?.start;
    const end = groups.at(-1)?.end;
    if (start === undefined || end === undefined) continue;
    found.push({ start, end, masked: mask(groups.map((group) => group.digits).join('')) });
    first += groups.length - 1;
  }
  return found;
}

/** Counts the groups of the longest card number that begins at `first`; 0 for none. */
function longest(text: string, run: readonly Group[], first: number, strictness: Strictness): number {
  let digits = '';
  let length = 0;
  for (let last = first; last < run.length; last += 1) {
    digits += run[last]?.digits ?? '';
    if (digits.length > MAX_DIGITS) break;
    if (!isCardNumber(digits)) continue;
    const groups = run.slice(first, last + 1);
    if (standsAsCard(text, run, first, groups, strictness)) length = groups.length;
  }
  return length;
}

/**
 * Whether a group of digits, or the whole run without digests, consists of card numbers, or of a card number and a date. Ignores
 * leading zeros.
 */
function hidesCardNumber(text: string, run: readonly Group[]): boolean {
  const groups = run.filter((group) => !inDigest(text, group)).map(({ digits }) => digits);
  const all = groups.length > 1 ? [groups.join('')] : [];
  return [...groups, ...all].some((padded) => {
    const digits = withoutZeros(padded);
    return isAllCardNumbers(digits) || isDatedCardNumber(digits);
  });
}

function withoutZeros(padded: string): string {
  return padded.replace(/^0+/, '');
}

const YEAR = '[2-4][0-9]';
const MONTH = '(?:0[1-9]|1[0-2])';
const DAY = '(?:0[1-9]|[12][0-9]|3[01])';
/** MMYY, YYMM, MMYYYY or YYYYMM. */
const DATE_BEHIND = new RegExp(`^(?:${MONTH}(?:20)?${YEAR}|(?:20)?${YEAR}${MONTH})$`);
/** YYYYMM or YYYYMMDD. */
const DATE_BEFORE = new RegExp(`^20${YEAR}${MONTH}(?:${DAY})?$`);

/**
 * Whether the digits are a card number and a date from 2020 to 2049. With any further digits instead of a date, a third of all
 * long ids would count as card numbers; with a date, one in a thousand ids of 20 to 24 digits does.
 */
function isDatedCardNumber(digits: string): boolean {
  const isBehind = [4, 6].some(
    (length) => DATE_BEHIND.test(digits.slice(-length)) && isCardNumber(digits.slice(0, -length)),
  );
  return (
    isBehind || [6, 8].some((length) => DATE_BEFORE.test(digits.slice(0, length)) && isCardNumber(digits.slice(length)))
  );
}

function beginsOrEndsWithCard(padded: string): boolean {
  const digits = withoutZeros(padded);
  for (let length = MIN_DIGITS; length <= MAX_DIGITS && length < digits.length; length += 1)
    if (isCardNumber(digits.slice(0, length)) || isCardNumber(digits.slice(-length))) return true;
  return false;
}

function isAllCardNumbers(digits: string): boolean {
  // Positions up to which the digits consist of adjoining card numbers.
  const ends = new Set([0]);
  for (const start of ends) {
    for (let length = MIN_DIGITS; length <= MAX_DIGITS; length += 1)
      if (isCardNumber(digits.slice(start, start + length))) ends.add(start + length);
  }
  return digits !== '' && ends.has(digits.length);
}

function standsAsCard(
  text: string,
  run: readonly Group[],
  first: number,
  groups: readonly Group[],
  strictness: Strictness,
): boolean {
  const [only] = groups;
  if (groups.length === 1 && only !== undefined) return !inDigest(text, only) && !isFraction(run, first);
  return isUsualGrouping(groups) && (strictness === 'cell' || areUsualGaps(groups));
}

/** Whether the digits are part of a hexadecimal id or digest. One in some thousand digests contains a card number by chance. */
function inDigest(text: string, { start, end }: Span): boolean {
  const before = /[0-9a-z]*$/i.exec(text.slice(Math.max(0, start - MAX_WORD_LENGTH), start));
  const after = /^[0-9a-z]*/i.exec(text.slice(end, end + MAX_WORD_LENGTH));
  const word = (before?.[0] ?? '') + text.slice(start, end) + (after?.[0] ?? '');
  return word.length > end - start && /^[0-9a-f]{24,}$/i.test(word);
}

/** Whether the group contains the decimals of a number such as 0.4111111111111111. */
function isFraction(run: readonly Group[], at: number): boolean {
  const whole = run[at - 1];
  return run[at]?.gap === '.' && whole !== undefined && whole.digits.length <= 4 && run[at + 1]?.gap !== '.';
}

/** Whether digits are grouped as on cards: equal groups and a rest, as in 4-4-4-4 and 4-4-4-4-3, or a known unequal grouping. */
function isUsualGrouping(groups: readonly Group[]): boolean {
  const sizes = groups.map((group) => group.digits.length);
  const [size = 0] = sizes;
  const equal = size <= 8 && sizes.every((own, at) => own === size || (own < size && at === sizes.length - 1));
  return equal || UNEQUAL_GROUPINGS.has(sizes.join('-'));
}

const UNEQUAL_GROUPINGS: ReadonlySet<string> = new Set(['4-6-5', '4-6-4', '4-4-5', '4-12', '6-10', '6-9', '6-13']);

/** Whether all groups have the same usual separator between them: one character, or a dash with spaces around it. */
function areUsualGaps([, ...rest]: readonly Group[]): boolean {
  const gap = rest[0]?.gap ?? '';
  const usual = gap.length === 1 ? characterTypes[gap.charCodeAt(0)] === JOINT : is(gap, String.raw`^ \p{Pd} $`);
  return usual && rest.every((group) => group.gap === gap);
}

function mask(digits: string): string {
  return digits.slice(0, 6) + '\u2022'.repeat(digits.length - 10) + digits.slice(-4);
}

/** Whether `digits` (0 to 9 only) is a card number: in a known range, of a length in use there, with a valid check digit. */
function isCardNumber(digits: string): boolean {
  if (digits.length < MIN_DIGITS || digits.length > MAX_DIGITS) return false;
  const prefix = Number(digits.slice(0, 4));
  const lengths = (issuedLengths[prefix] ||= lengthsFor(digits));
  return ((lengths >> digits.length) & 1) === 1 && hasCheckDigit(digits);
}

/** Indexed by the first four digits: a bit for each length in use; bit 0 marks known prefixes. */
const issuedLengths = new Uint32Array(10_000);

function lengthsFor(digits: string): number {
  let lengths = 1;
  for (const [fewest, most, prefix] of RANGES) {
    if (!prefix.test(digits)) continue;
    for (let length = fewest; length <= most; length += 1) lengths |= 1 << length;
  }
  return lengths;
}

/** Issuer ranges: the lengths in use, and the leading digits. Lengths are exact because merchant numbers often have 15 digits. */
const RANGES: readonly [fewest: number, most: number, prefix: RegExp][] = [
  [13, 13, /^4/], // Visa, the old length
  [16, 16, /^4/],
  [19, 19, /^4/],
  [16, 16, /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/], // Mastercard
  [15, 15, /^3[47]/], // American Express
  [14, 19, /^3(?:0|6|8|9)/], // Diners Club
  [16, 19, /^35(?:2[89]|[3-8])/], // JCB
  [13, 19, /^(?:50|5[6-8]|6)/], // Maestro and the domestic schemes beside it, Discover, UnionPay, RuPay
  [16, 19, /^8[12]/], // UnionPay, RuPay
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

/** A stretch of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Adjoining digits, and the separator before them. */
export interface Group {
  readonly start: number;
  end: number;
  digits: string;
  readonly gap: string;
}

// The types of UTF-16 units; 0 is not looked up yet. A digit is DIGIT plus its value.
const BREAK = 1;
const JOINT = 2; // separates digits in a card as written by people
const OTHER = 3; // separates digits in a cell only
const INVISIBLE = 4;
const DIGIT = 16;
/** By code point, for the two planes in use. */
const characterTypes = new Uint8Array(0x2_0000);

/**
 * Finds the next span from `from` with at least `fewest` digits and no letter or line end between them. Looks at the last of
 * `fewest` characters first, for speed: a letter there excludes all characters before.
 */
function nextChain(text: string, from: number, fewest: number): Span | undefined {
  for (let start = from; start + fewest <= text.length;) {
    const stop = lastBreak(text, start, start + fewest);
    const chain = stop === undefined ? chainAt(text, start) : undefined;
    if (chain !== undefined && chain.digits >= fewest) return chain;
    start = (chain?.end ?? stop ?? start) + 1;
  }
  return undefined;
}

function lastBreak(text: string, start: number, end: number): number | undefined {
  for (let index = end - 1; index >= start; index -= 1) {
    const unit = text.charCodeAt(index);
    if ((characterTypes[unit] || characterType(text, index, unit)) === BREAK) return index;
  }
  return undefined;
}

function chainAt(text: string, start: number): Span & { digits: number } {
  let digits = 0;
  for (let index = start; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const kind = characterTypes[unit] || characterType(text, index, unit);
    if (kind === BREAK) return { start, end: index, digits };
    if (kind >= DIGIT) digits += 1;
  }
  return { start, end: text.length, digits };
}

function characterType(text: string, index: number, unit: number): number {
  if (unit >= 0xdc00 && unit <= 0xdfff) return INVISIBLE; // counted with its first half
  const point = text.codePointAt(index) ?? unit;
  const kind = characterTypes[point] || classify(String.fromCodePoint(point), point);
  characterTypes[point] = kind;
  return kind;
}

function classify(character: string, point: number): number {
  if (point < 0x80) return classifyAscii(character);
  if (is(character, DECIMAL)) return DIGIT + digitValue(point);
  const plain = character.normalize('NFKC');
  if (/^[0-9]$/.test(plain)) return DIGIT + Number(plain);
  if (is(character, String.raw`[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]`)) return INVISIBLE;
  if (is(character, String.raw`[\p{L}\p{N}\p{Zl}\p{Zp}\u2022]`)) return BREAK; // the bullet is our own mask
  return is(character, String.raw`[\p{Zs}\p{Pd}\u2212\u00B7]`) ? JOINT : OTHER;
}

function classifyAscii(character: string): number {
  if (/\d/.test(character)) return DIGIT + Number(character);
  if (/[a-z\r\n]/i.test(character)) return BREAK;
  return /[ ._/+-]/.test(character) ? JOINT : OTHER;
}

const DECIMAL = String.raw`\p{Nd}`;

// A literal with Unicode properties would cost every start a millisecond, since V8 parses it with its file.
function is(text: string, form: string): boolean {
  return new RegExp(form, 'u').test(text);
}

/** Returns the value of a digit. Unicode lists the decimal digits of each script in order, from zero. */
function digitValue(point: number): number {
  let first = point;
  while (is(String.fromCodePoint(first - 1), DECIMAL)) first -= 1;
  return (point - first) % 10;
}

/** Splits a span into groups of digits. Invisible characters do not separate them. */
function digitGroups(text: string, chain: Span): Group[] {
  const groups: Group[] = [];
  let open: Group | undefined;
  let gap = '';
  for (let index = chain.start; index < chain.end; index += 1) {
    const unit = text.charCodeAt(index);
    const kind = characterTypes[unit] || characterType(text, index, unit);
    if (kind === INVISIBLE) {
      if (open !== undefined) open.end = index + 1;
    } else if (kind >= DIGIT) {
      if (open === undefined) {
        open = { start: index, end: index, digits: '', gap };
        groups.push(open);
      }
      open.digits += String(kind - DIGIT);
      open.end = index + 1;
      gap = '';
    } else {
      open = undefined;
      gap += String.fromCharCode(unit);
    }
  }
  return groups;
}
