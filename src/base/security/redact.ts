import { maskCardNumbers } from './card-number.ts';

/** Takes secrets out of text that is about to be shown or stored. Chunks are whole lines. */
export interface Redactor {
  /** Hides this value from now on, however it is encoded. Values under eight characters are too common to hide. */
  readonly addSecret: (value: string) => void;
  /** `text` without secrets; idempotent, and linear in time for any text. */
  readonly redact: (text: string) => string;
}

/**
 * A redactor that knows no secrets yet, only the patterns of secrets. With `showUrls` (`--show-urls`) the queries of
 * signed addresses stay readable; keys, passwords and card numbers are hidden all the same.
 */
export function createRedactor({ showUrls }: { readonly showUrls?: boolean | undefined } = {}): Redactor {
  const known = new Set<string>();
  let longestFirst: readonly string[] = [];
  return {
    addSecret(value) {
      if (value.length < SHORTEST_SECRET || known.has(value)) return;
      for (const form of formsOf(value)) known.add(form);
      longestFirst = [...known].toSorted((a, b) => b.length - a.length);
    },
    redact(text) {
      const withoutKnown = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
      const withoutPasswords = hidePasswords(hideHeaders(withoutKnown));
      return maskCardNumbers(showUrls === true ? withoutPasswords : hideQueries(withoutPasswords));
    },
  };
}

const HIDDEN = '[hidden]';
const SHORTEST_SECRET = 8;

/** The ways in which a value turns up in text: as it is, in a URL, in JSON, within base64. */
function formsOf(value: string): string[] {
  const encoded = encodeURIComponent(Buffer.from(value).toString());
  const json = JSON.stringify(value).slice(1, -1);
  const lower = encoded.replace(/%../g, (octet) => octet.toLowerCase());
  const forms = [value, encoded, lower, json, JSON.stringify(json).slice(1, -1)];
  return [...forms, ...base64Cores(value)].filter((form) => form.length >= SHORTEST_SECRET);
}

/** The part of the base64 text that depends on the value alone, for each offset within what was encoded. */
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

// A value stands after the name as in a trace or a shell command, or quoted as in JSON (perhaps escaped once more).
// Raw header lists put the name and the value side by side.
const HEADER = new RegExp(
  String.raw`((?<![a-z])(?:` +
    String.raw`(?:svc-api-key|(?:proxy-)?authorization|x-amz-security-token|(?:set-)?cookie)` +
    String.raw`(?:\\?["'][ \t]{0,8}[:=][ \t]{0,8}\\?["']|[ \t]{0,8}[:=][ \t]{0,8})` +
    String.raw`|(?:svc-api-key|proxy-authorization)\\?["'],\s{0,8}\\?["']))` +
    // The name of a variable, as in a curl command, is no secret.
    String.raw`(?![ \t]{0,8}\$SVC_(?:MANAGEMENT_|PRIVATE_)?API_KEY")` +
    String.raw`(?:digest[^\r\n]*|[^\r\n"'\\]+)`,
  'gi',
);

const HEADER_NAME = /svc-api-key|authorization|security-token|cookie/i; // much faster than HEADER on text without any

function hideHeaders(text: string): string {
  return HEADER_NAME.test(text) ? text.replace(HEADER, `$1${HIDDEN}`) : text;
}

// A password may contain what an address may not: then all up to the last @ goes, unless a port stands there. Bounded, to stay linear.
const USER =
  /(:(?:\/\/|\\\/\\\/))(?:[^\s/?#"'<>`\\@:]{0,256}:(?!\d{1,5}[/?#])[^\s"'<>`]{0,512}|[^\s/?#"'<>`\\]{0,512})@/g;

function hidePasswords(text: string): string {
  return text.includes('@') ? text.replace(USER, `$1${HIDDEN}@`) : text;
}

// A query runs up to a space, a quote or a backslash; but \u0026 and \/ are & and / in JSON. The mark may be encoded too.
const QUERY = /(\?|%3f)((?:[^\s"'<>`\\]|\\(?=u00|\/))+)/gi;
const SIGNED_NAME =
  /signature|(?:access|auth|security|session|upload|download)[-_]?token|credential|expires|accesskeyid|googleaccessid|^x-(?:amz|goog)-|^(?:sig|se|sp|sv|sr|st|key-pair-id|policy)$/i;
const SPLIT_PARAMETER =
  /((?:^|[&;\s"']|%26|u0026)(?:x-(?:amz|goog)-(?:signature|credential|security-token)|awsaccesskeyid|googleaccessid|signature|sig)(?:=|%3d))[^\s&"'<>`\\]+/gim;

function hideQueries(text: string): string {
  if (!text.includes('=') && !text.includes('%3')) return text;
  return text
    .replace(QUERY, (whole, mark: string, query: string) => (isSigned(query) ? `${mark}…` : whole))
    .replace(SPLIT_PARAMETER, `$1${HIDDEN}`);
}

function isSigned(query: string): boolean {
  return decoded(decoded(query))
    .split(/[?&;#]|u0026/)
    .some((parameter) => parameter.includes('=') && SIGNED_NAME.test(parameter.slice(0, parameter.indexOf('='))));
}

/** The ASCII signs of percent encoding, read; an address inside an address is encoded twice. */
function decoded(query: string): string {
  return query.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
