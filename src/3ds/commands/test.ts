import path from 'node:path';
import { bodyParameters, warnOfViolations } from '../body.ts';
import { openJunitFile } from '../junit-file.ts';
import { tenantCheck } from '../read-session.ts';
import type { LiftableRule } from '../rules.ts';
import {
  type PlannedScenario,
  challengeTimeoutParameter,
  firstRequest,
  planScenario,
  runScenario,
} from '../scenario.ts';
import { type ScenarioResult, failedResult, scenarioView } from '../scenario-result.ts';
import { threeDsCards } from '../session-card.ts';
import { type Scenario, readSuite, refusedSuite } from '../suite.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { type Context, Preview, type Result, defineCommand, dryRunParameter } from '../../cli/app/command.ts';
import { readDataFile } from '../../cli/app/files/data-file.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { DOCUMENTS, flag, optionalArgument, reading, suggesting, value, writing } from '../../cli/app/parameter.ts';
import { type ListPrinter, listPrinter, oneBatch } from '../../cli/app/print.ts';
import { refuseForms } from '../../cli/app/query.ts';
import { confirmCost } from '../../cli/app/tenant-mark.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { countText } from '../../cli/output/number.ts';
import type { AuthenticateRequest } from '../../schema/three-ds/authenticate.ts';
import { CHALLENGE_CANCEL_REASON_CODES, STATUS_REASONS } from '../../schema/three-ds/values.ts';

/** The number of concurrent sessions. The client itself stays within the rate limits. */
const CONCURRENT = 6;

export const test = defineCommand({
  description:
    'Without a file it runs the built-in suite: every test card of the sandbox, or with --all-reasons every reason. Challenges of the sandbox are answered by svc, those of a test tenant by you. The JUnit report contains names, counts, statuses, codes and session ids only.',
  examples: [
    ['svc --sandbox 3ds test', 'all test cards of the sandbox'],
    ['svc --sandbox 3ds test --all-reasons', 'every status reason and cancel reason'],
    ['svc 3ds test --print > suite.yaml', 'a suite to start from'],
    ['svc 3ds test suite.yaml --junit report.xml', 'in CI'],
  ],
  permissions: ['3ds:session:create', '3ds:session:authenticate', '3ds:session:read'],
  exitCodes: [9, [10, 'a scenario did not end as expected'], 13],
  changes: true,
  fields: scenarioView.fields,
  onlyPrints: ({ print }) => print === true,
  parameters: {
    suite: reading(optionalArgument('[file|-]', 'scenarios as YAML, or - for standard input'), DOCUMENTS),
    only: suggesting(
      async () =>
        [...new Set((await threeDsCards()).map(({ scenario }) => scenario))].map((name) => [name, 'test cards']),
      value('--only <text>', 'only scenarios whose name contains this', text),
    ),
    junit: writing(value('--junit <file>', 'write a JUnit report too; an earlier one is replaced', text)),
    print: flag('--print', 'write the built-in suite as YAML and send nothing'),
    allReasons: flag('--all-reasons', 'every status reason and cancel reason of the interface, at the sandbox'),
    allow: bodyParameters.allow,
    challengeTimeout: challengeTimeoutParameter,
    dryRun: dryRunParameter,
  },
  async run(context, input): Promise<Result> {
    const { junit, challengeTimeout, dryRun } = input;
    if (input.print) {
      refuseForms(context, '--print');
      return context.out.write(suiteText(await printedSuite(input)));
    }
    const print = await listPrinter(context, scenarioView);
    const writeReport = junit === undefined || dryRun ? undefined : await openJunitFile(context, junit);
    const planned = await readPlanned(context, input);
    if (dryRun) return new Preview(await firstRequest(planned[0]));
    warnOfViolations(context, planned);
    await confirmCost(context, 'run the scenarios', { unchanged: 'nothing was sent' });
    const started = context.clock.now();
    const { results, failure } = await runAll(context, planned, challengeTimeout);
    writeReport?.(withFailed(planned, results, failure), context.clock.now() - started);
    await printResults(print, results.filter(Boolean), failure);
    reportCounts(context, results);
  },
  request: async (context, input) => firstRequest((await readPlanned(context, input))[0]),
});

interface SuiteChoice {
  readonly suite: string | undefined;
  readonly only: string | undefined;
  readonly allReasons: boolean;
  readonly allow: readonly LiftableRule[];
}

