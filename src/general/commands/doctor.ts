import { once as untilEvent } from 'node:events';
import { VERSION } from '../../base/version.ts';
import { inspectKey } from '../../cli/app/check-key.ts';
import { type Context, defineCommand, PROFILES_PARAMETER } from '../../cli/app/command.ts';
import { nextCommand } from '../../cli/app/hint.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isDrawn, listPrinter, oneBatch } from '../../cli/app/print.ts';
import { KEY_TYPES, keyOrigin } from '../../cli/config/keys.ts';
import { cleanText, wrapWords } from '../../cli/output/text.ts';
import { countText, formatDuration } from '../../cli/output/time.ts';
import { simpleColumns, type Tone, type View } from '../../cli/output/view.ts';
import { READ_PERMISSIONS, type Tried } from '../../client/api/any-endpoint.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { agedText, checkKeyAgeOptions, KEY_AGE_PARAMETERS, keyAge, REPLACE, UNKNOWN_HINT } from '../key-age.ts';
import { exitCodeOf, failed, failedBy, type Finding, ok, type Result, skipped, warning } from '../doctor/finding.ts';

type FindingRow = Omit<Finding, 'next'> & { readonly next: string | null };

const findingView: View<FindingRow> = {
  name: 'finding',
  fields: ['check', 'result', 'found', 'fix', 'next', 'code'],
  columns: [
    ...simpleColumns({ check: 'text', result: 'status', found: 'text' }),
    { path: 'fix', kind: 'text', priority: 1 },
  ],
};

export const doctor = defineCommand({
  description:
    'Checks Node, the config file, directories, proxy, certificates, DNS, connection, TLS, the service and its clock, both keys and each read permission. Changes nothing. Works without keys, with a damaged config and without a network. The exit code is 0, or the highest of the failed checks; warnings do not count.',
  examples: [
    ['svc doctor', 'before anything else, or when something does not work'],
    ['svc doctor --profile prod -o json', 'for a support case: contains no secret'],
    ['svc doctor --max-key-age 90d', 'exit code 10 when a stored key is older'],
  ],
  anySettings: true,
  exitCodes: [4, 5, 6, 7, 8, 10],
  fields: findingView.fields,
  parameters: { ...KEY_AGE_PARAMETERS, ...PROFILES_PARAMETER },
  async run(context, { maxKeyAge, strict }) {
    checkKeyAgeOptions({ maxKeyAge, strict });
    const print = await listPrinter(context, findingView);
    context.progress.waiting('checking');
    const findings = await Promise.race([runChecks(context, { maxKeyAge, strict }), ended(context.signal)]).finally(
      () => context.progress.end(),
    );
    const rows = findings.map((finding) => rowOf(finding, context));
    if (isDrawn(context)) await context.out.write(drawFindings(rows, context));
    else await print(oneBatch(rows));
    const [counts, isGood] = summary(findings);
    context.notices[isGood ? 'success' : 'failure'](counts);
    return exitCodeOf(findings);
  },
});

function rowOf({ next, code, ...finding }: Finding, { globals, settings, system }: Context): FindingRow {
  // The name of a missing profile may be a key in the wrong place (R05).
  const named = settings.profile.value === globals.profile ? globals : { ...globals, profile: undefined };
  return { ...finding, next: next ? nextCommand(next, named, system) : null, code };
}

// A check that waits for the network must not delay an interrupt; it ends with the process.
async function ended(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await untilEvent(signal, 'abort');
  throw signal.reason;
}

type KeyAgeInput = Input<typeof KEY_AGE_PARAMETERS>;

async function runChecks(context: Context, ageInput: KeyAgeInput): Promise<Finding[]> {
  const { system, settings, globals } = context;
  const { checkAuthorities, checkConfig, checkDirectories, checkKeyFiles, checkNode, checkSettings } =
    await import('../doctor/machine.ts');
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
    ...KEY_TYPES.flatMap((type) => ageFinding(context, type, ageInput) ?? []),
  ];
}

/** Skips a finding that follows from a failure which is already reported. */
function unlessImplied(finding: Finding, config: Finding, network: readonly Finding[]): Finding {
  const { check, code } = finding;
  if (code === 'key_missing' && config.result === 'failed')
    return skipped(check, 'not known until the config is fixed');
  if ((code === 'network' || code === 'timeout') && network.some(({ result }) => result === 'failed'))
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

function summary(findings: readonly Finding[]): readonly [counts: string, isGood: boolean] {
  const count = (result: Finding['result']): number => findings.filter((finding) => finding.result === result).length;
  const failures = count('failed');
  const warnings = count('warning');
  if (failures + warnings === 0) return ['no problems found', true];
  return [`${failures} failed, ${countText(warnings, 'warning')}`, failures === 0];
}

async function checkKeys(context: Context): Promise<Finding[]> {
  const has = KEY_TYPES.filter((kind) => keyOrigin(context.system, context.settings, kind) !== undefined);
  const found = await Promise.all(KEY_TYPES.map((kind) => checkKind(context, kind, has.length > 0)));
  return [...found.map(([key]) => key), ...found.flatMap(([, permissions]) => permissions)];
}

async function checkKind(
  context: Context,
  kind: KeyType,
  hasOther: boolean,
): Promise<readonly [key: Finding, permissions: readonly Finding[]]> {
  const { system, settings } = context;
  const check = `${kind} key`;
  const origin = keyOrigin(system, settings, kind);
  if (origin === undefined) return [missing(check, kind, hasOther), untried(kind, 'there is no key')];
  const { check: tried, failure } = await inspectKey(context, kind);
  if (failure && (tried === undefined || tried.verdict !== 'unclear')) {
    const why = tried === undefined ? 'the key could not be checked' : 'the key is not valid';
    return [failedBy(check, failure), untried(kind, why)];
  }
  const answers = tried?.tried.map(permissionFinding) ?? [];
  if (failure) return [failedBy(check, failure), answers];
  const age = keyAge(context, kind);
  const stored = age?.ageMs === undefined ? '' : `, ${agedText(age)}`;
  const from = settings.sandbox ? 'built in' : origin.name + stored;
  if (tried?.verdict === 'powerless') {
    const fix = 'Give the key the permissions that you need.';
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
  if (status === 'unclear' && error) return failedBy(name, error);
  const fix = `If you need it, give the ${kind} key the permission ${name}.`;
  return warning(name, `not allowed (${error?.status ?? 403})`, fix);
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
