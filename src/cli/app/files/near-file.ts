import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, type SvcError } from '../../../base/errors.ts';
import { nearest, questionOf } from '../../../base/security/typed-word.ts';
import type { System } from '../../../base/system.ts';
import type { RunRequest } from '../invocation.ts';
import { mendedLine, separated, typedWords } from '../mended-line.ts';

const MISSING = 'does not exist';
const PROBLEM = new RegExp(`^(.+?) (${MISSING}|is a directory|is not a regular file)`);
const SHOWN = 4;

interface Mended extends Pick<RunRequest, 'words' | 'command'>, Pick<System, 'cwd'> {}

/**
 * Adds to an error about a typed file what was probably meant: a file of a similar name, a file in a typed directory, or
 * a download of a typed address. Returns any other error unchanged.
 */
export function withNearFile(
  error: unknown,
  argv: readonly string[],
  { words, command }: Pick<RunRequest, 'words' | 'command'>,
  system: Pick<System, 'cwd'>,
) {
  if (!isSvcError(error, 'local')) return error;
  const [, name = '', problem = ''] = PROBLEM.exec(error.message) ?? [];
  const typed = argv.find((word) => word === name || path.resolve(system.cwd, word) === name);
  if (name === '' || typed === undefined) return error;
  if (/^https?:\/\//.test(typed))
    return renewed(error, `svc reads files: pipe the address into it, as in curl --fail … | svc ${words} -`);
  const isMissing = problem === MISSING;
  const directory = isMissing ? path.dirname(typed) : typed;
  const taken = Object.values(command.parameters).flatMap(({ extensions = [] }) => extensions);
  const wanted = isMissing ? [path.extname(typed), ...taken] : taken;
  const known = filesOf(path.resolve(system.cwd, directory), wanted.filter(Boolean));
  const near = isMissing ? nearFile(path.basename(typed), known) : known[0];
  if (near !== undefined) {
    const joined = path.join(directory, near);
    // A name that begins with a dash would be read as an option.
    const meant = joined.startsWith('-') ? `./${joined}` : joined;
    const hint = isMissing ? questionOf(meant) : 'Name a file in it:';
    return renewed(error, hint, mendedWith(argv, typed, meant, { words, command, cwd: system.cwd }));
  }
  if (known.length === 0) return error;
  const more = known.length > SHOWN ? ' …' : '';
  return renewed(error, `Files there: ${known.slice(0, SHOWN).join(', ')}${more}`, [...words.split(' '), '--help']);
}

function renewed(error: SvcError, hint: string, next?: readonly string[]): SvcError {
  return error.with({ hint, next });
}

/** Returns the files of a directory with one of these extensions. */
function filesOf(directory: string, extensions: readonly string[]): string[] {
  try {
    return fs.readdirSync(directory).filter((name) => extensions.includes(path.extname(name)));
  } catch {
    return [];
  }
}

/** Finds the file whose name without its extension is nearest. */
function nearFile(typed: string, known: readonly string[]): string | undefined {
  const meant = nearest(stem(typed), known.map(stem));
  return known.find((name) => stem(name) === meant);
}

function stem(name: string): string {
  return path.basename(name, path.extname(name));
}

/** Returns the typed line with another file, and with all else that was typed: an option may decide what is sent. */
function mendedWith(
  argv: readonly string[],
  typed: string,
  meant: string,
  { words, command: { parameters }, cwd }: Mended,
): string[] {
  const line = separated(argv, parameters);
  const instead = new Map<number, readonly string[]>();
  for (const { at, text, option, value } of typedWords(line, parameters))
    if (option === undefined && text === typed) instead.set(at, [meant]);
    else if (option !== undefined && value === typed) instead.set(at, [option, meant]);
  return mendedLine({ argv: line, cwd }, { path: words.split(' '), parameters, instead });
}
