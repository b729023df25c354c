import { defineCommand } from '../cli/command.ts';
import type { Context } from '../cli/context.ts';
import { drawFindings, findingView } from '../cli/doctor-view.ts';
import { isForPeople, listPrinter, once } from '../cli/print.ts';
import { exitCodeOf, type Finding, skipped } from '../doctor/finding.ts';
import { VERSION } from '../version.ts';
import { checkKeys } from './doctor-keys.ts';

/** `svc doctor` */
export const doctor = defineCommand({
  name: 'doctor',
  summary: 'what is set up here and what answers: one line each, with its mend',
  description:
    'Looks at Node, the config file, directories, proxy, certificates, name, connection, TLS, the service and its clock, both keys and each permission to read. Changes nothing. Works without keys, with a damaged config and without a network. The exit code is 0, or the highest of what failed; a warning is no failure.',
  examples: [
    ['svc doctor', 'before anything else, or when something does not work'],
    ['svc doctor --profile prod -o json', 'for a support case: it holds no secret'],
  ],
  anySettings: true,
  exitCodes: [4, 5, 6, 7, 8],
  fields: findingView.fields,
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, findingView);
    context.progress.waiting('looking');
    const findings = await Promise.race([look(context), ended(context.signal)]).finally(() =>
      context.progress.end(),
    );
    if (isForPeople(context) && context.globals.fields === undefined)
      await context.out.write(drawFindings(findings, context));
    else await print(once(findings));
    context.notices.note(summary(findings));
    return exitCodeOf(findings);
  },
});

// A step that waits for the network is not waited for: the process ends, and the step with it.
function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}

async function look(context: Context): Promise<Finding[]> {
  const { system, settings, globals } = context;
  const [{ checkAuthorities, checkDirectories, checkNode }, { checkConfig, checkKeyFiles, checkSettings }] =
    await Promise.all([import('../doctor/machine.ts'), import('../doctor/settings.ts')]);
  const [inEffect, way, keys] = await Promise.all([
    checkSettings(system, globals),
    lookAtWay(context),
    checkKeys(context),
  ]);
  const config = checkConfig(system, settings.notices);
  return [
    checkNode(system),
    config,
    ...(config.result === 'failed'
      ? [skipped('settings', 'not known while the config is not right')]
      : inEffect),
    ...checkKeyFiles(system),
    ...checkDirectories(system),
    checkAuthorities(system),
    ...way,
    ...keys.map((finding) => onceTold(finding, config, way)),
  ];
}

/** What follows from a failure that was told already is not told as one more. */
function onceTold(finding: Finding, config: Finding, way: readonly Finding[]): Finding {
  const { check, code } = finding;
  if (code === 'key_missing' && config.result === 'failed')
    return skipped(check, 'not known while the config is not right');
  if ((code === 'network' || code === 'time_up') && way.some(({ result }) => result === 'failed'))
    return skipped(check, 'not tried: the service could not be reached');
  return finding;
}

async function lookAtWay({ system, settings, clock, signal }: Context): Promise<Finding[]> {
  if (settings.baseUrl === undefined) {
    const why = settings.sandbox ? 'the sandbox is inside this command' : 'there is no base URL';
    return [skipped('network', why)];
  }
  const { checkWay } = await import('../doctor/network.ts');
  const baseUrl = settings.baseUrl.value;
  return checkWay({ baseUrl, env: system.env, clock, signal, userAgent: `svc/${VERSION}` });
}

function summary(findings: readonly Finding[]): string {
  const count = (result: Finding['result']): number =>
    findings.filter((finding) => finding.result === result).length;
  const [bad, dubious] = [count('failed'), count('warning')];
  if (bad + dubious === 0) return 'all is well';
  return `${bad} failed, ${dubious === 1 ? '1 warning' : `${dubious} warnings`}`;
}
