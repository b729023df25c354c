import { existsSync } from 'node:fs';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { type Context, defineCommand, dryRunParameter } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { moment } from '../../cli/app/moment.ts';
import { type Input, argument, reading, repeated, value } from '../../cli/app/parameter.ts';
import { listPrinter } from '../../cli/app/print.ts';
import { text, textToSend } from '../../cli/app/value-parsers.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import type { View } from '../../cli/output/view.ts';
import type { Choice, Replayed } from '../forward.ts';
import { alsoSent, replayCommand } from '../report.ts';
import { displayTarget, parseTarget, targetAdvice } from '../target.ts';
import { Unsent } from '../unsent.ts';
import { wrongJournal } from '../wrong-journal.ts';

const replayView: View<ReturnType<typeof replayedRow>> = {
  name: 'replayed event',
  fields: ['id', 'type', 'received_at', 'outcome', 'status', 'attempts', 'reason'],
  columns: [
    { path: 'id', header: 'event', kind: 'id' },
    { path: 'type', kind: 'text', priority: 3 },
    { path: 'received_at', header: 'received', kind: 'time', priority: 1 },
    { path: 'outcome', kind: 'status', paint: (outcome) => (outcome === 'sent' ? 'good' : 'bad') },
    { path: 'reason', kind: 'text', priority: 2 },
  ],
};

const parameters = {
  journal: reading(argument('<journal>', "a file that 'svc events listen --journal' wrote", text), ['.jsonl']),
  forwardTo: value('--forward-to <url>', 'send the events there; https, or loopback', parseTarget),
  id: repeated('--id <id>', 'only the event with this id', textToSend),
  dryRun: dryRunParameter,
  since: value('--since <time>', 'only events received from this time on', moment),
} as const;

export const replay = defineCommand({
  description:
    'Sends each event with its original body and headers, without keys, and with a header svc-replayed that says when it was received. Sends all events, unless --id or --since selects some.',
  examples: [
    ['svc events replay events.jsonl --forward-to http://localhost:3000/webhooks --since 1h', 'the last hour'],
    ['svc events replay events.jsonl --forward-to http://localhost:3000/webhooks --id 5f0c…', 'a single event'],
  ],
  exitCodes: [5, [8, 'an event did not reach the target'], 13, 130],
  fields: replayView.fields,
  parameters,
  async run(context, input) {
    const target = requiredTarget(context, input);
    const print = await listPrinter(context, replayView);
    const choice = choiceOf(context, input);
    const tally: Tally = { ...EMPTY_TALLY, unsent: new Unsent(), missing: new Set(input.id) };
    const replaying = { ...input, target, choice };
    try {
      await print(rows(context, replaying, tally));
    } catch (error) {
      throw interruption(error, replaying, tally);
    }
    report(context, replaying, tally);
  },
  async request(context, input) {
    const target = requiredTarget(context, input);
    const { replayedRequest } = await import('../forward.ts');
    const replaying = { ...input, target, choice: choiceOf(context, input), dryRun: true };
    for await (const replayed of replayedEvents(context, replaying))
      if (replayed.kind === 'sent') return { method: 'POST', url: target, ...replayedRequest(replayed.entry) };
    throw new SvcError('usage', '--curl has nothing to show: no event matches', { hint: 'Leave --curl out.' });
  },
});

type ReplayInput = Input<typeof parameters>;

/** The journal whose selected events are sent, and their target. */
interface Replaying {
  readonly journal: string;
  readonly dryRun: boolean;
  readonly target: URL;
  readonly choice: Choice;
}

/** Returns the selection of events. A relative time becomes a fixed one, so that a later command selects the same events. */
function choiceOf({ clock }: Context, { id, since }: ReplayInput): Choice {
  return { ids: id, since: since?.(clock.now()) };
}

function requiredTarget(context: Context, { forwardTo, journal }: ReplayInput): URL {
  if (forwardTo !== undefined) return forwardTo;
  const also = existsSync(resolvePath(context, journal)) ? '' : `, and ${journal} does not exist`;
  throw new SvcError('usage', `--forward-to is missing${also}`, {
    hint: 'Name the target, such as:',
    next: ['events', 'replay', '<journal>', '--forward-to', 'http://localhost:3000/webhooks'],
  });
}

async function* rows(context: Context, replaying: Replaying, tally: Tally) {
  for await (const replayed of replayedEvents(context, replaying)) {
    countReplayed(context, replaying.journal, replayed, tally);
    if (replayed.kind === 'sent') yield [replayedRow(replayed)];
  }
}

async function* replayedEvents(
  context: Context,
  { journal, target, choice, dryRun }: Replaying,
): AsyncGenerator<Replayed> {
  const { clock, system, signal } = context;
  const [{ replay: replayEvents }, { createTransport }] = await Promise.all([
    import('../forward.ts'),
    import('../../client/http/transport.ts'),
  ]);
  const transport = createTransport(system.env, { readOnly: dryRun });
  context.onClose(() => transport.close());
  const options = { transport, clock, dryRun };
  yield* replayEvents(resolvePath(context, journal), target, choice, options, signal);
}

function replayedRow({ entry, result }: Extract<Replayed, { kind: 'sent' }>) {
  const { received_at, id, type } = entry;
  const { status, attempts, reason } = result;
  const sent = attempts === 0 ? 'not sent' : 'sent';
  const outcome = reason === undefined ? sent : 'failed';
  return { id, type, received_at, outcome, status, attempts, reason };
}

const MAX_REPORTED_UNREADABLE = 5;

