import { wrapWords } from './wrap.ts';

const NARROWEST = 20;

/**
 * Text behind a lead, broken between words so that it fits `columns` and stays under itself. Where hardly anything
 * would fit there, it goes on a line of its own below. `lead` is `leadWidth` columns wide, escapes aside.
 */
export function hangText(lead: string, leadWidth: number, text: string, columns: number): string {
  const fits = columns - leadWidth >= NARROWEST;
  const indent = ' '.repeat(fits ? leadWidth : 4);
  const lines = wrapWords(text, Math.max(NARROWEST, columns - indent.length));
  return fits
    ? lead + lines.join(`\n${indent}`)
    : [lead.trimEnd(), ...lines.map((line) => indent + line)].join('\n');
}
