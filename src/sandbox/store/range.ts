/** Part of a file: both ends belong to it. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads a Range header against a size in bytes. Undefined when the whole is meant: no header, one that makes no
 * sense, or several ranges at once.
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  const [, from = '', to = ''] = match ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '')
    return Number(to) === 0 ? 'unsatisfiable' : { first: Math.max(0, size - Number(to)), last: size - 1 };
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return undefined;
  return first < size ? { first, last } : 'unsatisfiable';
}
