// Prevents a command from writing over a file that it reads.

import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../../../base/errors.ts';
import type { System } from '../../../base/system.ts';
import { optionWords, type Parameters } from '../parameter.ts';

/** A file that the command line names. */
export interface NamedFile {
  /** The option or argument that names the file, or a phrase for it. */
  readonly name: string;
  /** The path as typed. */
  readonly typed: string;
}

/** Returns the files that were typed, by the option or argument that names each. */
export function namedFiles(files: Readonly<Record<string, string | undefined>>): NamedFile[] {
  return Object.entries(files).flatMap(([name, typed]) => (typed === undefined ? [] : [{ name, typed }]));
}

type Files = Pick<System, 'cwd' | 'stdin'>;

/**
 * Refuses an output file that is also an input or another output of the command, even under another name or link.
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

/** Refuses an output file that is one of the other files or lies in one of the other directories. @throws SvcError `usage` */
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

interface FileIdentity {
  /** The path without links; empty for standard input. */
  readonly path: string;
  readonly stat: fs.BigIntStats;
}

/** Identifies the file of a typed path after following all links. A dash is standard input. */
function identify({ cwd, stdin }: Files, typed: string): FileIdentity | undefined {
  try {
    if (typed === '-') return { path: '', stat: fs.fstatSync(stdin.fd ?? -1, { bigint: true }) };
    const file = fs.realpathSync(path.resolve(cwd, typed));
    return { path: file, stat: fs.statSync(file, { bigint: true }) };
  } catch {
    // A path without a file cannot be replaced.
    return undefined;
  }
}

/** Tells whether `one` is the same regular file, or a directory that contains the file. */
function contains(one: FileIdentity | undefined, { path: file, stat }: FileIdentity): boolean {
  if (one === undefined) return false;
  if (one.stat.isDirectory()) return file.startsWith(one.path + path.sep);
  return one.stat.isFile() && one.stat.dev === stat.dev && one.stat.ino === stat.ino;
}
