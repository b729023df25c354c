import { objectOrUndefined } from '../schema/guards.ts';

/** What may be shown of a store's error body. The rest echoes signatures and what was signed (R07). */
export interface StoreError {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
}

const MAX_MESSAGE = 200;
const ID = /^[\w.:|/+=-]{1,128}$/;
const ID_HEADERS = ['x-amz-request-id', 'x-ms-request-id', 'x-guploader-uploadid', 'cf-ray', 'x-request-id'];

/** Reads an error body: XML, JSON, HTML, text, cut off or empty. Never throws. */
export function readStoreError(body: string, header: (name: string) => string | undefined): StoreError {
  const said = fromJson(body) ?? fromMarkup(body);
  const idHeader = ID_HEADERS.map(header).find((value) => value !== undefined);
  return {
    code: matching(/^[\w.-]{1,64}$/, said.code ?? header('x-ms-error-code')),
    message: cleanMessage(said.message),
    requestId: matching(ID, said.requestId) ?? matching(ID, idHeader),
  };
}

/** The status with the store's own words, such as `403 AccessDenied: Request has expired`. */
export function describeStoreError(status: number, error: StoreError): string {
  const code = error.code === undefined ? '' : ` ${error.code}`;
  return `${status}${code}${error.message === undefined ? '' : `: ${error.message}`}`;
}

type StoreMessage = { [Part in keyof StoreError]: string | undefined };

function fromMarkup(body: string): StoreMessage {
  return {
    code: element(body, 'Code'),
    message: element(body, 'Message') ?? element(body, 'title'),
    requestId: element(body, 'RequestId'),
  };
}

function element(body: string, name: string): string | undefined {
  const text = new RegExp(`<${name}(?:\\s[^>]{0,200})?>([^<]{1,2000})`, 'i').exec(body)?.[1];
  return text?.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: string) => ENTITIES[entity] ?? ' ');
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function fromJson(body: string): StoreMessage | undefined {
  const outer = objectOrUndefined(parse(body));
  if (!outer) return undefined;
  const inner = objectOrUndefined(outer['error']) ?? outer;
  const pick = (...names: string[]): string | undefined => {
    const value = names.map((name) => inner[name] ?? outer[name]).find((part) => part !== undefined);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  };
  return {
    code: pick('code', 'Code'),
    message: pick('message', 'Message', 'detail', 'title'),
    requestId: pick('requestId', 'request_id', 'RequestId'),
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function matching(form: RegExp, text: string | undefined): string | undefined {
  return text !== undefined && form.test(text.trim()) ? text.trim() : undefined;
}

/** One short line without anything that could be part of an address, a signature or a card number. */
function cleanMessage(text: string | undefined): string | undefined {
  const line = (text ?? '')
    .slice(0, 2_000)
    .replace(/\S*:\/\/\S*/g, '…')
    .replace(/\?\S+/g, '?…')
    .replace(/[\w.%-]+=\S+/g, '…')
    .replace(/[\w+/=%-]{24,}/g, '…')
    .replace(/\d[\d -]{10,}\d/g, '…')
    .replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim();
  if (line === '') return undefined;
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line;
}
