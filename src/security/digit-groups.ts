/** A stretch of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Digits with nothing between them, and the separator that stands before them. */
export interface Group {
  readonly start: number;
  end: number;
  digits: string;
  readonly gap: string;
}

// What a UTF-16 unit is to the scan; 0 is not looked up yet. A digit is DIGIT plus its value.
const BREAK = 1;
const JOINT = 2; // separates digits in a card as written by people
const OTHER = 3; // separates digits in a cell only
const INVISIBLE = 4;
const DIGIT = 16;
/** By code point, for the two planes in use. */
const characterTypes = new Uint8Array(0x2_0000);

/**
 * The next stretch of `text` from `from` on that holds at least `fewest` digits, with no letter or line end
 * between them; undefined where there is none. All clean text runs through here, so it is searched from
 * behind: a letter at the end of `fewest` signs rules them all out at one look.
 */
export function nextChain(text: string, from: number, fewest: number): Span | undefined {
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
  if (/\p{Nd}/u.test(character)) return DIGIT + digitValue(point);
  const plain = character.normalize('NFKC');
  if (/^[0-9]$/.test(plain)) return DIGIT + Number(plain);
  if (/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(character)) return INVISIBLE;
  if (/[\p{L}\p{N}\p{Zl}\p{Zp}\r\n\u2022]/u.test(character)) return BREAK; // the bullet is our own mask
  return /[\p{Zs}\p{Pd}\u2212._/\u00B7+]/u.test(character) ? JOINT : OTHER;
}

/** Decimal digits stand in Unicode in tens, from zero up, without gaps between tens that touch. */
function digitValue(point: number): number {
  let first = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return (point - first) % 10;
}

/** The groups of digits in a stretch. Signs that nobody sees do not part them. */
export function digitGroups(text: string, chain: Span): Group[] {
  const groups: Group[] = [];
  let open: Group | undefined;
  let gap = '';
  for (let index = chain.start; index < chain.end; index += 1) {
    const unit = text.charCodeAt(index);
    const kind = characterTypes[unit] || characterType(text, index, unit);
    if (kind === INVISIBLE) {
      if (open !== undefined) open.end = index + 1;
    } else if (kind >= DIGIT) {
      if (open === undefined) groups.push((open = { start: index, end: index, digits: '', gap }));
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

/** Whether one sign stands between the digits of a card as people write it. */
export function isJoint(sign: string): boolean {
  return characterTypes[sign.charCodeAt(0)] === JOINT;
}
