import { StoreRefusal } from '../store/responses.ts';
import type { StoredObject } from './objects.ts';

const MOST_KEYS = 1000;

/** The answer to ListObjectsV2, as XML: one page of the objects, which are in order of their keys. */
export function objectList(bucket: string, objects: readonly StoredObject[], query: URLSearchParams): string {
  const asked = readQuery(query);
  const rows = rowsOf(objects, asked);
  const page = rows.slice(0, asked.size);
  const last = page.at(-1);
  const code = (text: string): string =>
    asked.isEncoded ? encodeURIComponent(text).replaceAll('%2F', '/') : text;
  return xmlDocument('ListBucketResult', [
    element('Name', bucket),
    element('Prefix', code(asked.prefix)),
    element('KeyCount', String(page.length)),
    element('MaxKeys', String(asked.size)),
    ...(asked.isEncoded ? [element('EncodingType', 'url')] : []),
    element('IsTruncated', String(rows.length > page.length)),
    ...(rows.length > page.length && last ? [element('NextContinuationToken', tokenOf(last.after))] : []),
    ...page.map(({ object, prefix }) =>
      object === undefined ? commonPrefix(code(prefix)) : contents(object, code(object.key)),
    ),
  ]);
}

interface ListQuery {
  readonly prefix: string;
  readonly delimiter: string;
  /** Only keys after this one. */
  readonly after: string;
  readonly size: number;
  readonly isEncoded: boolean;
}

/** An object, or what several keys have in common up to the delimiter. */
interface Row {
  readonly object?: StoredObject;
  readonly prefix: string;
  /** The last key that the row stands for. */
  readonly after: string;
}

function readQuery(query: URLSearchParams): ListQuery {
  const size = Number(query.get('max-keys') ?? MOST_KEYS);
  if (!Number.isInteger(size) || size < 0)
    throw new StoreRefusal(400, 'InvalidArgument', 'max-keys must be a whole number.');
  const token = query.get('continuation-token');
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    after: token === null ? (query.get('start-after') ?? '') : readToken(token),
    size: Math.min(size, MOST_KEYS),
    isEncoded: query.get('encoding-type') === 'url',
  };
}

function rowsOf(objects: readonly StoredObject[], { prefix, delimiter, after }: ListQuery): Row[] {
  const rows: Row[] = [];
  for (const object of objects) {
    const { key } = object;
    if (!key.startsWith(prefix) || Buffer.compare(Buffer.from(key), Buffer.from(after)) <= 0) continue;
    const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    if (end === -1) {
      rows.push({ object, prefix: key, after: key });
      continue;
    }
    const common = key.slice(0, end + delimiter.length);
    if (rows.at(-1)?.prefix === common) rows.pop();
    rows.push({ prefix: common, after: key });
  }
  return rows;
}

function contents({ bytes, md5, at }: StoredObject, key: string): string {
  const inner = [
    element('Key', key),
    element('LastModified', new Date(at).toISOString()),
    element('ETag', `"${md5}"`),
    element('Size', String(bytes)),
    element('StorageClass', 'STANDARD'),
  ];
  return `<Contents>${inner.join('')}</Contents>`;
}

function commonPrefix(prefix: string): string {
  return `<CommonPrefixes>${element('Prefix', prefix)}</CommonPrefixes>`;
}

// Opaque, and with signs that an address must encode, as real ones have.
function tokenOf(key: string): string {
  return `1/${Buffer.from(key).toString('base64')}`;
}

function readToken(token: string): string {
  if (!token.startsWith('1/'))
    throw new StoreRefusal(400, 'InvalidArgument', 'The continuation token provided is incorrect');
  return Buffer.from(token.slice(2), 'base64').toString('utf8');
}

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** An element that holds text. */
export function element(name: string, text: string): string {
  return `<${name}>${escape(text)}</${name}>`;
}

/** A document, of elements that are XML already. */
export function xmlDocument(name: string, inner: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="${NAMESPACE}">${inner.join('')}</${name}>`;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\r\n]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
