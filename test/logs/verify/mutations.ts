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

/** Kinds of harm to any file at any place; test/sweeps/archive-tampers.slow.test.ts has those of whole files and records. */
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
  'insert a byte': (top, files, { one, other, byte }) =>
    rewrite(top, pick(files, one), (bytes) => {
      const at = other % bytes.length;
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
    }),
  'remove the last two records and the head': (top, files) => {
    for (const file of records(files).slice(-2)) fs.rmSync(path.join(top, file));
    fs.rmSync(path.join(top, '_manifest/head.json'));
    return true;
  },
};

function rewrite(top: string, file: string, change: (bytes: Buffer) => Buffer): boolean {
  const before = fs.readFileSync(path.join(top, file));
  const after = change(before);
  fs.writeFileSync(path.join(top, file), after);
  return !before.equals(after);
}

function records(files: readonly string[]): string[] {
  return files.filter((file) => /^_manifest\/\d+\.json$/.test(file));
}

function pick(files: readonly string[], number: number): string {
  return files[number % files.length] ?? '';
}
