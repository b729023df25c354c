import { isObject } from '../schema/json-value.ts';
import { ownMember } from '../schema/own-member.ts';

/** Exit codes by failure code. Scripts rely on both the names and the numbers (`svc help exit-codes`). */
export const EXIT_CODES = {
  local: 1,
  output: 1,
  expression: 1,
  bug: 1,
  usage: 2,
  input_needed: 2,
  declined: 2,
  config: 3,
  key_missing: 3,
  key_refused: 3,
  unauthorized: 4,
  forbidden: 4,
  not_found: 5,
  job_expired: 5,
  rejected: 6,
  conflict: 6,
  rate_limited: 7,
  network: 8,
  server: 8,
  bad_response: 8,
  timeout: 8,
  outcome_unknown: 9,
  job_failed: 10,
  threshold: 10,
  pending: 11,
  truncated: 12,
  checksum_mismatch: 12,
  refused_input: 13,
  entries_missing: 14,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const satisfies Record<string, number>;

/** Stable name of a failure. */
export type ErrorCode = keyof typeof EXIT_CODES;

/** Details of an error beside its message. */
export interface ErrorDetails {
  /** What the user can do next, in words. A command belongs in `next`. */
  readonly hint?: string | undefined;
  /** The command to run next, as the words after `svc`. The error report shows a whole command line. */
  readonly next?: readonly string[] | undefined;
  /** Further commands, in the form of `next`. */
  readonly alternatives?: readonly (readonly string[])[] | undefined;
  /** HTTP status of the response, if a response arrived. */
  readonly status?: number | undefined;
  /** The service's id of the request, for a support case. */
  readonly requestId?: string | undefined;
  /** Whether running the same command again may help and does no harm. */
  readonly retryable?: boolean | undefined;
  /** Further facts for scripts, such as violations, a job id or a cursor. Never secrets. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** Changes to an error. */
export interface ErrorChanges extends ErrorDetails {
  readonly code?: ErrorCode | undefined;
  readonly message?: string | undefined;
}

/** The only error class that leaves the library; `code` distinguishes failures. */
export class SvcError extends Error {
  override readonly name = 'SvcError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly next: readonly string[] | undefined;
  readonly alternatives: readonly (readonly string[])[];
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryable: boolean;
  readonly facts: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.next = details.next;
    this.alternatives = details.alternatives ?? [];
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryable = details.retryable ?? RETRYABLE.has(code);
    this.facts = details.facts;
  }

  /** Returns a changed copy of this error, with this error as its cause. `facts` are added to the existing facts. */
  with({ code = this.code, message = this.message, facts, ...changes }: ErrorChanges): SvcError {
    const { hint, next, alternatives, status, requestId, retryable } = this;
    const allFacts = this.facts === undefined && facts === undefined ? undefined : { ...this.facts, ...facts };
    const kept = { hint, next, alternatives, status, requestId, retryable, cause: this };
    return new SvcError(code, message, { ...kept, ...changes, facts: allFacts });
  }

  /** All commands that the error names, the most useful first. */
  get commands(): readonly (readonly string[])[] {
    return this.next === undefined ? this.alternatives : [this.next, ...this.alternatives];
  }

  /** The process exit code for this failure. */
  get exitCode(): number {
    return EXIT_CODES[this.code];
  }
}

const RETRYABLE: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'network', 'server', 'pending', 'timeout']);

/**
 * Exit codes of failures by priority: possible costs first, then problems that the operator must fix, then problems that
 * may pass without action. After several failures, the command ends with the exit code that is first in this list.
 */
export const FAILURES_BY_WEIGHT: readonly number[] = [9, 12, 4, 3, 2, 6, 13, 5, 1, 8, 7];

/** Whether `error` is an `SvcError`: of any code, or of one of `codes`. */
export function isSvcError(error: unknown, ...codes: ErrorCode[]): error is SvcError {
  return error instanceof SvcError && (codes.length === 0 || codes.includes(error.code));
}

/** Refuses a file that a newer version of svc wrote. @throws SvcError `config` */
export function refuseNewer(content: unknown, newest: number, file: string): void {
  const version = isObject(content) ? content['version'] : undefined;
  if (typeof version !== 'number' || version <= newest) return;
  throw new SvcError('config', `${file} was written by a newer svc (its version is ${version})`, {
    hint: 'Update svc on this machine.',
  });
}

/** Returns the system's code of a failure (`ENOENT`, `ENOSPC`), or undefined for any other error. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Returns an error and its causes. A circular chain of causes ends before the first repeated error. */
export function causesOf(error: unknown): Error[] {
  const errors = new Set<Error>();
  for (let at = error; at instanceof Error && !errors.has(at); at = at.cause) errors.add(at);
  return [...errors];
}

/**
 * Returns the `SvcError` `local` for an unexpected error: a bug, or a failure of this machine. Removes addresses from the
 * message, because they may be signed.
 */
export function localFailure(error: unknown): SvcError {
  const memory = memoryFailure(error);
  if (memory !== undefined) return memory;
  const words =
    error instanceof Error ? `${error.name}: ${error.message}` : 'something that is not an error was thrown';
  return new SvcError('local', `failed on this machine: ${words.replaceAll(/\b[a-z]+:\/\/\S+/gi, '(address)')}`, {
    hint: 'This may be a bug: please report it with the output of --debug.',
    cause: error,
  });
}

