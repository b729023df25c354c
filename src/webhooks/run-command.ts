import type { ChildProcess } from 'node:child_process';
import { forEachLine, startCommand } from '../security/child-environment.ts';
import type { Environment } from '../system.ts';
import { jobOf, type ReceivedEvent, textIn } from './received.ts';

/** A command that is run for each event. */
export interface EventCommand {
  /** A line for the shell, written by the operator. Nothing of an event ever becomes part of it. */
  readonly line: string;
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  readonly cwd: string;
  /** Longest run, in milliseconds; then it is ended. */
  readonly limitMs: number;
}

/** How a run ended: with an exit code, by a signal, or not at all. */
export interface CommandResult {
  readonly code?: number | undefined;
  readonly signal?: string | undefined;
  readonly problem?: string | undefined;
}

const LAST_MOMENT_MS = 1000;

/**
 * Runs the command with the event on standard input and its fields in the environment. What it writes is told line
 * by line. Never rejects.
 */
export async function runCommand(
  command: EventCommand,
  event: ReceivedEvent,
  repeated: boolean,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<CommandResult> {
  const child = startCommand(command.line, {
    env: command.environment,
    cwd: command.cwd,
    added: eventVariables(event, repeated, command.platform),
  });
  // A command need not read its input.
  child.stdin.on('error', () => undefined).end(event.bytes);
  forEachLine(child.stdout, onLine);
  forEachLine(child.stderr, onLine);
  const end = endingOf(child, command.limitMs, signal);
  const result = await ended(child);
  end.clear();
  return end.problem === undefined ? result : { ...result, problem: end.problem };
}

/** Variables for the command: each field of the event, made harmless; undefined for one that this event lacks. */
export function eventVariables(
  { delivery, receivedAt }: ReceivedEvent,
  repeated: boolean,
  platform: NodeJS.Platform,
): Environment {
  const { event } = delivery;
  const job = jobOf(delivery);
  const fields: Readonly<Record<string, string | undefined>> = {
    SVC_EVENT_ID: event.id,
    SVC_EVENT_TYPE: event.type,
    SVC_EVENT_TIMESTAMP: textIn(event, 'timestamp'),
    SVC_EVENT_TENANT_ID: textIn(event, 'tenant_id'),
    SVC_EVENT_TRACE_ID: textIn(event, 'trace_id'),
    SVC_EVENT_DELIVERED_AT: textIn(delivery, 'delivered_at'),
    SVC_EVENT_RECEIVED_AT: new Date(receivedAt).toISOString(),
    SVC_EVENT_REPEATED: String(repeated),
    SVC_JOB_ID: job.id,
    SVC_JOB_STATUS: job.status,
  };
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value && harmless(value, platform)]),
  );
}

// No line break and no control character. The shell of Windows takes values apart as if they had been typed.
function harmless(value: string, platform: NodeJS.Platform): string | undefined {
  if (platform === 'win32' && !/^[\w.:+-]*$/.test(value)) return undefined;
  return value.replaceAll(/\p{Cc}/gu, ' ').slice(0, 1000);
}

interface Ending {
  problem: string | undefined;
  clear(): void;
}

/** Ends the child when its time is up or the signal aborts: asks first, then insists. */
function endingOf(child: ChildProcess, limitMs: number, signal: AbortSignal): Ending {
  const ending: Ending = { problem: undefined, clear };
  let last: NodeJS.Timeout | undefined;
  const stop = (problem: string): void => {
    ending.problem ??= problem;
    child.kill('SIGTERM');
    last ??= setTimeout(() => {
      child.kill('SIGKILL');
      // Something that it started may hold on to its pipes.
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, LAST_MOMENT_MS);
  };
  const timer = setTimeout(() => stop(`it took longer than ${limitMs / 1000} s`), limitMs);
  const onAbort = (): void => stop('it was not done when its time was over');
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return ending;

  function clear(): void {
    clearTimeout(timer);
    clearTimeout(last);
    signal.removeEventListener('abort', onAbort);
  }
}

function ended(child: ChildProcess): Promise<CommandResult> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ problem: `it could not be started: ${error.message}` }));
    child.on('close', (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
  });
}
