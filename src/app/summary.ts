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

/** Does work and adds to the summary what came of it; with the error that ended it, why, and what to run next. */
export type Summarize = (work: () => Promise<void>, describe: () => Promise<Summary> | Summary) => Promise<void>;

/**
 * Finds the file of `--summary`, or that of the CI job, before anything is sent. When the summary is added, the work is
 * done and paid for: then a file that cannot be written is only a warning.
 */
export async function openSummary(context: Context, named: string | undefined): Promise<Summarize> {
  const target = named ?? context.system.env['GITHUB_STEP_SUMMARY'];
  if (!target) return (work) => work();
  const file = resolvePath(context, target);
  if (named !== undefined) await requireFile(file, true);
  return async (work, describe) => {
    let error: unknown;
    try {
      await work();
    } catch (caught) {
      error = caught;
      throw caught;
    } finally {
      const summary = await describe();
      const whole = isSvcError(error) ? { ...summary, ...outcome(error, summary.facts, context) } : summary;
      append(
        context,
        file,
        markdownOf(whole, (line) => context.out.redact(line)),
      );
    }
  };
}

function outcome(error: SvcError, facts: Summary['facts'], { globals, system }: Context): Partial<Summary> {
  const reason = [error.message, error.hint].filter((part) => part !== undefined).join('. ');
  const commands = error.commands.map((words) => nextCommand(words, globals, system));
  return { facts: [...facts, ['reason', reason]], commands };
}

function append(context: Context, file: string, markdown: string): void {
  // Without O_NONBLOCK a pipe that nobody reads would hold the command up.
  const { O_APPEND, O_CREAT, O_WRONLY, O_NONBLOCK } = fs.constants;
  try {
    const descriptor = fs.openSync(file, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600);
    try {
      fs.writeFileSync(descriptor, markdown);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch (error) {
    warnOf(context, 'the summary was not written', writeFailure(file, error));
  }
}
