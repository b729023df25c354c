import { parsedJson } from '../../schema/json-value.ts';
import { replaceTokens } from '../json/source.ts';
import { maskCardNumbers } from './card-number.ts';

/** Removes secrets from text before it is shown or stored. Callers pass whole lines. */
export interface Redactor {
  /** Hides a value in all further text, in every encoding. Ignores values under eight characters, which are too common. */
  readonly addSecret: (value: string) => void;
  /** Returns the text without secrets. Idempotent, and linear in time for any text. */
  readonly redact: (text: string) => string;
}

/**
 * Creates a redactor that hides patterns of secrets: keys, passwords, card numbers and the queries of signed addresses. With
 * `showUrls` (`--show-urls`), these queries stay readable.
 */
export function createRedactor({ showUrls }: { readonly showUrls?: boolean | undefined } = {}): Redactor {
  const known = new Set<string>();
  let longestFirst: readonly string[] = [];
  const redactPlain = (text: string): string => {
    const withoutKnown = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
    const withoutPasswords = hidePasswords(hideHeaders(withoutKnown));
    return maskCardNumbers(showUrls === true ? withoutPasswords : hideQueries(withoutPasswords));
  };
  const redactLevel = (text: string, levels: number): string =>
    redactPlain(levels === 0 ? text : withDecodedTokens(text, redactPlain, (value) => redactLevel(value, levels - 1)));
  return {
    addSecret(value) {
      if (value.length < MIN_SECRET_LENGTH || known.has(value)) return;
      for (const form of formsOf(value)) known.add(form);
      longestFirst = [...known].toSorted((a, b) => b.length - a.length);
    },
    redact: (text) => redactLevel(text, JSON_LEVELS),
  };
}

/** How often JSON inside JSON is decoded. */
const JSON_LEVELS = 3;
/** The end of a line, which `split` keeps. A pattern of a whole line overflows the stack for one of millions of characters. */
const LINE_END_KEPT = /([\r\n])/;
const QUOTE = /"/g;
/** Escapes that a service may choose for any character, such as the slash of a key or the = of a query. */
const CHOSEN_ESCAPE = /\\[/u]/;

/**
 * Redacts secrets in JSON strings that contain escapes, which hide the secrets from `redactPlain`. Strings without a secret
 * stay as they are. A string keeps its escapes if `redactPlain` finds the same secrets.
 */
function withDecodedTokens(text: string, redactPlain: Redactor['redact'], redact: Redactor['redact']): string {
  if (!text.includes('\\') || !CHOSEN_ESCAPE.test(text)) return text;
  const redactToken = (token: string): string => {
    const value = CHOSEN_ESCAPE.test(token) ? parsedJson(token) : undefined;
    if (typeof value !== 'string') return token;
    const redacted = redact(value);
    if (redacted === value) return token;
    const plain = redactPlain(token);
    return parsedJson(plain) === redacted ? plain : asciiJson(redacted);
  };
  const lines = text.split(LINE_END_KEPT);
  return lines.map((line) => replaceTokens(line, QUOTE, redactToken)).join('');
}

