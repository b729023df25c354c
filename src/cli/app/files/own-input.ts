import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../../../base/errors.ts';
import type { System } from '../../../base/system.ts';
import { optionWords, type Parameters } from '../parameter.ts';

/** A file, its path as typed, and what names it: an option, an argument, or a phrase. */
export interface NamedFile {
  readonly name: string;
  readonly typed: string;
}

/** Lists the files that are named, without those that were not typed. */
export function namedFiles(files: Readonly<Record<string, string | undefined>>): NamedFile[] {
  return Object.entries(files).flatMap(([name, typed]) => (typed === undefined ? [] : [{ name, typed }]));
}

type Files = Pick<System, 'cwd' | 'stdin'>;

/**
 * Checks that no file to be written is also one that the command reads, or another one that it writes, under whatever
 * name or link.
 * @throws SvcError `usage`, even with --force
 */
export function refuseOwnInput(system: Files, parameters: Parameters, input: Readonly<Record<string, unknown>>): void {
  const files = Object.entries(parameters).flatMap(([key, parameter]) => {
    const name = optionWords(parameter).at(-1) ?? parameter.syntax.replace('|-', '');
    const values = [input[key]].flat().filter((typed) => typeof typed === 'string');
    return parameter.file === undefined ? [] : values.map((typed) => ({ name, typed, use: parameter.file }));
  });
  for (const written of files) {
    if (written.use === 'read') continue;
    refuseReplacing(
      system,
      written,
      files.filter(({ name }) => name !== written.name),
    );
  }
}

/** Checks that a file to be written is none of the others. @throws SvcError `usage` */
export function refuseReplacing(system: Files, written: NamedFile, others: readonly NamedFile[]): void {
  const target = written.typed === '-' ? undefined : identify(system, written.typed);
  if (!target?.stat.isFile()) return;
  const own = others.find(({ typed }) => contains(identify(system, typed), target));
  if (own === undefined) return;
  const { name, ext } = path.parse(written.typed);
  throw new SvcError('usage', `${written.name} would replace ${written.typed}, which is also ${own.name}`, {
    hint: `A command never replaces its own input, not even with --force. Give ${written.name} another name, such as ${name}.new${ext}.`,
    facts: { file: written.typed },
  });
}

interface Found {
  readonly path: string;
  readonly stat: fs.BigIntStats;
}

/** Finds what a typed path is, behind all links. A dash is standard input. */
function identify({ cwd, stdin }: Files, typed: string): Found | undefined {
  try {
    if (typed === '-') return { path: '', stat: fs.fstatSync(stdin.fd ?? -1, { bigint: true }) };
    const file = fs.realpathSync(path.resolve(cwd, typed));
    return { path: file, stat: fs.statSync(file, { bigint: true }) };
  } catch {
    // What does not exist, or is no file of this machine, cannot be replaced.
    return undefined;
  }
}

/** Tells whether this is the same plain file, or a directory with the file in it. */
function contains(one: Found | undefined, { path: file, stat }: Found): boolean {
  if (one === undefined) return false;
  if (one.stat.isDirectory()) return file.startsWith(one.path + path.sep);
  return one.stat.isFile() && one.stat.dev === stat.dev && one.stat.ino === stat.ino;
}
