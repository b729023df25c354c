const NARROWEST = 20;

/**
 * Text behind a lead, broken between words so that it fits `columns` and stays under itself. Where hardly anything
 * would fit there, it goes on a line of its own below. `lead` is `leadWidth` columns wide, escapes aside.
 */
export function hangText(lead: string, leadWidth: number, text: string, columns: number): string {
  const fits = columns - leadWidth >= NARROWEST;
  const indent = ' '.repeat(fits ? leadWidth : 4);
  const lines = breakWords(text, Math.max(NARROWEST, columns - indent.length));
  return fits
    ? lead + lines.join(`\n${indent}`)
    : [lead.trimEnd(), ...lines.map((line) => indent + line)].join('\n');
}

/** A word longer than the width gets a line of its own. */
function breakWords(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
