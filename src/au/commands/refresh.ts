import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand, Preview, type PreviewRequest } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import {
  choice,
  flag,
  type Input,
  optionalArgument,
  rare,
  reading,
  suggesting,
  value,
} from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { REHEARSAL_STATE, rehearse, requireRehearsal, usualParent } from '../refresh/rehearsal.ts';
import { type RefreshInput, withExport } from '../refresh/refresh-input.ts';
import { SQL_DIALECTS } from '../refresh/update-sql.ts';
import { refreshView } from '../refresh/refresh-row.ts';
import { acceptWords, exportParameters, formWords, readingOptions } from '../prepare/prepare-options.ts';
import { actionParameter, actionWords } from '../results/action-option.ts';
import { failOnParameter } from '../results/fail-on.ts';
import { cycleName } from '../ledger/cycle-names.ts';
import { firstChange, firstRequest } from '../job/job-view.ts';
import { confirmParameters, confirmWords, onlyRecordedParameter } from '../jobs/options.ts';

const parameters = {
  export: reading(optionalArgument('[export|-]', 'a CSV export of tokens, or - for standard input', text), ['.csv']),
  cycle: suggesting('cycle', value('--cycle <name>', 'name of this refresh, such as 2026-12', cycleName)),
  ...exportParameters,
  keep: { ...exportParameters.keep, description: 'add this column to the files in todo/' },
  exclusions: rare(
    choice('--exclusions <none>', 'leave out no row of this request because of exclusions.csv', ['none']),
  ),
  outDir: value('--out-dir <dir>', 'directory of all cycles (default: refresh)', text),
  noWait: flag('--no-wait', 'poll once, and end with 11 while a job is pending'),
  add: flag('--add', 'send the new rows of a changed export, too'),
  next: flag('--next', 'make the request of the next cycle, too (au next)'),
  dryRun: flag('--dry-run', 'show what would be submitted; send nothing'),
  rehearse: flag('--rehearse', 'in the sandbox: invent the outcome of each token'),
  ...confirmParameters,
  onlyRecorded: onlyRecordedParameter,
  action: actionParameter,
  failOn: failOnParameter,
  sql: rare(
    choice(
      '--sql <database>',
      'write todo/update.sql for this database (default: the last one, else postgres)',
      SQL_DIALECTS,
    ),
  ),
  verbose: rare(flag('--verbose', 'name each step, and the command that does it alone')),
} as const;

type Typed = Input<typeof parameters>;

