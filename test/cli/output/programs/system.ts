import { SvcError } from '../../../../src/base/errors.ts';
import { type System, systemClock } from '../../../../src/base/system.ts';
import { errorWithAdvice } from '../../../../src/cli/app/advice.ts';
import { reportError } from '../../../../src/cli/output/error-report.ts';
import { ReaderGone, standardStream } from '../../../../src/cli/output/output.ts';
import { openTerminal, type Terminal } from '../../../../src/cli/output/terminal.ts';

/** Runs a small test program in the real process, and ends it as svc ends a command. */
export async function runProgram(body: (terminal: Terminal, system: System) => Promise<void>): Promise<void> {
  const ended = new AbortController();
  process.on('SIGINT', () => ended.abort(new SvcError('interrupted', 'interrupted')));
  const system: System = {
    env: process.env,
    platform: process.platform,
    home: undefined,
    cwd: process.cwd(),
    pid: process.pid,
    nodeVersion: process.versions.node,
    stdin: process.stdin,
    stdout: standardStream(1, () => process.stdout),
    stderr: standardStream(2, () => process.stderr),
    clock: systemClock,
    signal: ended.signal,
    isAlive: () => false,
  };
  const plain = process.env['TERM'] === 'dumb';
  const settings = { level: 'normal', color: 'auto', noInput: false, yes: false, plain, pages: false, redact } as const;
  const terminal = await openTerminal(system, settings);
  try {
    await body(terminal, system);
  } catch (error) {
    if (error instanceof ReaderGone) return;
    terminal.progress.end();
    terminal.notices.report(reportError(errorWithAdvice(error, undefined, system), { machine: false, debug: false }));
    process.exitCode = error instanceof SvcError ? error.exitCode : 1;
  } finally {
    await terminal.close();
  }
}

function redact(text: string): string {
  return text.replaceAll('canary-secret', '[redacted]');
}
