// Wraps sentences for people.

/** Wraps a text at spaces to lines of at most `width` characters. Does not break a quoted command, so that it can be copied. */
export function wrapWords(text: string, width: number): string[] {
  // A word, or a quoted command such as 'svc login' at the start or after a space or parenthesis.
  const words = text.match(/(?:(?<![^\s(])'svc [^']*'|\S)+/g) ?? [];
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

const MIN_TEXT_COLUMNS = 20;

/**
 * Returns a lead and a text, which is wrapped to `columns` and indented to the end of the lead. If fewer than 20 columns are
 * left beside the lead, the text begins on the next line. `leadWidth` is the width of the lead without escapes.
 */
export function hangingIndent(lead: string, leadWidth: number, text: string, columns: number): string {
  const fits = columns - leadWidth >= MIN_TEXT_COLUMNS;
  const indent = ' '.repeat(fits ? leadWidth : 4);
  const lines = wrapWords(text, Math.max(MIN_TEXT_COLUMNS, columns - indent.length));
  return fits ? lead + lines.join(`\n${indent}`) : [lead.trimEnd(), ...lines.map((line) => indent + line)].join('\n');
}