type Planned = readonly [PlannedScenario, ...PlannedScenario[]];

/** Returns the built-in suite as it is printed. @throws SvcError `usage` for a file, which is a suite already */
async function printedSuite({ suite: file, only, allReasons }: Omit<SuiteChoice, 'allow'>) {
  if (file !== undefined)
    throw new SvcError('usage', '--print prints the built-in suite and cannot be combined with a file');
  return withName(await builtInSuite(allReasons), only);
}

async function readPlanned(context: Context, { suite: file, only, allReasons, allow }: SuiteChoice): Promise<Planned> {
  if (allReasons && file !== undefined)
    throw new SvcError('usage', '--all-reasons is a suite by itself and cannot be combined with a file');
  const data = file === undefined ? undefined : await readDataFile(context, file);
  const scenarios = data === undefined ? await builtInSuite(allReasons) : readSuite(data);
  const directory = file === undefined || file === '-' ? '' : path.dirname(file);
  const planned: PlannedScenario[] = [];
  for (const [at, scenario] of scenarios.entries()) {
    try {
      planned.push(await planScenario(context, scenario, { directory, allow }));
    } catch (error) {
      if (data === undefined || !isSvcError(error, 'usage')) throw error;
      throw refusedSuite(data.name, [[data.lineOf(['scenarios', at]) ?? 0, error.message]]);
    }
  }
  return withName(planned, only);
}

/** Returns the scenarios that --only chooses; all without it. @throws SvcError `usage` if there is none */
function withName<T extends Pick<Scenario, 'name'>>(
  suite: readonly T[],
  only: string | undefined,
): readonly [T, ...T[]] {
  const [first, ...more] = suite.filter(({ name }) => only === undefined || name.includes(only));
  if (first !== undefined) return [first, ...more];
  throw new SvcError('usage', 'no scenario has a name with the text of --only', {
    hint: `The suite has ${suite.length} scenarios; upper and lower case count.`,
  });
}

interface SuiteResults {
  /** The results, each at the position of its scenario. Scenarios that did not run have no result. */
  readonly results: readonly ScenarioResult[];
  /** The error that ended the suite early, such as a refused key. */
  readonly failure: unknown;
}

