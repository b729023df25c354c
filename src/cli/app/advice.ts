import { causesOf, memoryFailure, pathProblem, SvcError, systemCodeOf } from '../../base/errors.ts';
import { type System, withProgramName } from '../../base/system.ts';
import { directoryAdvice } from '../config/paths.ts';
import type { RunRequest } from './invocation.ts';

/**
 * Turns any thrown value into the error that is reported. Adds the advice that only the command line knows: the command's
 * help, an option or variable to set, and the program's name.
 */
export function errorWithAdvice(error: unknown, request: RunRequest | undefined, system: System): SvcError {
  const failure = failureOf(error);
  const next = isAboutLine(failure) && request !== undefined ? helpOf(request) : failure.next;
  const advice = forceAdvice(failure, request) ?? optionAdvice(failure) ?? directoryAdvice(system, failure) ?? '';
  const text = withProgramName([failure.hint, advice].filter(Boolean).join(' '), system);
  return text === (failure.hint ?? '') && next === failure.next
    ? failure
    : failure.with({ hint: text || undefined, next });
}

/** Whether an error is about the typed command line and does not suggest a command yet. */
function isAboutLine({ code, commands }: SvcError): boolean {
  return (code === 'usage' || code === 'input_needed') && commands.length === 0;
}

function helpOf({ words }: RunRequest): readonly string[] {
  return [...words.split(' ').filter(Boolean), '--help'];
}

/** Returns the advice to add --force where a name is taken, if the command has this option. */
function forceAdvice({ code, message }: SvcError, request: RunRequest | undefined): string | undefined {
  const isTaken = code === 'usage' && / (?:exists|is not empty)$/.test(message);
  return isTaken && request !== undefined && 'force' in request.command.parameters
    ? 'To allow it, add --force.'
    : undefined;
}

const DAY_S = 86_400;

/** Returns advice that names an option. The client library throws errors without it, since it has no options. */
export function optionAdvice({ code, facts }: SvcError): string | undefined {
  if (code === 'bug') return 'Run the command again with --debug and include what it prints.';
  // A named column belongs to a CSV file; the column of a JSON error is a number.
  if (code === 'refused_input' && typeof facts?.['column'] === 'string')
    return 'Leave --excel-safe out, or choose the columns with --fields.';
  const seconds = code === 'rate_limited' ? facts?.['retry_after_s'] : undefined;
  const isAllowable = typeof seconds === 'number' && seconds <= DAY_S;
  return isAllowable ? `To allow the pause, add --max-wait ${seconds}s.` : undefined;
}

/** Returns a thrown value as an `SvcError`. An unexpected failure becomes `bug`. */
function failureOf(error: unknown): SvcError {
  const exhausted = exhaustedCodeOf(error);
  if (exhausted !== undefined) return tooManyFilesError(error, exhausted);
  const memory = causesOf(error)
    .map(memoryFailure)
    .find((each) => each !== undefined);
  if (memory !== undefined) return memory;
  if (error instanceof SvcError) return error;
  if (systemCodeOf(error) === 'MODULE_NOT_FOUND') {
    return new SvcError(
      'local',
      'svc was upgraded or removed while this command was running: one of its files is gone',
      { hint: 'Run the same command again.', cause: error },
    );
  }
  const unusable = unusablePath(error);
  if (unusable !== undefined) return unusable;
  return new SvcError('bug', `unexpected failure: ${errorText(error)}`, {
    hint: 'This is a bug: please report it.',
    cause: error,
  });
}

/** Error codes for a file where svc expects a directory, and the reverse. */
const WRONG_FILE_KIND: ReadonlySet<string> = new Set(['ENOTDIR', 'EISDIR']);

/** Returns the error for a path that the system refuses; undefined for any other error. */
function unusablePath(error: unknown): SvcError | undefined {
  const code = systemCodeOf(error) ?? '';
  const problem = pathProblem(code);
  // A missing file that svc expects is a bug of svc, not a problem of the path.
  if (problem === undefined || code === 'ENOENT' || !(error instanceof Error) || !('path' in error)) return undefined;
  return new SvcError(
    WRONG_FILE_KIND.has(code) ? 'config' : 'local',
    `${String(error.path)} cannot be used: ${problem} (${code})`,
    { hint: 'Check the path, the permissions of its directories, and its disk; or give another one.', cause: error },
  );
}

/** Returns `EMFILE` or `ENFILE` if an error or one of its causes is a lack of file descriptors. */
function exhaustedCodeOf(error: unknown): string | undefined {
  const codes = causesOf(error).map((each) =>
    each instanceof SvcError ? each.facts?.['system_code'] : systemCodeOf(each),
  );
  const code = codes.find((each) => each === 'EMFILE' || each === 'ENFILE');
  return typeof code === 'string' ? code : undefined;
}

/** Returns the error for a lack of file descriptors. Replaces the original hint, which names another cause. */
function tooManyFilesError(error: unknown, code: string): SvcError {
  const failed = error instanceof SvcError ? error : new SvcError('local', 'a file or connection could not be opened');
  const { message } = failed;
  return failed.with({
    message: message.includes(code) ? message : `${message}: too many files are open (${code})`,
    hint: 'Raise the limit of open files, such as with "ulimit -n 1024", and run the command again.',
    next: undefined,
    alternatives: [],
  });
}

function errorText(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    return 'something that cannot be shown was thrown';
  }
}
