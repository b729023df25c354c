import fs from 'node:fs';
import { isSvcError, type SvcError, writeFailure } from '../errors.ts';
import { markdownOf, type Summary } from '../output/markdown.ts';
import type { Context } from './command.ts';
import { nextCommand, warnOf } from './hint.ts';
import { requireFile, resolvePath, text, value } from './parameter.ts';

export const summaryParameter = value(
  '--summary <file>',
  'append a short summary in Markdown to this file; default: the file that GITHUB_STEP_SUMMARY names, if any',
  text,
);

/** Adds what came of the work to the summary; with the error that ended it, why, and what to run next. */
export type AddSummary = (summary: Summary, error?: unknown) => Promise<void>;

/**
 * Finds the file of `--summary`, or that of the CI job, before anything is sent. When the summary is added, the work is
 * done and paid for: then a file that cannot be written is only a warning.
 */
export async function openSummary(context: Context, named: string | undefined): Promise<AddSummary | undefined> {
  const target = named ?? context.system.env['GITHUB_STEP_SUMMARY'];
  if (!target) return undefined;
  const file = resolvePath(context, target);
  if (named !== undefined) await requireFile(file, true);
  return async (summary, error) => {
    const whole = isSvcError(error) ? { ...summary, ...outcome(error, summary.facts, context) } : summary;
    try {
      append(
        file,
        markdownOf(whole, (line) => context.out.redact(line)),
      );
    } catch (failure) {
      warnOf(context, 'the summary was not written', writeFailure(file, failure));
    }
  };
}

function outcome(error: SvcError, facts: Summary['facts'], { globals, system }: Context): Partial<Summary> {
  const reason = [error.message, error.hint].filter((part) => part !== undefined).join('. ');
  const commands = error.commands.map((words) => nextCommand(words, globals, system));
  return { facts: [...facts, ['reason', reason]], commands };
}

// Without O_NONBLOCK a pipe that nobody reads would hold the command up.
function append(file: string, markdown: string): void {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NONBLOCK } = fs.constants;
  const descriptor = fs.openSync(file, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600);
  try {
    fs.writeFileSync(descriptor, markdown);
  } finally {
    fs.closeSync(descriptor);
  }
}
