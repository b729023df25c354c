import { StoreRefusal, xmlElement } from '../store/responses.ts';
import type { StoredObject } from './objects.ts';

const MAX_KEYS = 1000;

/** The response to ListObjectsV2, as XML: one page of the objects, which are in order of their keys. */
export function objectList(bucket: string, objects: readonly StoredObject[], query: URLSearchParams): string {
  const list = readQuery(query);
  const rows = rowsOf(objects, list);
  const page = rows.slice(0, list.size);
  const last = page.at(-1);
  const isTruncated = rows.length > page.length;
  const encode = (text: string): string => (list.isEncoded ? encodeURIComponent(text).replaceAll('%2F', '/') : text);
  return xmlDocument('ListBucketResult', [
    xmlElement('Name', bucket),
    xmlElement('Prefix', encode(list.prefix)),
    xmlElement('KeyCount', String(page.length)),
    xmlElement('MaxKeys', String(list.size)),
    ...(list.isEncoded ? [xmlElement('EncodingType', 'url')] : []),
    xmlElement('IsTruncated', String(isTruncated)),
    ...(isTruncated && last ? [xmlElement('NextContinuationToken', tokenOf(last.after))] : []),
    ...page.map(({ object, prefix }) =>
      object === undefined
        ? `<CommonPrefixes>${xmlElement('Prefix', encode(prefix))}</CommonPrefixes>`
        : contents(object, encode(object.key)),
    ),
  ]);
}

/** An object, or the common prefix of several keys up to the delimiter. */
interface Row {
  readonly object?: StoredObject;
  readonly prefix: string;
  /** The last key of the row. */
  readonly after: string;
}

function readQuery(query: URLSearchParams) {
  const size = Number(query.get('max-keys') ?? MAX_KEYS);
  if (!Number.isInteger(size) || size < 0)
    throw new StoreRefusal(400, 'InvalidArgument', 'max-keys must be a whole number.');
  const token = query.get('continuation-token');
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    // Only keys after this one.
    after: token === null ? (query.get('start-after') ?? '') : readToken(token),
    size: Math.min(size, MAX_KEYS),
    isEncoded: query.get('encoding-type') === 'url',
  };
}

function rowsOf(objects: readonly StoredObject[], { prefix, delimiter, after }: ReturnType<typeof readQuery>): Row[] {
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
    xmlElement('Key', key),
    xmlElement('LastModified', new Date(at).toISOString()),
    xmlElement('ETag', `"${md5}"`),
    xmlElement('Size', String(bytes)),
    xmlElement('StorageClass', 'STANDARD'),
  ];
  return `<Contents>${inner.join('')}</Contents>`;
}

// Opaque, and with characters that an address must encode, as real ones have.
function tokenOf(key: string): string {
  return `1/${Buffer.from(key).toString('base64')}`;
}

function readToken(token: string): string {
  if (!token.startsWith('1/'))
    throw new StoreRefusal(400, 'InvalidArgument', 'The continuation token provided is incorrect');
  return Buffer.from(token.slice(2), 'base64').toString('utf8');
}

/** A document whose elements are XML already. */
export function xmlDocument(name: string, inner: readonly string[]): string {
  const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="${namespace}">${inner.join('')}</${name}>`;
}
