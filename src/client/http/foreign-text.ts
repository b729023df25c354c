// Makes text from servers safe to show.

import { maskCardNumbers } from '../../base/security/card-number.ts';

const MAX_LENGTH = 300;
const MAX_READ = 100_000;
/** Enough to find the words behind a long address. */
const MAX_LINE = 5_000;
/** What may be the beginning of a card number: more than its length with separators. */
const CUT_DIGITS = String.raw`\P{L}{1,100}$`;

/**
 * Reduces a text to one line of at most 300 characters, without control, format or bidirectional characters, card numbers, and
 * queries of addresses, which may contain signatures.
 */
export function plainLine(text: string): string {
  const start = text.slice(0, MAX_READ).replace(new RegExp(String.raw`[\s\p{C}]+`, 'gu'), ' ');
  const line = maskCardNumbers(start.trim().slice(0, MAX_LINE));
  const isCut = text.length > MAX_READ || start.length > MAX_LINE;
  return cut(hideQueries(isCut ? line.replace(new RegExp(CUT_DIGITS, 'u'), '') : line));
}

/** Cuts a text to 300 UTF-16 units, never within a character. */
export function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, MAX_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Returns an id of a request; undefined for a value that is no plain id. */
export function plainId(id: unknown): string | undefined {
  return typeof id === 'string' && /^[\w.:|/+=-]{1,128}$/.test(id) ? id : undefined;
}

/** The headers in which servers send their ids of requests, those of stores first. */
const ID_HEADERS = [
  'x-amz-request-id',
  'x-ms-request-id',
  'x-guploader-uploadid',
  'x-request-id',
  'x-trace-id',
  'trace-id',
  'x-correlation-id',
  'cf-ray',
];

/** Returns the server's id of a request, for a support case. */
export function requestIdOf(header: (name: string) => string | undefined): string | undefined {
  return plainId(ID_HEADERS.map((name) => header(name)).find((id) => id !== undefined));
}

/** Describes a body that is not a JSON object; undefined for a body without text. */
export function describeText(body: string, contentType: string | undefined): string | undefined {
  if (/html/i.test(contentType ?? '') || /^\s*<(!doctype|html)/i.test(body)) return describePage(body);
  if (looksBinary(body)) return 'a body that is not text';
  if (/^\s*[[{]/.test(body)) return 'a JSON body that is cut off or damaged';
  const line = plainLine(body);
  return line === '' ? undefined : line;
}

function describePage(body: string): string {
  const title = /<title[^>]{0,100}>([^<]{1,1000})/i.exec(body.slice(0, 20_000))?.[1] ?? '';
  const line = plainLine(title);
  return `a web page instead of JSON${line === '' ? '' : `: «${line}»`}`;
}

/** Whether more than a tenth of the first characters are control or replacement characters. */
function looksBinary(body: string): boolean {
  const start = body.slice(0, 1_000);
  const unreadable = start.match(/[^\s -~\u00A0-\uFFFF]|\uFFFD/g)?.length ?? 0;
  return unreadable * 10 > start.length;
}

function hideQueries(text: string): string {
  return text.replace(/(\bhttps?:\/\/[^\s?#"'<>]+)[?#][^\s"'<>]*/gi, '$1?…');
}
