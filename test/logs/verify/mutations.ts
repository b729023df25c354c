import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** Numbers that select the file to harm and the kind of harm. */
export interface Choice {
  readonly one: number;
  readonly other: number;
  readonly byte: number;
}

/** Harms an archive. Returns false if nothing would change. */
type Mutation = (top: string, files: readonly string[], choice: Choice) => boolean;

/** All kinds of harm to an archive. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'change a byte': (top, files, { one, other, byte }) =>
    rewrite(top, pick(files, one), (bytes) => {
      const changed = Buffer.from(bytes);
      const at = other % changed.length;
      changed[at] = (changed[at] ?? 0) ^ byte;
      return changed;
    }),
  'cut a file': (top, files, { one, other }) =>
    rewrite(top, pick(files, one), (bytes) => bytes.subarray(0, other % bytes.length)),
  'cut off the beginning': (top, files, { one, other }) =>
    rewrite(top, pick(files, one), (bytes) => bytes.subarray(1 + (other % bytes.length))),
  'append bytes': (top, files, { one, byte }) =>
    rewrite(top, pick(files, one), (bytes) => Buffer.concat([bytes, Buffer.from([byte])])),
  'append a whole file again': (top, files, { one }) =>
    rewrite(top, pick(files, one), (bytes) => Buffer.concat([bytes, bytes])),
  'insert a byte': (top, files, { one, other, byte }) =>
    rewrite(top, pick(files, one), (bytes) => {
      const at = other % bytes.length;
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
    }),
  'delete a file': (top, files, { one }) => {
    fs.rmSync(path.join(top, pick([...segments(files), ...records(files)], one)));
    return true;
  },
  'swap two segments': (top, files, { one, other }) =>
    swap(top, pick(segments(files), one), pick(segments(files), other)),
  'swap two records': (top, files, { one, other }) => swap(top, pick(records(files), one), pick(records(files), other)),
  'swap any two files': (top, files, { one, other }) => swap(top, pick(files, one), pick(files, other)),
  'put a segment beside itself': (top, files, { one, other }) => {
    const file = pick(segments(files), one);
    const copy = file.replace(/part-\d+/, `part-${String(other % 100_000_000).padStart(8, '0')}`);
    if (files.includes(copy)) return false;
    fs.copyFileSync(path.join(top, file), path.join(top, copy));
    return true;
  },
  'put a record after the last': (top, files, { one }) => {
    const next = `_manifest/${String(records(files).length).padStart(8, '0')}.json`;
    fs.copyFileSync(path.join(top, pick(records(files), one)), path.join(top, next));
    return true;
  },
  'move a segment to another day': (top, files, { one }) => {
    const file = pick(segments(files), one);
    const moved = path.join(top, file.replace(/date=[^/]+/, 'date=2025-12-31'));
    fs.mkdirSync(path.dirname(moved), { recursive: true });
    fs.renameSync(path.join(top, file), moved);
    return true;
  },
  'remove the last record': (top, files) => {
    fs.rmSync(path.join(top, records(files).at(-1) ?? ''));
    return true;
  },
  'remove the last two records and the head': (top, files) => {
    for (const file of records(files).slice(-2)) fs.rmSync(path.join(top, file));
    fs.rmSync(path.join(top, '_manifest/head.json'));
    return true;
  },
  'remove the last two records and name the one before as the newest': (top, files) => {
    for (const file of records(files).slice(-2)) fs.rmSync(path.join(top, file));
    const newest = records(files).at(-3) ?? '';
    const sha256 = createHash('sha256')
      .update(fs.readFileSync(path.join(top, newest)))
      .digest('hex');
    const head = { version: 1, sequence: records(files).length - 3, sha256 };
    fs.writeFileSync(path.join(top, '_manifest/head.json'), `${JSON.stringify(head)}\n`);
    return true;
  },
};

function rewrite(top: string, file: string, change: (bytes: Buffer) => Buffer): boolean {
  const before = fs.readFileSync(path.join(top, file));
  const after = change(before);
  fs.writeFileSync(path.join(top, file), after);
  return !before.equals(after);
}

function swap(top: string, one: string, other: string): boolean {
  const first = path.join(top, one);
  const second = path.join(top, other);
  const bytes = fs.readFileSync(first);
  const others = fs.readFileSync(second);
  fs.writeFileSync(first, others);
  fs.writeFileSync(second, bytes);
  return !bytes.equals(others);
}

function segments(files: readonly string[]): string[] {
  return files.filter((file) => file.startsWith('tenant='));
}

function records(files: readonly string[]): string[] {
  return files.filter((file) => /^_manifest\/\d+\.json$/.test(file));
}

function pick(files: readonly string[], number: number): string {
  return files[number % files.length] ?? '';
}