/** Writes a JSON string. Characters that a terminal could take for a command stay escaped. */
function asciiJson(value: string): string {
  return JSON.stringify(value).replace(/[^ -~…•]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const HIDDEN = '[hidden]';
const MIN_SECRET_LENGTH = 8;

/** How many characters at the end of a key a server may leave out of a message about it. */
const CUT = 4;
/** The length from which the rest of a cut key is long enough to be searched for. */
const MIN_CUT_LENGTH = 16;

/** Returns the forms of a value in text: plain, in capital or small letters, cut off, in a URL, in JSON, in CSV, as hexadecimal, and within base64. */
export function formsOf(value: string): string[] {
  const encoded = encodeURIComponent(Buffer.from(value).toString());
  const json = JSON.stringify(value).slice(1, -1);
  const lower = encoded.replace(/%../g, (octet) => octet.toLowerCase());
  const csv = value.replaceAll('"', '""');
  const hex = Buffer.from(value).toString('hex');
  const cut = value.length < MIN_CUT_LENGTH ? [] : [value.slice(0, -CUT)];
  const escaped = [encoded, lower, json, JSON.stringify(json).slice(1, -1), csv, hex, hex.toUpperCase()];
  const cased = [value.toUpperCase(), value.toLowerCase()];
  const forms = [value, ...cased, ...escaped, ...cut];
  return [...forms, ...base64Cores(value)].filter((form) => form.length >= MIN_SECRET_LENGTH);
}

/** Returns the part of a base64 text that depends on the value alone, for each alignment of the value. */
function base64Cores(value: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const whole = bytes.length - (bytes.length % 3);
    const core = bytes
      .subarray(0, whole)
      .toString('base64')
      .slice(before === 0 ? 0 : before + 1);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

// A value follows its name as in a trace or a shell command, or quoted as in JSON (possibly escaped twice). Raw header
// lists contain the name and the value as neighbors.
const HEADER =
  // A letter may belong to an escape such as \n.
  String.raw`(?<!(?<!\\)[a-z])(?:` +
  String.raw`(?:svc-api-key|(?:proxy-)?authorization|x-amz-security-token|(?:set-)?cookie)` +
  String.raw`(?:\\?["'][ \t]{0,8}[:=][ \t]{0,8}\\?["']|[ \t]{0,8}[:=][ \t]{0,8})` +
  // In JSON, a quoted word before a colon is the name of the next member, not the value of a raw header list.
  String.raw`|(?:svc-api-key|proxy-authorization)\\?["'],\s{0,8}\\?["'](?![a-z_]{1,32}\\?["']\s{0,8}:))` +
  // The name of a variable, as in a curl command, is no secret.
  String.raw`(?![ \t]{0,8}\$SVC_(?:MANAGEMENT_|PRIVATE_)?API_KEY")`;
const LINE_END = /[\r\n]/g;
const HEADER_END = /[\r\n"']|\\(?![/t]|u00(?!2[27])[\da-f]{2})/gi;
const BEFORE_DIGEST = new RegExp(`${HEADER}(?=digest)`, 'gi');
const BEFORE_HEADER = new RegExp(`${HEADER}(?!$|${HEADER_END.source})`, 'gi');

const HEADER_NAME = /svc-api-key|authorization|security-token|cookie/i; // much faster than HEADER on text without any

function hideHeaders(text: string): string {
  if (!HEADER_NAME.test(text)) return text;
  return replaceAfter(replaceAfter(text, BEFORE_DIGEST, LINE_END, hidden), BEFORE_HEADER, HEADER_END, hidden);
}

function hidden(): string {
  return HIDDEN;
}

/**
 * Replaces what follows each match of `start`, up to the next match of `end`. A single pattern for a value would overflow the stack
 * when the value is long.
 */
function replaceAfter(text: string, start: RegExp, end: RegExp, replace: (value: string) => string): string {
  let replaced = '';
  let from = 0;
  start.lastIndex = 0;
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const at = start.lastIndex;
    end.lastIndex = at;
    const to = end.exec(text)?.index ?? text.length;
    const value = text.slice(at, to);
    const replacement = replace(value);
    start.lastIndex = to;
    if (replacement === value) continue;
    replaced += text.slice(from, at) + replacement;
    from = to;
  }
  return replaced + text.slice(from);
}

// A password may contain signs that are invalid in an address: then everything up to the last @ is hidden, unless a port
// precedes it. The length is bounded, so that the pattern stays linear.
const USER =
  /(:(?:\/\/|\\\/\\\/))(?:[^\s/?#"'<>`\\@:]{0,256}:(?!\d{1,5}[/?#])[^\s"'<>`]{0,512}|[^\s/?#"'<>`\\]{0,512})@/g;

function hidePasswords(text: string): string {
  return text.includes('@') ? text.replace(USER, `$1${HIDDEN}@`) : text;
}

// A query ends at a space, a quote or a backslash, except \u0026 and \/, which are & and / in JSON. Its question mark may
// be percent-encoded.
const QUERY_MARK = /\?|%3f/gi;
const QUERY_END = /[\s"'<>`]|\\(?!u00|\/)/gi;
const SIGNED_NAME =
  /signature|(?:access|auth|security|session|upload|download)[-_]?token|credential|expires|accesskeyid|googleaccessid|^x-(?:amz|goog)-|^(?:sig|se|sp|sv|sr|st|key-pair-id|policy)$/i;
const SPLIT_PARAMETER =
  /((?:^|[&;\s"']|%26|u0026)(?:x-(?:amz|goog)-(?:signature|credential|security-token)|awsaccesskeyid|googleaccessid|signature|sig)(?:=|%3d))[^\s&"'<>`\\]+/gim;

function hideQueries(text: string): string {
  if (!text.includes('=') && !text.includes('%3')) return text;
  const withoutQueries = replaceAfter(text, QUERY_MARK, QUERY_END, (query) => (isSigned(query) ? '…' : query));
  return withoutQueries.replace(SPLIT_PARAMETER, `$1${HIDDEN}`);
}

function isSigned(query: string): boolean {
  return decoded(decoded(query))
    .split(/[?&;#]|u0026/)
    .some((parameter) => parameter.includes('=') && SIGNED_NAME.test(parameter.slice(0, parameter.indexOf('='))));
}

/** Decodes percent-encoded ASCII, twice: an address inside an address is encoded twice. */
function decoded(query: string): string {
  return query.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
