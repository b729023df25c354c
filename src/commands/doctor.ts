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
  summary: 'check configuration, connectivity and keys, with a fix for every problem',
  description:
    'Checks Node, the config file, directories, proxy, certificates, DNS, connection, TLS, the service and its clock, both keys and each read permission. Changes nothing. Works without keys, with a damaged config and without a network. The exit code is 0, or the highest of the failed checks; a warning does not count as a failure.',
  examples: [
    ['svc doctor', 'before anything else, or when something does not work'],
    ['svc doctor --profile prod -o json', 'for a support case: contains no secret'],
  ],
  anySettings: true,
  exitCodes: [4, 5, 6, 7, 8],
  fields: findingView.fields,
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, findingView);
    context.progress.waiting('checking');
    const findings = await Promise.race([runChecks(context), ended(context.signal)]).finally(() =>
      context.progress.end(),
    );
    if (isForPeople(context) && context.globals.fields === undefined)
      await context.out.write(drawFindings(findings, context));
    else await print(once(findings));
    context.notices.note(summary(findings));
    return exitCodeOf(findings);
  },
});

// A check that waits for the network must not delay an interrupt: it ends with the process.
function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}

async function runChecks(context: Context): Promise<Finding[]> {
  const { system, settings, globals } = context;
  const [{ checkAuthorities, checkDirectories, checkNode }, { checkConfig, checkKeyFiles, checkSettings }] =
    await Promise.all([import('../doctor/machine.ts'), import('../doctor/settings.ts')]);
  const [inEffect, network, keys] = await Promise.all([
    checkSettings(system, globals),
    checkPath(context),
    checkKeys(context),
  ]);
  const config = checkConfig(system, settings.notices);
  return [
    checkNode(system),
    config,
    ...(config.result === 'failed' ? [skipped('settings', 'not known until the config is fixed')] : inEffect),
    ...checkKeyFiles(system),
    ...checkDirectories(system),
    checkAuthorities(system),
    ...network,
    ...keys.map((finding) => unlessImplied(finding, config, network)),
  ];
}

/** Does not report a consequence of a failure that is reported already. */
function unlessImplied(finding: Finding, config: Finding, network: readonly Finding[]): Finding {
  const { check, code } = finding;
  if (code === 'key_missing' && config.result === 'failed')
    return skipped(check, 'not known until the config is fixed');
  if ((code === 'network' || code === 'time_up') && network.some(({ result }) => result === 'failed'))
    return skipped(check, 'not checked: the service could not be reached');
  return finding;
}

async function checkPath({ system, settings, clock, signal }: Context): Promise<Finding[]> {
  if (settings.baseUrl === undefined) {
    const why = settings.sandbox ? 'the sandbox is embedded' : 'there is no base URL';
    return [skipped('network', why)];
  }
  const { checkNetwork } = await import('../doctor/network.ts');
  const baseUrl = settings.baseUrl.value;
  return checkNetwork({ baseUrl, env: system.env, clock, signal, userAgent: `svc/${VERSION}` });
}

function summary(findings: readonly Finding[]): string {
  const count = (result: Finding['result']): number =>
    findings.filter((finding) => finding.result === result).length;
  const [failures, warnings] = [count('failed'), count('warning')];
  if (failures + warnings === 0) return 'no problems found';
  return `${failures} failed, ${warnings === 1 ? '1 warning' : `${warnings} warnings`}`;
}
