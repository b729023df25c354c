const NOT_SHOWN = '(not shown: it may be a secret)';

/**
 * Formats a word of the command line for an error: in quotes if it cannot be a secret pasted into the wrong place. Safe
 * words consist of a few letters, hyphens, dots and underscores, or are within two edits of a known word.
 */
export function typedWord(word: string, known: Iterable<string> = []): string {
  return isShowable(word, known) ? `"${word}"` : NOT_SHOWN;
}

/** Formats an option for an error like `typedWord`; of `--option=value` only the name. */
export function typedOption(text: string, known: Iterable<string> = []): string {
  const [name = ''] = text.split('=', 1);
  return typedWord(name, known);
}

/** Whether a typed word cannot be a secret. */
export function isShowable(word: string, known: Iterable<string> = []): boolean {
  if (/^[a-z._-]{1,20}$/i.test(word)) return true;
  // A word within two edits of a known one differs from it by two characters at most, so it cannot contain a secret.
  return /^[\x21-\x7e]+$/.test(word) && Array.from(known).some((name) => editDistance(word, name) <= 2);
}

/**
 * Finds the candidate that a typed word begins or is most similar to; undefined when none is similar enough. With `most`,
 * only a candidate within so many edits.
 */
export function nearest(word: string, candidates: Iterable<string>, most?: number): string | undefined {
  const begun =
    word.length < 3 || most !== undefined ? [] : Array.from(candidates).filter((one) => one.startsWith(word));
  if (begun.length === 1) return begun[0];
  let best: string | undefined;
  let bestDistance = (most ?? Math.max(1, Math.min(3, Math.floor(word.length / 2.5)))) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Asks about the known word that a typed one is like, if there is one. */
export function didYouMean(typed: string, known: Iterable<string>): string | undefined {
  const meant = nearest(typed, known);
  return meant === undefined ? undefined : questionOf(meant);
}

/** Asks about what was probably meant. */
export function questionOf(meant: string): string {
  return `Did you mean '${meant}'?`;
}

/** Joins sentences of which some may be missing, such as the question of `didYouMean`. */
export function sentences(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join(' ');
}

/** Counts insertions, deletions, replacements and swapped neighbors; infinite if the lengths differ by more than 3. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 3) return Infinity;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