export const refresh = defineCommand({
  description:
    'Runs one cycle from an export to the new tokens: prepare, submit, resume and report in one. Run it again to go on where it stopped; the export is not needed then.',
  details:
    'With --verbose, each step names the command that does it alone. Below --out-dir, a directory for each cycle contains todo/replace.csv with the new tokens, the other files with what to do, results.csv, report.html and, with --next, next.csv; exclusions.csv beside it lists closed accounts, which are left out of every later request. A changed export of the cycle sends nothing without --add, which adds its new rows to request.csv and sends only these. Files that the refresh did not write are never replaced. With --rehearse, the sandbox takes each token that is a UUID as a card: of 100, 94 have no update, 4 have one, and the others have a warning or an error. A rehearsal keeps its files and its ledger in rehearsal/, so that it never affects a real cycle.',
  examples: [
    ['svc au refresh export.csv --cycle 2026-12', 'from the export to the new tokens'],
    ['svc au refresh', 'go on with the cycle that is open'],
    ['svc au refresh export.csv --cycle 2026-12 --no-wait', 'from cron or CI: exit code 11 while a job is pending'],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [3, 6, 9, 10, 11, 12, 13, 130],
  changes: true,
  fields: refreshView.fields,
  parameters,
  rehearsal: ({ rehearse }) => (rehearse ? REHEARSAL_STATE : undefined),
  async run(context, typed) {
    const input = await inputOf(context, typed);
    if (typed.dryRun && context.globals.curl) return new Preview(await firstChange());
    const print = await recordPrinter(context, refreshView);
    const { refreshCycle } = await import('../refresh/refresh.ts');
    const work = (): Promise<void> => refreshCycle(context, input, print);
    return typed.rehearse ? rehearse(context, input.again, work) : work();
  },
  async request(context, typed): Promise<PreviewRequest> {
    await inputOf(context, typed);
    return firstRequest();
  },
});

async function inputOf(context: Context, typed: Typed): Promise<RefreshInput> {
  const { export: name, maxRejects, noWait, failOn, action, exclusions, onlyRecorded } = typed;
  const how = readingOptions(typed);
  const options = formWords(how);
  if (typed.rehearse)
    requireRehearsal(context, typed, wordsOf({ ...typed, dryRun: false, outDir: undefined }, options));
  const parent = typed.outDir ?? usualParent(context);
  const month = new Date(context.clock.now()).toISOString().slice(0, 7);
  const asksForCycle = typed.cycle === undefined && name !== undefined && context.prompts().canAsk;
  const againIn = (cycle: string): string[] => wordsOf({ ...typed, cycle }, options);
  const cycle =
    typed.cycle ?? (asksForCycle ? month : await cycleToGoOnWith(context, name, { parent, month, againIn }));
  return {
    export: name,
    cycle,
    asksForCycle,
    parent,
    how,
    options,
    maxRejects,
    wait: !noWait,
    exclusions,
    failOn,
    sql: typed.sql,
    action,
    // A rehearsal costs nothing, so repeated rows need no confirmation.
    confirmed: typed.rehearse
      ? { payAgain: true, newLedger: true }
      : { payAgain: typed.payAgain, newLedger: typed.newLedger },
    add: typed.add,
    next: typed.next,
    onlyRecorded,
    dryRun: typed.dryRun,
    verbose: typed.verbose,
    again: againIn(cycle),
  };
}

interface Choosing {
  readonly parent: string;
  readonly month: string;
  /** Returns the command as typed, for a cycle. */
  readonly againIn: (cycle: string) => string[];
}

/**
 * Returns the only open cycle in a directory.
 * @throws SvcError `usage` with an export, which only a named cycle gets, and for several or no open cycles
 */
async function cycleToGoOnWith(
  context: Context,
  name: string | undefined,
  { parent, month, againIn }: Choosing,
): Promise<string> {
  const { openCyclesIn } = await import('../refresh/refresh-directory.ts');
  const open = name === undefined ? openCyclesIn(context, parent) : [];
  const [cycle] = open;
  if (cycle !== undefined && open.length === 1) return cycle;
  if (cycle === undefined && name === undefined) await refuseOpenElsewhere(context, parent);
  if (cycle === undefined)
    throw new SvcError('usage', name === undefined ? `no cycle in ${parent} is open` : '--cycle is missing', {
      hint:
        name === undefined
          ? 'To begin one, name the export and the cycle:'
          : 'Name this refresh, so that a row is paid for only once within it:',
      next: name === undefined ? withExport(againIn(month)) : againIn(month),
    });
  throw new SvcError('usage', `${parent} has ${open.length} open cycles: ${open.join(', ')}`, {
    hint: 'Say which one to go on with:',
    next: againIn(cycle),
    alternatives: open.slice(1).map(againIn),
  });
}

/** Refuses to propose a new cycle while a cycle of other machines is open. @throws SvcError `usage` */
async function refuseOpenElsewhere(context: Context, parent: string): Promise<void> {
  const { openCycles } = await import('../jobs/named-cycle.ts');
  if (context.isRehearsal) return;
  const { cycles } = await openCycles(context, { shared: true, onlyReads: true });
  const [cycle, ...others] = cycles.map(({ name }) => name);
  if (cycle === undefined) return;
  throw new SvcError('usage', `no cycle in ${parent} is open, and other machines have jobs in cycle ${cycle}`, {
    hint: 'Name the export to make the files of the cycle here too, or get its results:',
    next: ['au', 'resume', cycle, '--wait'],
    alternatives: others.map((other) => ['au', 'resume', other, '--wait']),
  });
}

/** Returns the command line as typed. Run again, it continues the refresh. */
function wordsOf(typed: Typed, options: readonly string[]): string[] {
  return [
    'au',
    'refresh',
    ...(typed.export === undefined ? [] : [typed.export]),
    ...option('--cycle', typed.cycle),
    ...options,
    ...acceptWords(typed),
    ...option('--max-rejects', typed.maxRejects?.words),
    ...option('--exclusions', typed.exclusions),
    ...option('--out-dir', typed.outDir),
    ...(typed.noWait ? ['--no-wait'] : []),
    ...(typed.add ? ['--add'] : []),
    ...confirmWords(typed),
    ...(typed.next ? ['--next'] : []),
    ...(typed.onlyRecorded ? ['--only-recorded'] : []),
    ...(typed.dryRun ? ['--dry-run'] : []),
    ...(typed.rehearse ? ['--rehearse'] : []),
    ...(typed.verbose ? ['--verbose'] : []),
    ...actionWords(typed.action),
    ...option('--fail-on', typed.failOn?.words),
    ...option('--sql', typed.sql),
  ];
}
