import { EXIT_CODES, isSvcError, SvcError } from '../../base/errors.ts';
import { createRedactor, type Redactor } from '../../base/security/redact.ts';
import { isOn, type System } from '../../base/system.ts';
import { keysAtHand } from '../config/keys.ts';
import { resolveSettings, resolveUsableSettings, type Settings } from '../config/settings.ts';
import { OUTPUT_FORMATS } from '../config/values.ts';
import { misspelledText, misspelledVariables } from '../config/variables.ts';
import { reportError } from '../output/error-report.ts';
import { ReaderGone } from '../output/output.ts';
import { openTerminal, type Terminal, type TerminalSettings } from '../output/terminal.ts';
import { Preview } from './command.ts';
import { type ContextDeps, createContext } from './context.ts';
import { isJsonLog } from './trace.ts';
import { errorWithAdvice } from './advice.ts';
import { nextCommand, nextWords, withHint } from './hint.ts';
import type { RunRequest } from './invocation.ts';
import { withDates } from './moment.ts';
import { openQuery } from './query.ts';

/** A command to run, or the error in the command line. */
export type Parsed = RunRequest | { readonly kind: 'mistake'; readonly error: unknown };

/** Runs a command, reports its failure, and resolves to the exit code. No other place catches failures of commands. */
export async function execute(parsed: Parsed, argv: readonly string[], system: System): Promise<number> {
  const request = parsed.kind === 'run' ? parsed : undefined;
  const redactor = createRedactor({ showUrls: request?.globals.showUrls });
  for (const key of keysAtHand(system)) redactor.addSecret(key);
  const terminal = await openTerminal(system, terminalSettings(system, request, redactor));
  const requestedFormat: RequestedFormat = {
    output: request?.globals.output ?? outputIn(argv) ?? system.env['SVC_OUTPUT'],
  };
  try {
    if (parsed.kind === 'mistake') throw parsed.error;
    return await runRequest(parsed, { system, terminal, redactor }, requestedFormat);
  } catch (error) {
    return reportFailure(error, { system, terminal, requestedFormat, request });
  } finally {
    await terminal.close();
  }
}

/** The requested output format, as far as the command line and settings were read. */
interface RequestedFormat {
  output: string | undefined;
}

type Deps = Pick<ContextDeps, 'system' | 'terminal' | 'redactor'>;

/** Runs a command for its profile, or for each of several profiles. */
async function runRequest(request: RunRequest, deps: Deps, requestedFormat: RequestedFormat): Promise<number> {
  const { system, terminal } = deps;
  refuseNothingToShow(request);
  refuseSpyingVariable(request, system);
  refuseClosedOutput(request, system);
  if (!onlyPrints(request) && !request.command.endsWithReader) terminal.out.continueWithoutReader();
  if (!request.command.anySettings)
    for (const found of misspelledVariables(system)) terminal.notices.warn(misspelledText(found));
  const input = withDates(request.input, system.clock.now(), (text) => terminal.notices.note(text));
  const dated = { ...request, input };
  const { profiles } = input;
  if (!Array.isArray(profiles)) {
    const code = await runCommand(dated, deps, requestedFormat);
    warnOfHangup(code, deps);
    return code;
  }
  const { runProfiles } = await import('./profiles.ts');
  return runProfiles(profiles, {
    ...dated,
    deps,
    useFormat: (settings) => useFormat(settings, dated, requestedFormat),
    reportFailure: (error, { name, globals }) =>
      reportFailure(error, { ...deps, request: { ...dated, globals }, requestedFormat, profile: name }),
  });
}

async function runCommand(request: RunRequest, deps: Deps, requestedFormat: RequestedFormat): Promise<number> {
  const { command, input, globals } = request;
  const { system } = deps;
  const settings = command.anySettings
    ? await resolveUsableSettings(system, globals)
    : await resolveSettings(system, globals, command.newProfile);
  for (const key of keysAtHand(system, settings.stored)) deps.redactor.addSecret(key);
  if (!command.anySettings) for (const notice of settings.notices) deps.terminal.notices.warn(notice);
  useFormat(settings, request, requestedFormat);
  const dryRun = input['dryRun'] === true;
  const readOnly = dryRun || globals.curl || !command.changes;
  const context = createContext({ ...deps, globals, settings, readOnly, rehearsal: command.rehearsal?.(input) });
  try {
    const query = await openQuery(context, command);
    if (Object.values(command.parameters).some(({ file = 'read' }) => file !== 'read'))
      (await import('./files/own-input.ts')).refuseOwnInput(system, command.parameters, input);
    const preview = globals.curl && !dryRun ? await command.request?.(context, input) : undefined;
    const result = preview ? new Preview(preview) : await command.run({ ...context, query }, input);
    if (!(result instanceof Preview)) return result ?? 0;
    const { showPreview } = await import('./preview.ts');
    // Without --paginate, svc api sends a single request.
    const hasMore = input['paginate'] !== false && (command.changes || isPaged({ command, input }));
    await showPreview({ ...context, query }, result.request, { dryRun, hasMore });
    return 0;
  } finally {
    await context.close();
  }
}

