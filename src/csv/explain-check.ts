import { SvcError } from '../errors.ts';
import { MAX_REQUEST_FILE_ROWS } from '../schema/account-updater-files.ts';
import type { Problem, RequestFileCheck } from './request-file.ts';

/** Says in lines what is wrong with a request file: the first problems, then how many more there are. */
export function explainCheck(check: RequestFileCheck): string[] {
  const lines = check.problems.map(problemLine);
  const more = check.problemCount - check.problems.length;
  return more > 0 ? [...lines, `and ${counted(more, 'more problem')}`] : lines;
}

/** Says what is odd about a request file but no reason to refuse it: repeated tokens, and very many rows. */
export function explainWarnings({ duplicates, exceeds, rows }: RequestFileCheck): string[] {
  const { count, first, comparedTo } = duplicates;
  const places = first.slice(0, 3).map(({ line, firstLine }) => `line ${line} (that of line ${firstLine})`);
  const more = count > places.length ? ' …' : '';
  const lines =
    count === 0
      ? []
      : [
          `${counted(count, 'row')} ${count === 1 ? 'repeats' : 'repeat'} a token: ${places.join(', ')}${more}`,
        ];
  if (exceeds.rows)
    lines.push(
      `${grouped(rows)} rows are more than the about ${grouped(MAX_REQUEST_FILE_ROWS)} that one job takes; 'svc au submit' makes several jobs of them`,
    );
  if (comparedTo !== undefined)
    lines.push(`repeated tokens were looked for down to line ${grouped(comparedTo)} only`);
  return lines;
}

/** The failure that a check with problems ends in. `file` is how the user called the file. */
export function refusedFile(check: RequestFileCheck, file: string): SvcError {
  return new SvcError('refused_input', `${file} is refused: ${counted(check.problemCount, 'problem')}`, {
    hint: "Nothing was sent. Mend the lines named, then look again with 'svc au check'.",
    facts: { file, problems: check.problems, problem_count: check.problemCount },
  });
}

function problemLine({ line, column, problem }: Problem): string {
  return column === undefined ? `line ${line}: ${problem}` : `line ${line}, ${column}: ${problem}`;
}

function counted(count: number, noun: string): string {
  return `${grouped(count)} ${count === 1 ? noun : `${noun}s`}`;
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
