import { once as untilEvent } from 'node:events';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import { detailOf, inspectKey, type KeyReport, otherTenantText } from '../../cli/app/check-key.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { nextCommand } from '../../cli/app/hint.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isDrawn, listPrinter, oneBatch } from '../../cli/app/print.ts';
import { tenantInUse } from '../../cli/app/tenant-mark.ts';
import { KEY_TYPES, keyOrigin } from '../../cli/config/keys.ts';
import { cleanText, wrapWords } from '../../cli/output/text.ts';
import { countText, formatDuration } from '../../cli/output/time.ts';
import { simpleColumns, type Tone, type View } from '../../cli/output/view.ts';
import { READ_PERMISSIONS, type Tried } from '../../client/api/any-endpoint.ts';
import type { ClientCertificate } from '../../client/http/tls-options.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { agedText, checkKeyAgeOptions, KEY_AGE_PARAMETERS, keyAge, REPLACE, UNKNOWN_HINT } from '../key-age.ts';
import type { CheckedCertificate } from '../doctor/client-certificate.ts';
import { ALL_STEPS_MS } from '../doctor/connection.ts';
import { type Verdict, verdictOf } from '../doctor/verdict.ts';
import {
  failed,
  failedBy,
  type Failure,
  type Finding,
  ok,
  type Result,
  skipped,
  warning,
  worstOf,
} from '../doctor/finding.ts';

type FindingRow = Omit<Finding, 'next'> & {
  readonly next: string | null;
  /** Whose move it is: only in the row of the verdict. */
  readonly move: Verdict['move'] | null;
};

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
    'Checks Node, the config file, directories, the ledger, proxy, certificates, the client certificate, DNS, connection, TLS, the service and its clock, both keys and each read permission. Begins with whose move it is. Changes nothing. Works without keys, with a damaged config and without a network. The exit code is 0, or the highest of the failed checks; warnings do not count.',
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
    const rows = findings.map((finding) => rowOf(finding, context));
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

/** Draws the verdict above the findings: the only line that is read when there is little time. */
function drawVerdict({ text, move }: Verdict, { palette, out, plain }: Context): string {
  const lines = plain ? [cleanText(text)] : wrapWords(cleanText(text), out.isTerminal ? out.width : 80);
  return `${lines.map((line) => (move === 'nobody' ? palette.strong(line) : palette.bad(line))).join('\n')}\n\n`;
}

function rowOf({ next, code, ...finding }: Finding, context: Context): FindingRow {
  const { globals, system } = context;
  const named = hasNamedProfile(context) ? globals : { ...globals, profile: undefined };
  return { ...finding, next: next ? nextCommand(next, named, system) : null, code, move: null };
}

/** Returns the row for programs that says whose move it is. */
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

// A check that waits for the network must not delay an interrupt; it ends with the process.
async function ended(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await untilEvent(signal, 'abort');
  throw signal.reason;
}

type KeyAgeInput = Input<typeof KEY_AGE_PARAMETERS>;

async function runChecks(context: Context, ageInput: KeyAgeInput): Promise<Finding[]> {
  const { system, settings, globals } = context;
  const { checkAuthorities, checkConfig, checkDirectories, checkKeyFiles, checkNode, checkSettings, checkVariables } =
    await import('../doctor/machine.ts');
  const config = checkConfig(system, settings.notices);
  const inEffect =
    config.result === 'failed'
      ? [skipped('settings', 'not known until the config is fixed')]
      : await checkSettings(system, globals);
  const unread = unreadProfile([config, ...inEffect]);
  const certificate = await checkCertificate(context);
  const [network, keys, ledger] = await Promise.all([
    checkPath(context, certificate.certificate, unread),
    checkKeys(context, unread),
    checkSharedLedger(context),
  ]);
  const { findings: ofKeys, stranger } = keys;
  return [
    checkNode(system),
    config,
    ...inEffect,
    ...checkVariables(system),
    ...checkKeyFiles(system),
    ...checkDirectories(system),
    ...ledger,
    checkAuthorities(system),
    ...certificate.findings,
    ...withStranger(network, stranger),
    ...ofKeys.map((finding) => unlessImplied(finding, network)),
    ...KEY_TYPES.flatMap((type) => ageFinding(context, type, ageInput) ?? []),
  ];
}

