/** A file in a tar archive. Its content must have exactly the size that is given. */
export interface TarFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
const MAX_NAME = 100;
const MAX_PREFIX = 155;

/** A tar archive (ustar) of files in their order: the same files and time (epoch milliseconds) give the same bytes. */
export async function* tarOf(files: AsyncIterable<TarFile>, time: number): AsyncGenerator<Uint8Array> {
  for await (const { path, bytes, content } of files) {
    yield* namedHeader(path, bytes, time);
    yield* content;
    yield padding(bytes);
  }
  yield new Uint8Array(2 * BLOCK);
}

/** A path that does not fit the header goes before it, as a record of its own (pax). */
function* namedHeader(path: string, bytes: number, time: number): Generator<Uint8Array> {
  const split = splitPath(path);
  if (split) return yield header(split, { type: '0', bytes, time });
  const record = Buffer.from(paxRecord(path));
  yield header(['', 'pax'], { type: 'x', bytes: record.length, time });
  yield record;
  yield padding(record.length);
  yield header(['', path.slice(-MAX_NAME)], { type: '0', bytes, time });
}

/** The folder and the name for a header; undefined where they do not fit. */
function splitPath(path: string): readonly [prefix: string, name: string] | undefined {
  if (path.length <= MAX_NAME) return ['', path];
  const at = path.indexOf('/', path.length - MAX_NAME - 1);
  return at < 0 || at > MAX_PREFIX ? undefined : [path.slice(0, at), path.slice(at + 1)];
}

// Its length counts itself.
function paxRecord(path: string): string {
  const rest = ` path=${path}\n`;
  const digits = String(rest.length + String(rest.length).length).length;
  return `${rest.length + digits}${rest}`;
}

interface Entry {
  readonly type: '0' | 'x';
  readonly bytes: number;
  readonly time: number;
}

function header([prefix, name]: readonly [string, string], { type, bytes, time }: Entry): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  block.write(octal(0o600, 7), 100);
  block.write(octal(0, 7) + octal(0, 7), 108);
  block.write(octal(bytes, 11), 124);
  block.write(octal(Math.floor(time / 1000), 11), 136);
  block.write(`        ${type}`, 148);
  block.write('ustar\u000000', 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)} `, 148);
  return block;
}

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, '0')}\0`;
}

function padding(bytes: number): Uint8Array {
  return new Uint8Array((BLOCK - (bytes % BLOCK)) % BLOCK);
}
