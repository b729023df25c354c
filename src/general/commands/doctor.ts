import { once as untilEvent } from 'node:events';
import { SvcError } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { nextCommand } from '../../cli/app/hint.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isDrawn, listPrinter, oneBatch } from '../../cli/app/print.ts';
import { readClientCertificate } from '../../cli/config/client-certificate.ts';
import type { Settings } from '../../cli/config/settings.ts';
import { countText } from '../../cli/output/number.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import type { ClientCertificate } from '../../client/http/tls-options.ts';
import { type Failure, type Finding, findingsOf, findingsOfAll, worstOf } from '../doctor/check.ts';
import { drawFindings, drawVerdict, type FindingRow } from '../doctor/draw.ts';
import { type Verdict, verdictOf } from '../doctor/verdict.ts';
import { checkKeyAgeOptions, KEY_AGE_PARAMETERS } from '../key-age.ts';

const findingView: View<FindingRow> = {
  name: 'finding',
  fields: ['check', 'result', 'found', 'fix', 'next', 'code', 'move'],
  columns: [
    ...simpleColumns({ check: 'text', result: 'status', found: 'text' }),
    { path: 'fix', kind: 'text', priority: 1 },
  ],
};

export const doctor = defineCommand({
  description:
    'Checks Node, the config file, directories, the ledger, proxy, certificates, the client certificate, connection, TLS, the service and its clock, both keys and each read permission. Begins with whose move it is. Changes nothing. Works without keys, with a damaged config and without a network. The exit code is 0, or the highest of the failed checks; warnings do not count.',
  examples: [
    ['svc doctor', 'before anything else, or when something does not work'],
    ['svc doctor --profile prod -o json', 'for a support case: contains no secret'],
    ['svc doctor --max-key-age 90d', 'exit code 10 when a stored key is older'],
  ],
  anySettings: true,
  exitCodes: [4, 5, 6, 7, 8, 10],
  fields: findingView.fields,
  parameters: KEY_AGE_PARAMETERS,
  async run(context, { maxKeyAge, strict }) {
    checkKeyAgeOptions({ maxKeyAge, strict });
    const print = await listPrinter(context, findingView);
    context.progress.waiting('checking');
    const findings = await Promise.race([runChecks(context, { maxKeyAge, strict }), ended(context.signal)]).finally(
      () => context.progress.end(),
    );
    const rows = findings.map((finding) => findingRow(finding, context));
    const verdict = verdictOf(findings);
    if (isDrawn(context)) await context.out.write(drawVerdict(verdict, context) + drawFindings(rows, context));
    else {
      context.notices.note(verdict.text);
      await print(oneBatch([verdictRow(verdict, findings), ...rows]));
    }
    const counts = summary(findings);
    const worst = worstOf(findings);
    if (worst !== undefined) throw checksFailed(worst, counts, context);
    context.notices.success(counts);
  },
});

function findingRow({ next, code, ...finding }: Finding, context: Context): FindingRow {
  const { globals, system } = context;
  const named = hasNamedProfile(context) ? globals : { ...globals, profile: undefined };
  return { ...finding, next: next ? nextCommand(next, named, system) : null, code, move: null };
}

/** Returns the verdict as a row, for machine formats. */
function verdictRow({ text, move }: Verdict, findings: readonly Finding[]): FindingRow {
  const result = findings.some((finding) => finding.result === 'failed') ? 'failed' : 'warning';
  return {
    check: 'verdict',
    result: move === 'nobody' ? 'ok' : result,
    found: text,
    fix: null,
    next: null,
    code: null,
    move,
  };
}

// An interrupt ends the command at once. A check that still waits for the network ends with the process.
async function ended(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await untilEvent(signal, 'abort');
  throw signal.reason;
}

type KeyAgeInput = Input<typeof KEY_AGE_PARAMETERS>;

async function runChecks(context: Context, ageInput: KeyAgeInput): Promise<Finding[]> {
  const [{ checkMachine }, { ageChecks, checkKeys }, { ledgerCheck }] = await Promise.all([
    import('../doctor/machine.ts'),
    import('../doctor/keys.ts'),
    import('../doctor/ledger.ts'),
  ]);
  const machine = await checkMachine(context);
  const unread = unreadProfile(machine);
  const [network, ledger, keys] = await Promise.all([
    checkPath(context, unread),
    findingsOf(ledgerCheck(context)),
    checkKeys(context, unread).then(findingsOfAll),
  ]);
  const keyFindings = keys.map((finding) => unlessImplied(finding, network));
  return [...machine, ...network, ...ledger, ...keyFindings, ...(await findingsOfAll(ageChecks(context, ageInput)))];
}

/** Returns why the profile could not be read; undefined if it was read. */
function unreadProfile(findings: readonly Finding[]): string | undefined {
  const wrong = findings.find(({ check, result }) => result === 'failed' && ['config', 'settings'].includes(check));
  return wrong && `not known until the ${wrong.check} ${wrong.check === 'config' ? 'is' : 'are'} fixed`;
}

/** Replaces the network failure of a key check by `skipped` if a check of the network has failed too. */
function unlessImplied(finding: Finding, network: readonly Finding[]): Finding {
  const { check, code } = finding;
  if ((code === 'network' || code === 'timeout') && network.some(({ result }) => result === 'failed'))
    return { check, result: 'skipped', found: 'not checked: the service could not be reached', fix: null, code: null };
  return finding;
}

async function checkPath({ system, settings, clock, signal }: Context, unread?: string): Promise<Finding[]> {
  const { baseUrl, sandbox } = settings;
  if (baseUrl === undefined) {
    const found = unread ?? (sandbox ? 'the sandbox is embedded' : 'there is no base URL');
    return [{ check: 'network', result: 'skipped', found, fix: null, code: null }];
  }
  const { checkNetwork } = await import('../doctor/network.ts');
  const certificate = usableCertificate(settings, baseUrl.value);
  const userAgent = `svc/${VERSION}`;
  return checkNetwork({ baseUrl: baseUrl.value, env: system.env, clock, signal, userAgent, certificate });
}

/** Returns the client certificate for the service; undefined if it is unusable, which another check reports. */
function usableCertificate(settings: Settings, baseUrl: URL): ClientCertificate | undefined {
  try {
    return readClientCertificate(settings, baseUrl);
  } catch {
    return undefined;
  }
}

/** Returns the error that ends the command. The drawn findings already name the failed check and its fix. */
function checksFailed({ check, found, fix, next, code }: Failure, counts: string, context: Context): SvcError {
  if (isDrawn(context)) return new SvcError(code, counts);
  const isNamed = hasNamedProfile(context) || next === undefined || next.includes('--profile');
  return new SvcError(code, `${check}: ${found} (${counts})`, {
    hint: fix ?? undefined,
    next: isNamed ? next : [...next, '--profile', '<name>'],
    facts: { check },
  });
}

/** Whether the profile name may be shown. A `--profile` that names no stored profile may be a key in the wrong place (R05). */
function hasNamedProfile({ globals, settings }: Context): boolean {
  return globals.profile === undefined || settings.profile.value === globals.profile;
}

function summary(findings: readonly Finding[]): string {
  const count = (result: Finding['result']): number => findings.filter((finding) => finding.result === result).length;
  const failures = count('failed');
  const warnings = count('warning');
  if (failures + warnings === 0) return 'no problems found';
  return `${failures} failed, ${countText(warnings, 'warning')}`;
}