/** Runs all scenarios, several at a time. Returns an error that ended the suite early, so that results are reported first. */
async function runAll(context: Context, planned: Planned, timeoutMs?: number): Promise<SuiteResults> {
  const client = await context.client();
  const { threeDs } = client;
  const options = {
    checkTenant: tenantCheck(context, client),
    authenticate: (id: string, body: AuthenticateRequest) => threeDs.authenticate(id, body, ['3ds', 'show', id]),
    timeoutMs,
  };
  const shown = context.progress.watching('3-D Secure scenarios');
  const results: ScenarioResult[] = [];
  const fatal: unknown[] = [];
  const waiting = planned.entries();
  const work = async (): Promise<void> => {
    for (const [at, one] of waiting) {
      if (fatal.length > 0) return;
      try {
        results[at] = await runScenario(context, client, one, options);
      } catch (error) {
        if (!isSvcError(error) || FATAL_CODES.has(error.code)) {
          fatal.push(error);
          return;
        }
        warnOf(context, one.name, error);
        results[at] = failedResult(one, error);
      }
      shown?.update({ state: `${results.filter(Boolean).length} of ${planned.length}` });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  shown?.done();
  const failure = fatal[0] ?? (context.signal.aborted ? context.signal.reason : undefined);
  return { results, failure: unclearTimeout(failure, results) };
}

/** The codes of errors that would end every scenario. */
const FATAL_CODES = new Set<string>([
  'config',
  'usage',
  'key_missing',
  'key_refused',
  'unauthorized',
  'forbidden',
  'timeout',
  'hangup',
  'interrupted',
  'terminated',
]);

/** Rewrites the error of a time limit if authentications may have been made: the suite must not simply run again. */
function unclearTimeout(failure: unknown, results: readonly ScenarioResult[]): unknown {
  const ran = results.filter(Boolean);
  if (!isSvcError(failure, 'timeout') || ran.length === 0) return failure;
  // Without a session, no authentication was sent.
  const unclear = ran.filter(({ reason }) => reason?.startsWith('outcome_unknown'));
  const sessions = unclear.flatMap(({ session }) => session ?? []);
  const [first] = sessions;
  if (first === undefined)
    return failure.with({
      hint: 'Another run of the suite authenticates every scenario again, including the completed ones.',
      retryable: false,
    });
  return failure.with({
    code: 'outcome_unknown',
    message: `${failure.message}: the outcome of ${countText(sessions.length, 'scenario')} is unknown`,
    hint: 'Check the outcome before you run the suite again.',
    next: ['3ds', 'show', first],
    facts: { sessions },
    retryable: false,
  });
}

/** Returns a result for each scenario. A scenario that did not run gets the error that ended the suite. */
function withFailed(planned: Planned, results: readonly ScenarioResult[], failure: unknown): ScenarioResult[] {
  const error = isSvcError(failure) ? failure : new SvcError('bug', 'the suite ended early');
  return planned.map((one, at) => results[at] ?? failedResult(one, error));
}

/** Prints the results of the scenarios that ran. @throws the error that ended the suite early */
async function printResults(print: ListPrinter<ScenarioResult>, ran: readonly ScenarioResult[], failure: unknown) {
  try {
    if (ran.length > 0) await print(oneBatch(ran));
  } catch (error) {
    throw failure ?? error;
  }
  if (failure !== undefined) throw failure;
}

function reportCounts({ notices }: Context, results: readonly ScenarioResult[]): void {
  const failed = results.filter(({ result }) => result === 'failed');
  const passed = results.length - failed.length;
  if (failed.length === 0) return notices.success(`${passed} passed, 0 failed`);
  const session = failed.find((one) => one.session !== null)?.session;
  throw new SvcError('threshold', `${passed} passed, ${failed.length} failed`, {
    ...(session && { hint: 'The session of a failed scenario has the details.', next: ['3ds', 'show', session] }),
    facts: { passed, failed: failed.length },
  });
}

/** Derives the expected status of a test card from the name of its scenario. */
function expectedStatus(scenario: string): string {
  if (scenario.includes('Directory Server Error')) return '424';
  if (scenario.includes('Internal 3DS Server Error')) return '500';
  return /successful|attempted|failed|unavailable|rejected/.exec(scenario.toLowerCase())?.[0] ?? 'unavailable';
}

async function builtInSuite(allReasons: boolean): Promise<Scenario[]> {
  if (allReasons) return reasonSuite();
  return (await threeDsCards()).map(({ scenario, network, number }) => ({
    name: `${scenario}, ${network} ${number.slice(-4)}`,
    card: number,
    type: 'customer',
    expect: expectedStatus(scenario),
    challenge: 'complete',
  }));
}

/** Returns a scenario for each documented status reason and cancel reason. */
function reasonSuite(): Scenario[] {
  return [
    ...Object.entries(STATUS_REASONS).map(([reason, expect]) => reasonScenario(reason, reason, expect, 'reason')),
    ...Object.keys(CHALLENGE_CANCEL_REASON_CODES).map((reason) =>
      reasonScenario(`${reason} (challenge)`, reason, 'failed', 'cancel'),
    ),
  ];
}

function reasonScenario(name: string, reason: string, expect: string, word: 'reason' | 'cancel'): Scenario {
  const outcome = `${word}=${reason}`;
  return { name, card: ORDINARY_CARD, outcome, expect, reason, type: 'customer', challenge: 'complete' };
}

const ORDINARY_CARD = 'Successful Frictionless';

const HEAD = `# Run these scenarios with 'svc 3ds test <this file>'.
#
# card: a test card of the sandbox: its number, or the beginning of its scenario. At a test tenant, give the id of
#   a card token in its place (token:), or of a card token intent (token_intent:).
# expect: a status of the authentication, or the HTTP status of a refusal. An open challenge can be expected too.
# reason: a status reason or cancel reason to expect as well.
# outcome: what the sandbox is to do with the session, such as challenge=static,status=rejected ('svc help outcomes').
# Of each scenario, or up here for all: type: customer or merchant; body: the file of a request body;
# challenge: complete or cancel, which is how svc answers a challenge of the sandbox.
`;

/** Formats a suite as YAML, for a person to start from. */
function suiteText(suite: readonly Scenario[]): string {
  const lines = suite.map(({ name, card, outcome, expect, reason }) => {
    const members = Object.entries({ name, card, outcome, expect, reason }).filter(
      ([, member]) => member !== undefined,
    );
    return `  - ${members.map(([key, member]) => `${key}: ${member}\n`).join('    ')}`;
  });
  return `${HEAD}scenarios:\n${lines.join('')}`;
}
