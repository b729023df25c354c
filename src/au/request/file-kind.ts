// Recognizes the kind of a file by its first bytes.

import { fileSource } from '../../client/transfer/source.ts';
import { REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';
import { DELIMITERS, withoutSeparatorLine } from '../csv-rows.ts';

/** The kind of a file, if its first bytes show it with certainty. `excluded`: rows that `au next` left out. */
export type FileKind = 'request' | 'results' | 'excluded' | 'json' | 'html';

/** The name of each kind for use in a sentence. */
export const KIND_NAMES: Readonly<Record<FileKind, string>> = {
  request: 'a request file',
  results: 'a result file',
  excluded: 'a list of excluded rows',
  json: 'JSON',
  html: 'a web page (HTML)',
};

/** The number of bytes read to recognize a file. A header is much shorter. */
const HEAD_BYTES = 16_384;

/** Recognizes a file by its first bytes. @throws SvcError `local` when it cannot be read */
export async function recognizeFile(path: string): Promise<FileKind | undefined> {
  return kindOf(await readHead(path));
}

/**
 * Whether the header of a file has none of these columns. A header without a line end may be cut off, and counts as having them.
 * @throws SvcError `local` when it cannot be read
 */
export async function lacksColumns(path: string, columns: readonly string[]): Promise<boolean> {
  const [header = '', ...others] = (await readHead(path)).split(/[\r\n]/, 2);
  const names = new Set(header.split(',').map(plain));
  return others.length > 0 && !columns.some((column) => names.has(plain(column)));
}

/** Returns the beginning of a file, without a line such as `sep=;`. @throws SvcError `local` when it cannot be read */
export async function readHead(path: string): Promise<string> {
  const { size } = await fileSource(path);
  const head = await fileSource(path, { start: 0, end: Math.min(size, HEAD_BYTES) });
  for await (const piece of head.open()) return withoutSeparatorLine(Buffer.from(piece).toString());
  return '';
}

/** Recognizes a file by its first characters, which contain its whole first line. */
export function kindOf(head: string): FileKind | undefined {
  const text = head.replace(/^\uFEFF/, '').trimStart();
  if (/^(?:\{\s*(?:["}]|$)|\[\s*(?:[[{"\]\d]|$))/.test(text)) return 'json';
  if (/^<(?:!doctype html|html)\b/i.test(text)) return 'html';
  const [header = ''] = text.split(/[\r\n]/, 1);
  for (const sign of DELIMITERS) {
    const kind = kindOfColumns(header.split(sign).map(plain));
    if (kind !== undefined) return kind;
  }
  return undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

const PLAIN_REQUEST_COLUMNS = REQUEST_COLUMNS.map(plain);

function kindOfColumns(names: readonly string[]): FileKind | undefined {
  if (!names.includes('token')) return undefined;
  if (names.includes('resultcode') || names.includes('newtoken'))
    return names.includes('row') && names.includes('reason') ? 'excluded' : 'results';
  const isRequest =
    names.length === PLAIN_REQUEST_COLUMNS.length && PLAIN_REQUEST_COLUMNS.every((name) => names.includes(name));
  return isRequest ? 'request' : undefined;
}