/** Returns why it is not known what the profile contains; undefined if it could be read. */
function unreadProfile(findings: readonly Finding[]): string | undefined {
  const wrong = findings.find(({ check, result }) => result === 'failed' && ['config', 'settings'].includes(check));
  return wrong && `not known until the ${wrong.check} ${wrong.check === 'config' ? 'is' : 'are'} fixed`;
}

/** Skips a finding that follows from a failure which is already reported. */
function unlessImplied(finding: Finding, network: readonly Finding[]): Finding {
  const { check, code } = finding;
  if ((code === 'network' || code === 'timeout') && network.some(({ result }) => result === 'failed'))
    return skipped(check, 'not checked: the service could not be reached');
  return finding;
}

async function checkSharedLedger(context: Context): Promise<Finding[]> {
  const { checkLedger } = await import('../doctor/ledger.ts');
  return checkLedger(context);
}

/** Checks the client certificate, where one is set, and returns it for the checks of the network. */
async function checkCertificate({ settings, clock }: Context): Promise<CheckedCertificate> {
  if (settings.clientCert.value === undefined && settings.clientKey.value === undefined) return { findings: [] };
  const { checkClientCertificate } = await import('../doctor/client-certificate.ts');
  return checkClientCertificate(settings, clock.now());
}

async function checkPath(
  { system, settings, clock, signal }: Context,
  certificate: ClientCertificate | undefined,
  unread?: string,
): Promise<Finding[]> {
  if (settings.baseUrl === undefined) {
    const why = settings.sandbox ? 'the sandbox is embedded' : 'there is no base URL';
    return [skipped('network', unread ?? why)];
  }
  const { checkNetwork } = await import('../doctor/network.ts');
  const baseUrl = settings.baseUrl.value;
  return checkNetwork({ baseUrl, env: system.env, clock, signal, userAgent: `svc/${VERSION}`, certificate });
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

/** Whether --profile, if it was given, names a stored profile. The name of a missing one may be a key in the wrong place (R05). */
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

/** The findings about both keys, and the finding about a server that responds to every read as no service does. */
interface KeyFindings {
  readonly findings: readonly Finding[];
  readonly stranger: Finding | undefined;
}

async function checkKeys(context: Context, unread?: string): Promise<KeyFindings> {
  const { system, settings } = context;
  const has = KEY_TYPES.filter((kind) => keyOrigin(system, settings, kind) !== undefined);
  const reports = await Promise.all(has.map((kind) => inspectKey(context, kind, ALL_STEPS_MS / 1000)));
  const stranger = strangerFinding(reports);
  const why = stranger === undefined ? undefined : 'the responses are not those of the service';
  const found = KEY_TYPES.map((kind): readonly [key: Finding, permissions: readonly Finding[]] => {
    const report = reports.find((one) => one.kind === kind);
    // Neither the keys nor the base URL of a profile that could not be read are missing.
    const isPlaceless = settings.baseUrl === undefined && !settings.sandbox;
    if (unread !== undefined && (report === undefined || isPlaceless))
      return [skipped(`${kind} key`, unread), untried(kind, 'the key is not known')];
    if (report === undefined) return [missing(`${kind} key`, kind, has.length > 0), untried(kind, 'there is no key')];
    if (why !== undefined) return [skipped(`${kind} key`, `not checked: ${why}`), untried(kind, why)];
    return checkKind(context, report);
  });
  const keys = [...found.map(([key]) => key), ...tenantFinding(context, reports)];
  return { findings: [...keys, ...found.flatMap(([, permissions]) => permissions)], stranger };
}

/** Returns the warning about keys of two tenants, by the responses that the checks of the keys got. */
function tenantFinding(context: Context, reports: readonly KeyReport[]): Finding[] {
  const checks = reports.flatMap(({ check }) => check ?? []);
  const known = checks.find(({ tenant }) => tenant !== undefined)?.tenant ?? tenantInUse(context);
  const other = otherTenantText(known, checks);
  if (other === undefined) return [];
  const next = ['login', '--profile', '<name>'];
  return [{ ...warning('tenant', other, 'Store each key in a profile of its tenant.'), next }];
}

/** Returns the finding about a server that sent a response to every read, and none of them as documented. */
function strangerFinding(reports: readonly KeyReport[]): Finding | undefined {
  const [first] = reports;
  if (first?.failure === undefined || !reports.every(isStrange)) return undefined;
  const { message, code } = first.failure;
  return failed('service', `responds, but not as documented: ${message}`, CHECK_BASE_URL, code);
}

function isStrange({ check }: KeyReport): boolean {
  return check?.tried.every(({ status, error }) => status === 'unclear' && isSvcError(error, ...STRANGE)) ?? false;
}

const STRANGE = ['not_found', 'bad_response', 'forbidden'] as const;
const CHECK_BASE_URL = 'Is the base URL right? It should be the address of the API itself.';

/** Returns the finding about a check without a result. The hint of an undocumented response is to run this command. */
function unclearFinding(check: string, error: SvcError): Finding {
  if (!isSvcError(error, ...STRANGE)) return failedBy(check, error);
  return failed(check, error.message, CHECK_BASE_URL, error.code);
}

/** Replaces the finding about the service by the one about a server that is none, unless it is a failure already. */
function withStranger(network: readonly Finding[], stranger: Finding | undefined): readonly Finding[] {
  const known = network.find(({ check }) => check === 'service');
  if (stranger === undefined || known?.result === 'failed') return network;
  return known ? network.map((finding) => (finding === known ? stranger : finding)) : [...network, stranger];
}

function checkKind(
  context: Context,
  { kind, check: tried, failure }: KeyReport,
): readonly [key: Finding, permissions: readonly Finding[]] {
  const { system, settings } = context;
  const check = `${kind} key`;
  if (failure && (tried === undefined || tried.verdict !== 'unclear')) {
    const why = tried === undefined ? 'the key could not be checked' : 'the key is not valid';
    return [failedBy(check, failure), untried(kind, why)];
  }
  const answers = tried?.tried.map(permissionFinding) ?? [];
  if (failure) return [unclearFinding(check, failure), answers];
  const age = keyAge(context, kind);
  const stored = age?.ageMs === undefined ? '' : `, ${agedText(age)}`;
  const from = settings.sandbox ? 'built in' : `${keyOrigin(system, settings, kind)?.name}${stored}`;
  if (tried?.verdict === 'powerless') {
    const isAboutFeatures = tried.tried.every(({ error }) => disabledFeatureOf(error) !== undefined);
    const fix = isAboutFeatures
      ? "Ask the service's support to enable the features that you need."
      : 'Give the key the permissions that you need.';
    return [warning(check, `valid (${from}), but has no read permission`, fix), answers];
  }
  const tenant = tried?.tenant;
  const at = tenant ? ` for the ${tenant.type.toUpperCase()} tenant ${JSON.stringify(tenant.name)}` : '';
  return [ok(check, `accepted${at} (${from})`), answers];
}

/** Compares the age of a key with --max-key-age; undefined without the option, and where no key is in use. */
function ageFinding(context: Context, type: KeyType, { maxKeyAge, strict }: KeyAgeInput): Finding | undefined {
  const age = maxKeyAge === undefined ? undefined : keyAge(context, type);
  if (maxKeyAge === undefined || age === undefined) return undefined;
  const check = `${type} key age`;
  const allowed = `allowed: ${formatDuration(maxKeyAge)}`;
  if (age.ageMs === undefined) {
    const found = `not known (${age.from}); ${allowed}`;
    return strict ? failed(check, found, UNKNOWN_HINT, 'threshold') : warning(check, found, UNKNOWN_HINT);
  }
  const found = `${agedText(age)}; ${allowed}`;
  if (age.ageMs <= maxKeyAge) return ok(check, found);
  return { ...failed(check, found, REPLACE, 'threshold'), next: ['login', '--rotate'] };
}

function missing(check: string, kind: KeyType, hasOther: boolean): Finding {
  const use = kind === 'management' ? 'logs and the tenant' : '3DS and the Account Updater';
  const next = ['login'];
  if (hasOther) return { ...warning(check, 'none is stored', `For ${use}, store one.`), next };
  const fix = 'Store one. The sandbox works without a key.';
  return { ...failed(check, 'none is stored', fix, 'key_missing'), next };
}

function permissionFinding({ permission: { name, kind }, status, error }: Tried): Finding {
  if (status === 'allowed') return ok(name, 'allowed');
  if (status === 'unclear' && error) return unclearFinding(name, error);
  const feature = disabledFeatureOf(error);
  const detail = detailOf(error);
  const fix =
    feature !== undefined
      ? `If you need it, ask the service's support to enable ${feature} for the tenant.`
      : `If you need it, give the ${kind} key the permission ${name}.`;
  return warning(name, `not allowed (${error?.status ?? 403})${detail === undefined ? '' : `: ${detail}`}`, fix);
}

function disabledFeatureOf(error: SvcError | undefined): string | undefined {
  const feature = error?.facts?.['disabled_feature'];
  return typeof feature === 'string' ? feature : undefined;
}

function untried(kind: KeyType, why: string): Finding[] {
  return READ_PERMISSIONS.filter((permission) => permission.kind === kind).map(({ name }) =>
    skipped(name, `not checked: ${why}`),
  );
}

const NARROWEST = 24;

// Every color is accompanied by a word with the same meaning.
const MARKS: Readonly<Record<Result, readonly [word: string, tone: Tone, sign: string]>> = {
  ok: ['ok', 'good', '✓'],
  warning: ['warn', 'warn', '!'],
  failed: ['FAIL', 'bad', '✗'],
  skipped: ['-', 'quiet', '-'],
};

/** Draws findings for people, one line each with the fix below. */
function drawFindings(findings: readonly FindingRow[], context: Context): string {
  if (context.plain) return findings.map(sentence).join('');
  const { palette, out, unicode, marks } = context;
  const names = Math.max(0, ...findings.map(({ check }) => check.length)) + 2;
  const columns = out.isTerminal ? out.width : 80;
  // On a narrow terminal the text goes below the name.
  const markWidth = marks ? 1 : 4;
  const beside = columns - markWidth - 2 - names >= NARROWEST;
  const indent = ' '.repeat(markWidth + 2 + (beside ? names : 0));
  const width = columns - indent.length;
  const arrow = unicode ? '→ ' : '> ';
  return findings
    .flatMap(({ check, result, found, fix, next }) => {
      const [word, tone, sign] = MARKS[result];
      const mark = (marks ? sign : word).padEnd(markWidth);
      const lines = wrapWords(cleanText(found), width);
      const [first = '', ...more] = beside ? lines : ['', ...lines];
      const advice = fix === null ? [] : wrapWords(fix, width - 2);
      const paint = (line: string): string => (result === 'skipped' ? palette.quiet(line) : line);
      return [
        `${palette[tone](mark)}  ${paint(check.padEnd(names) + first)}`,
        ...more.map((line) => indent + paint(line)),
        ...advice.map((line, at) => indent + palette.strong((at === 0 ? arrow : '  ') + line)),
        ...(next === null ? [] : [`${indent}  ${palette.accent(next)}`]),
      ];
    })
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

// A screen reader gets name, result and fix in one sentence.
function sentence({ check, result, found, fix, next }: FindingRow): string {
  const what = `${check}: ${result}: ${cleanText(found)}`;
  const advice = fix === null ? '' : `. Fix: ${fix}`;
  return `${what}${advice}${next === null ? '' : ` Next: ${next}`}\n`;
}
