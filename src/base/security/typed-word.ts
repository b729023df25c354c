const NOT_SHOWN = '(not shown: it may be a secret)';

/**
 * Formats a word of the command line for an error, in quotes. Hides a word that may be a secret pasted into the wrong place.
 * Safe words consist of a few letters, hyphens, dots and underscores, or are within two edits of a known word.
 */
export function typedWord(word: string, known: Iterable<string> = []): string {
  return isShowable(word, known) ? `"${word}"` : NOT_SHOWN;
}

/** Formats the name of an option for an error, like `typedWord`. Leaves out the value of `--option=value`. */
export function typedOption(text: string, known: Iterable<string> = []): string {
  const [name = ''] = text.split('=', 1);
  return typedWord(name, known);
}

/** Whether a typed word cannot be a secret. */
export function isShowable(word: string, known: Iterable<string> = []): boolean {
  if (/^[a-z._-]{1,20}$/i.test(word)) return true;
  // A word within two edits of a known word cannot contain a secret.
  return /^[\x21-\x7e]+$/.test(word) && Array.from(known).some((name) => editDistance(word, name) <= 2);
}

/**
 * Finds the candidate that a typed word abbreviates or resembles most; undefined for a word without a similar candidate. With
 * `maxEdits`, finds only a candidate within this number of edits.
 */
export function nearest(word: string, candidates: Iterable<string>, maxEdits?: number): string | undefined {
  const abbreviated =
    word.length < 3 || maxEdits !== undefined ? [] : Array.from(candidates).filter((one) => one.startsWith(word));
  if (abbreviated.length === 1) return abbreviated[0];
  let best: string | undefined;
  let bestDistance = (maxEdits ?? Math.max(1, Math.min(3, Math.floor(word.length / 2.5)))) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Asks whether the user meant the known word that resembles the typed word; undefined without such a word. */
export function didYouMean(typed: string, known: Iterable<string>): string | undefined {
  const meant = nearest(typed, known);
  return meant === undefined ? undefined : questionOf(meant);
}

/** Asks whether the user meant a word. */
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
