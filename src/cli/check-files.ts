import { explainCheck, refusedFile } from '../csv/explain-check.ts';
import type { RequestFileCheck } from '../csv/request-file.ts';
import { SvcError } from '../errors.ts';
import { checkedFileRow, type CheckedFileRow } from '../views/request-file.ts';
import type { Context } from './context.ts';
import { lookAtRequestFile } from './request-file.ts';

/** What checks of several files came to. */
export interface CheckedFiles {
  /** The files that are in order. */
  readonly rows: readonly CheckedFileRow[];
  /** What is wrong with the others, in one failure. */
  readonly refused: SvcError | undefined;
}

interface Refused {
  readonly name: string;
  readonly check: RequestFileCheck;
}

/** Checks request files one after another; one that is refused stops no other. */
export async function checkFiles(context: Context, files: readonly string[]): Promise<CheckedFiles> {
  const rows: CheckedFileRow[] = [];
  const refused: Refused[] = [];
  for (const file of files) {
    const { name, check } = await lookAtRequestFile(context, file);
    if (check.ok) rows.push(checkedFileRow(name, check));
    else refused.push({ name, check });
  }
  return { rows, refused: refusal(refused, files.length) };
}

function refusal(refused: readonly Refused[], all: number): SvcError | undefined {
  const [first] = refused;
  if (!first) return undefined;
  if (all === 1) return refusedFile(first.check, first.name);
  const lines = refused.flatMap(({ name, check }) => explainCheck(check).map((line) => `${name}: ${line}`));
  const files = refused.map(({ name, check }) => ({
    file: name,
    problems: check.problems,
    problem_count: check.problemCount,
  }));
  return new SvcError('refused_input', `${refused.length} of ${all} files are refused`, {
    hint: "Mend the lines named, then look again with 'svc au check'.",
    facts: { files, problems: lines },
  });
}
