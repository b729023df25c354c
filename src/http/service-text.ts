import { maskCardNumbers } from '../card-number.ts';

const MAX_LENGTH = 300;

/**
 * Makes one line for people of text that came from elsewhere: no control, format or bidirectional characters, no
 * card number, no query of an address (it may be a signature), at most 300 characters.
 */
export function plainLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]+/gu, ' ').trim();
  return cut(maskCardNumbers(hideQueries(line)));
}

/** What a body that is no JSON object says of itself, or undefined where it says nothing. */
export function describeText(body: string, contentType: string | undefined): string | undefined {
  if (/html/i.test(contentType ?? '') || /^\s*<(!doctype|html)/i.test(body)) return describePage(body);
  if (looksBinary(body)) return 'a body that is not text';
  if (/^\s*[[{]/.test(body)) return 'a JSON body that is cut off or damaged';
  const line = plainLine(body);
  return line === '' ? undefined : line;
}

/** Cuts to 300 UTF-16 units, never amid a character. */
export function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, MAX_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function describePage(body: string): string {
  const title = /<title[^>]{0,100}>([^<]{1,1000})/i.exec(body.slice(0, 20_000))?.[1] ?? '';
  const line = plainLine(title);
  return `a web page instead of JSON${line === '' ? '' : `: «${line}»`}`;
}

function looksBinary(body: string): boolean {
  const start = body.slice(0, 1_000);
  const odd = start.match(/(?!\s)\p{Cc}|\uFFFD/gu)?.length ?? 0;
  return odd * 10 > start.length;
}

function hideQueries(text: string): string {
  return text.replace(/(\bhttps?:\/\/[^\s?#"'<>]+)[?#][^\s"'<>]*/gi, '$1?…');
}