interface Tally {
  sent: number;
  failed: number;
  /** The events that failed or were not tried. */
  readonly unsent: Unsent;
  redacted: number;
  unreadable: number;
  /** The first unreadable line, apart from a line cut off when a process was killed. */
  firstDamaged: number | undefined;
  notChosen: number;
  /** Requested ids that were not found yet. */
  readonly missing: Set<string>;
}

const EMPTY_TALLY = { sent: 0, failed: 0, redacted: 0, unreadable: 0, firstDamaged: undefined, notChosen: 0 };

/** Counts the outcome for one event, and reports unreadable lines. */
function countReplayed({ notices }: Context, journal: string, replayed: Replayed, tally: Tally): void {
  if (replayed.kind === 'not chosen') {
    tally.notChosen += 1;
    return;
  }
  if (replayed.kind === 'unreadable') {
    tally.unreadable += 1;
    if (!replayed.isTorn) tally.firstDamaged ??= replayed.line;
    if (tally.unreadable <= MAX_REPORTED_UNREADABLE)
      notices.warn(`line ${replayed.line} of ${journal} is skipped: ${replayed.problem}`);
    return;
  }
  const { entry } = replayed;
  const hasFailed = replayed.kind !== 'sent' || replayed.result.reason !== undefined;
  if (hasFailed) tally.unsent.add(entry.id, Date.parse(entry.received_at));
  if (replayed.kind === 'given up') return;
  tally.missing.delete(entry.id);
  if (hasFailed) tally.failed += 1;
  else tally.sent += 1;
  if (entry.redacted && !hasFailed) tally.redacted += 1;
}

/** Reports the outcome at the end. @throws SvcError if any event did not reach the target, or was not found */
function report(context: Context, replaying: Replaying, tally: Tally): void {
  const { notices } = context;
  const { sent, redacted, unreadable } = tally;
  if (unreadable > MAX_REPORTED_UNREADABLE) notices.warn(`${unreadable} lines were skipped in all`);
  const verb = replaying.dryRun ? 'would be sent' : 'sent';
  if (redacted > 0)
    notices.warn(
      `${countText(redacted, 'event')} ${verb} with [hidden] or masked digits in place of what was received`,
    );
  const failure = failureOf(context, replaying, tally);
  if (failure !== undefined) throw failure;
  const where = displayTarget(replaying.target);
  if (sent === 0)
    return notices.note(`${tally.notChosen === 0 ? 'the journal is empty' : 'no event matches'}: nothing was sent`);
  if (replaying.dryRun) return notices.note(`dry run: ${sent} would be sent to ${where}; nothing was sent`);
  notices.success(`${sent} sent to ${where}`);
}

/** Returns the error of a replay that ended: for failed events, a file that is not a journal, unknown ids or damaged lines. */
function failureOf(context: Context, replaying: Replaying, tally: Tally): SvcError | undefined {
  const { journal, choice } = replaying;
  const { sent, failed, notChosen, unreadable, missing, firstDamaged } = tally;
  if (failed > 0) return failedError(context, replaying, tally);
  if (sent + notChosen === 0 && unreadable > 0)
    return wrongJournal(`no line of ${journal} is an event; nothing was sent`);
  if (missing.size > 0)
    return new SvcError('not_found', `no event ${[...missing].join(', ')} was found in ${journal}`, {
      hint: 'Check the id, and that --since does not exclude it.',
    });
  const isDamaged = firstDamaged !== undefined && (choice.ids ?? []).length === 0;
  return isDamaged ? damagedError(replaying, tally) : undefined;
}

/** Returns the error for a journal with damaged lines, apart from a line cut off when a process was killed. */
function damagedError(
  { journal, target, choice, dryRun }: Replaying,
  { firstDamaged, sent, unreadable }: Tally,
): SvcError {
  // Selects only the corrected event, because all other events were sent.
  const selection = dryRun ? choice : { ids: ['<id>'] };
  const done = dryRun
    ? 'Nothing was sent. Correct the line first'
    : `The other events were sent (${sent}). Correct the line, and send its event alone`;
  return new SvcError('refused_input', `${journal} has a line that is not an event: line ${firstDamaged}`, {
    hint: `${done}${targetAdvice(target)}.`,
    next: replayCommand(journal, target, selection),
    facts: { line: firstDamaged, sent, unreadable },
  });
}

function failedError({ out }: Context, { journal, target, choice }: Replaying, tally: Tally): SvcError {
  const { sent, failed, unsent } = tally;
  const untried = unsent.count - failed;
  const rest = `; the rest (${formatNumber(untried)}) was not tried, since the target does not respond`;
  const again = unsent.choice((text) => out.redact(text));
  const also = sent === 0 ? '' : alsoSent(again);
  const all = countText(sent + unsent.count, 'event');
  const where = displayTarget(target);
  return new SvcError('network', `${formatNumber(failed)} of ${all} did not reach ${where}${untried > 0 ? rest : ''}`, {
    hint: `Check that the target is running, then send them again${also}${targetAdvice(target)}.`,
    next: replayCommand(journal, target, { ...choice, ...again }),
    facts: { sent, failed, untried },
  });
}

/** Adds the number of sent events, and the command that sends all events again, to the error of an interruption. */
function interruption(error: unknown, { journal, target, choice, dryRun }: Replaying, { sent }: Tally): unknown {
  if (dryRun || !isSvcError(error, 'hangup', 'interrupted', 'terminated', 'timeout')) return error;
  return error.with({
    message: `${error.message}; sent until then: ${countText(sent, 'event')}`,
    hint: `To send all of them again, or only later ones with --since${targetAdvice(target)}:`,
    next: replayCommand(journal, target, choice),
  });
}