/** Returns the `SvcError` `local` for memory of WebAssembly that the system did not reserve; undefined for any other error. */
export function memoryFailure(error: unknown): SvcError | undefined {
  if (!(error instanceof Error) || !/\bwasm memory\b|WebAssembly.*(out of|allocate) memory/i.test(error.message))
    return undefined;
  return new SvcError('local', `WebAssembly got no memory (${error.name}): the limit of virtual memory is too low`, {
    hint: 'Raise it (ulimit -v, or LimitAS= of systemd), set NODE_OPTIONS=--disable-wasm-trap-handler, or use Node 24.',
    cause: error,
  });
}

/** Whether the system failed because a file, or a directory on its path, does not exist. */
export function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error) ?? '');
}

/**
 * Returns the `SvcError` for a file that could not be written: `config` if the file system lacks a feature that svc needs,
 * else `local`. Returns an `SvcError` unchanged.
 */
export function writeFailure(file: string, error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const code = systemCodeOf(error) ?? 'unknown';
  const missingFeature = missingFeatureOf(error, code);
  if (missingFeature !== undefined)
    return new SvcError('config', `${file} cannot be written: its file system ${missingFeature} (${code})`, {
      hint: 'Choose a directory on another file system; docs/several-machines.md has a table of places that were tried.',
      cause: error,
    });
  const [problem, hint] = ownMember(PATH_PROBLEMS, code) ?? [undefined, CHECK_DISK];
  const why = problem === undefined ? '' : `: ${problem}`;
  return new SvcError('local', `${file} could not be written${why} (${code})`, { hint, cause: error });
}

const CHECK_DISK = 'See that its disk is in order.';

/** Describes the problem with a path, by the system's error code; undefined for a code that is not about paths. */
export function pathProblem(code: string): string | undefined {
  return ownMember(PATH_PROBLEMS, code)?.[0];
}

/** Names the feature that a file system lacks, if this is why a system call failed. */
function missingFeatureOf(error: unknown, code: string): string | undefined {
  const call = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  // rclone mounts refuse hard links with EIO.
  if (call === 'link' && ['EIO', 'EPERM', ...UNSUPPORTED].includes(code)) return 'has no hard links';
  if (!UNSUPPORTED.includes(code)) return undefined;
  return ownMember(MISSING_FEATURES, String(call)) ?? `does not support ${String(call)}`;
}

const UNSUPPORTED = ['ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'];
const MISSING_FEATURES: Readonly<Record<string, string>> = {
  chmod: 'cannot set the mode of a file',
  fchmod: 'cannot set the mode of a file',
  copyfile: 'cannot create a file only if its name is free',
  fsync: 'cannot write a file through to its disk',
};

/** Returns the `SvcError` `local` for a file whose size on disk differs from the bytes written. */
export function wrongSize(file: string, size: number, written: number): SvcError {
  return new SvcError('local', `${file} could not be written: it has ${size} bytes on the disk instead of ${written}`, {
    hint: 'Check the disk and that nothing else writes to this file, then run the command again.',
  });
}

/** Returns the `SvcError` `local` for a port of this machine on which svc could not listen. */
export function listenFailure(error: unknown, host: string, port: number): SvcError {
  const code = systemCodeOf(error) ?? 'unknown reason';
  if (code === 'EADDRINUSE')
    return new SvcError('local', `port ${port} is in use`, { hint: 'Choose another port, or 0 for a free one.' });
  if (code === 'EACCES')
    return new SvcError('local', `not allowed to listen on port ${port}`, { hint: 'Choose a port from 1024 up.' });
  return new SvcError('local', `cannot listen on ${host} (${code})`, {
    hint: 'Choose an address of this machine, such as 127.0.0.1.',
  });
}

/** Describes why a file could not be read, in words that follow the file's name. */
export function readProblem(error: unknown): string {
  const code = systemCodeOf(error) ?? 'unknown';
  return ownMember(READ_PROBLEMS, code) ?? `cannot be read (${code})`;
}

/** Returns the `SvcError` `local` for a file that the system could not read. Returns any other error unchanged. */
export function readFailure(name: string, error: unknown): unknown {
  if (error instanceof SvcError || systemCodeOf(error) === undefined) return error;
  const hint = 'Check the path and its permissions.';
  return new SvcError('local', `${name} ${readProblem(error)}`, { hint, cause: error });
}

const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a directory',
  EFBIG: 'is too large',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
};

const FREE = 'Free some space and run the command again.';
const ALLOW = 'Allow it, or choose another directory.';
const PATH_PROBLEMS: Readonly<Record<string, readonly [problem: string, hint: string]>> = {
  ENOSPC: ['the disk is full', FREE],
  EDQUOT: ['the quota is used up', FREE],
  EFBIG: ['the file size limit is reached', 'Raise the limit (ulimit -f).'],
  ENAMETOOLONG: ['its name is too long', 'Choose a shorter name.'],
  EBUSY: ['another program has it open', 'Close it there and run the command again.'],
  ENOTDIR: ['it is not a directory, or below something that is none', 'Choose another directory.'],
  EISDIR: ['it is a directory, and a file is expected there', 'Choose another name.'],
  ELOOP: ['its links lead in a circle', 'Choose another name.'],
  ENOENT: ['its directory does not exist', 'Make the directory, or choose another one.'],
  EROFS: ['the file system is read-only', ALLOW],
  EACCES: ['not allowed for this user', ALLOW],
  EPERM: ['not allowed for this user', ALLOW],
  EIO: ['its disk fails', CHECK_DISK],
};