/** Warns of a hangup that ended a command in order. A tail reports no error then, so nothing else names the reason. */
function warnOfHangup(code: number, { system, terminal }: Deps): void {
  const { reason } = system.signal;
  if (code === EXIT_CODES.hangup && isSvcError(reason, 'hangup')) terminal.notices.warn(withHint(reason));
}

/** Takes the output format from the settings, for errors too. @throws SvcError `usage` if --excel-safe does not go with it */
function useFormat({ output }: Settings, { globals, input }: RunRequest, requestedFormat: RequestedFormat): void {
  requestedFormat.output = output.value;
  if (!globals.excelSafe || output.value === 'csv' || input['splitInto'] !== undefined) return;
  throw new SvcError('usage', '--excel-safe goes with -o csv or --split-into', {
    hint: 'Add -o csv, or leave --excel-safe out.',
  });
}

// With --curl the operator wants to see a request, so a command that cannot show one must not run.
function refuseNothingToShow({ globals, command, words }: RunRequest): void {
  if (!globals.curl || command.request !== undefined) return;
  throw new SvcError('usage', `--curl has nothing to show: 'svc ${words}' is not about one request`, {
    hint: 'Leave --curl out.',
  });
}

/** Refuses requests where NODE_DEBUG makes the HTTP library print whole addresses. Node has read it before svc starts (R06). */
function refuseSpyingVariable({ command, globals }: RunRequest, { env }: System): void {
  if (command.permissions === undefined || globals.sandbox) return;
  if (!/undici|fetch|websocket|\*/i.test(env['NODE_DEBUG'] ?? '')) return;
  throw new SvcError('config', 'NODE_DEBUG would print signed addresses, which are secrets; nothing was done', {
    hint: 'Unset it. --debug shows each request without its secrets.',
  });
}

// Checked before any request: a new job would remain at the service while its printed upload address is lost.
function refuseClosedOutput(request: RunRequest, system: System): void {
  if (!onlyPrints(request) || !system.isOutputClosed?.()) return;
  throw new SvcError('output', 'standard output is closed, and this command only prints; nothing was done', {
    hint: 'Write to a file or a pipe, or discard the output with >/dev/null.',
  });
}

/** Whether output is the only result of a command. */
function onlyPrints({ command: { onlyPrints: declared }, input }: RunRequest): boolean {
  return input['out'] === '-' || declared === true || (typeof declared === 'function' && declared(input));
}

function terminalSettings(system: System, request: RunRequest | undefined, redactor: Redactor): TerminalSettings {
  const globals = request?.globals;
  const level = globals?.quiet ? 'quiet' : 'normal';
  return {
    level: globals?.debug || isOn(system.env['SVC_DEBUG']) ? 'debug' : level,
    jsonLog: isJsonLog(system.env),
    color: globals?.color ?? 'auto',
    noInput: globals?.noInput ?? false,
    yes: globals?.yes ?? false,
    plain: globals?.plain || isOn(system.env['SVC_PLAIN']) || system.env['TERM'] === 'dumb',
    pages: request !== undefined && !request.globals.noPager && isPaged(request),
    redact: (text) => redactor.redact(text),
  };
}

function isPaged({ command: { paged }, input }: Pick<RunRequest, 'command' | 'input'>): boolean {
  return typeof paged === 'function' ? paged(input) : paged === true;
}

// Searches the words themselves, since a program that typed `-o json` expects a usage error as JSON too.
function outputIn(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((word) => word === '-o' || word === '--output');
  const joined = argv.map((word) => /^(?:--output=|-o=?)(?=.)(.*)/.exec(word)?.[1]).find(Boolean);
  const word = at === -1 ? joined : argv[at + 1];
  return OUTPUT_FORMATS.find((format) => format === word);
}

interface ErrorReporting {
  readonly system: System;
  readonly terminal: Terminal;
  readonly request: RunRequest | undefined;
  readonly requestedFormat: RequestedFormat;
  readonly profile?: string;
}

/** Reports a failure on stderr and returns its exit code. A reader who closed the output (`| head`) is no failure. */
function reportFailure(
  error: unknown,
  { system, terminal, request, requestedFormat, profile }: ErrorReporting,
): number {
  if (error instanceof ReaderGone) return 0;
  const machine =
    isJsonLog(system.env) ||
    (requestedFormat.output === undefined
      ? !terminal.out.isTerminal && system.stderr.isTTY !== true
      : requestedFormat.output !== 'table');
  const failure = errorWithAdvice(error, request, system);
  const report = reportError(failure, {
    machine,
    debug: terminal.notices.shows('debug'),
    command: request?.words,
    profile,
    palette: terminal.noticePalette,
    columns: terminal.noticeColumns(),
    writeCommand: (words) => nextCommand(words, request?.globals, system),
    wordsOf: (words) => nextWords(words, request?.globals, system),
  });
  terminal.progress.end();
  terminal.notices.report(report);
  return failure.exitCode;
}
