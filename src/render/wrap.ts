/** `text` in lines of at most `width` characters, broken at spaces; what stands between quotes stays whole, to be copied. */
export function wrapWords(text: string, width: number): string[] {
  const words = text.match(/(?:(?<![^\s(])'svc [^']*'|\S)+/g) ?? [];
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
