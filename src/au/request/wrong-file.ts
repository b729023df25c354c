// Recognizes files that were typed in the place of others, such as results for a request.

import path from 'node:path';
import { type ErrorDetails, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { GROUPS } from '../result-codes.ts';
import { type FileKind, KIND_NAMES, lacksColumns, recognizeFile } from './file-kind.ts';

/** Returns the error for a file of another kind than a command needs. `typed` is `-` for standard input. */
export function wrongRequest(typed: string, kind: Exclude<FileKind, 'request'>, needed = 'a request file'): SvcError {
  const isInput = typed === '-';
  const name = isInput ? 'standard input' : typed;
  return new SvcError('refused_input', `${name} is ${KIND_NAMES[kind]}, not ${needed}`, {
    ...(kind === 'results' && isSplit(typed)
      ? insteadOfPart(typed)
      : INSTEAD_OF_REQUEST[kind](isInput ? '<file>' : typed)),
    facts: { file: name, file_kind: kind },
  });
}

const INSTEAD_OF_REQUEST: Readonly<Record<Exclude<FileKind, 'request'>, (file: string) => ErrorDetails>> = {
  results: (file) => ({
    hint: 'Its tokens are those of a request that was submitted before. To make the next request of that one and these results, or to read the results:',
    next: ['au', 'next', '<request>', file],
    alternatives: [['au', 'report', file]],
  }),
  excluded: () => ({
    hint: 'These rows were left out because of their results. Name the file with the other rows, which svc au next wrote beside it:',
    next: ['au', 'submit', '<file>'],
  }),
  html: () => ({
    hint: 'It may be the page of a report, or a page to log in that was saved in place of the export. With the export as CSV:',
    next: ['au', 'prepare', '<export>', '--out', 'tokens.csv'],
  }),
  json: () => ({
    hint: 'A request file is CSV. To make one of an export in CSV:',
    next: ['au', 'prepare', '<export>', '--out', 'tokens.csv'],
  }),
};

/** Returns what to do instead of sending a part of the results, as the files in `todo` are: it has no merchants. */
function insteadOfPart(file: string): ErrorDetails {
  const cycle = ['--cycle', '<name>'];
  if (path.basename(file) === 'fix.csv')
    return {
      hint: 'It lists rows to correct, without their merchants. Correct them in the file that they came from, and run the command that sent it again, which writes the corrected rows with an error to a file of their own and names the command that sends only these:',
      next: ['au', 'refresh', '<export>', ...cycle],
      alternatives: [['au', 'submit', '<file>', ...cycle, '--wait', '--force']],
    };
  return {
    hint: 'It has only a part of the results. To make the next request, name the whole results, or read this part:',
    next: ['au', 'next', '<request>', '<results>'],
    alternatives: [['au', 'report', file]],
  };
}

interface Compared {
  /** The paths as typed. `-` is standard input. */
  readonly request: string | undefined;
  readonly results: string;
  /** The command with another result file, as words after `svc`. */
  readonly next: readonly string[];
}

/**
 * Checks by their first bytes that the two files are a result file and a request file.
 * @throws SvcError `refused_input` for a file of another kind
 */
export async function requireRequestAndResults(context: Context, { request, results, next }: Compared): Promise<void> {
  if (request !== undefined && request !== '-') {
    const requestKind = await recognizeFile(resolvePath(context, request));
    if (requestKind !== undefined && requestKind !== 'request') throw wrongRequest(request, requestKind);
  }
  const resultsKind = await recognizeFile(resolvePath(context, results));
  // A file of excluded rows from `svc au next` can be counted like results, but not compared with a request.
  const isExpected =
    resultsKind === undefined
      ? !(await lacksColumns(resolvePath(context, results), NEEDED_OF_RESULTS))
      : resultsKind === 'results' || (resultsKind === 'excluded' && request === undefined);
  if (!isExpected) throw notResults(results, resultsKind, next);
  if (request !== undefined && isSplit(results)) throw partOfResults(results, next);
}

const NEEDED_OF_RESULTS = ['token', 'result_code'];

function notResults(file: string, kind: FileKind | undefined, next: readonly string[]): SvcError {
  const what =
    kind === undefined
      ? 'is not a result file: it lacks the columns token and result_code'
      : `is ${KIND_NAMES[kind]}, not a result file`;
  return new SvcError('refused_input', `${file} ${what}`, {
    hint: 'Results are CSV in UTF-8. Name the result file:',
    next,
    alternatives: kind === 'request' ? [['au', 'check', file]] : [],
    facts: { file, file_kind: kind },
  });
}

/** Tells whether a file is named like a part that `svc au report --split-into` writes. */
function isSplit(file: string): boolean {
  return GROUPS.some((group) => path.basename(file) === `${group}.csv`);
}

function partOfResults(file: string, next: readonly string[]): SvcError {
  return new SvcError('refused_input', `${file} has only a part of the results: svc au report --split-into wrote it`, {
    hint: 'The rows of the other parts would pass for unchanged. If this is a whole result file, rename it; else name the whole one:',
    next,
    facts: { file, file_kind: 'split' },
  });
}
