// Sends the entries of a tail to an OpenTelemetry collector (`svc logs tail --to`).

import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import type { ListPrinter } from '../../cli/app/print.ts';
import { formatDuration, parseTime, utcTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import type { Log } from '../../schema/log.ts';
import type { ExportEvent, OtlpExporter } from './exporter.ts';
import { otlpSettings } from './settings.ts';

/** The number of entries in a batch. The position is saved after each batch, so a crash repeats at most one. */
const BATCH_SIZE = 500;

/** Sends entries to a collector instead of printing them. */
export interface Shipping {
  readonly batchSize: number;
  readonly deliver: ListPrinter<Log>;
  /** Remembers the id of an entry that is about to be delivered. */
  readonly identify: (log: Log, id: string) => void;
  readonly rejected: () => number;
}

/**
 * Opens the export, and checks that the collector would accept entries.
 * @throws SvcError `usage` with --fields or --jq, else as `OtlpExporter.check`
 */
export async function openShipping(context: Context, to: URL, forMs: number | undefined): Promise<Shipping> {
  refuseOutputOptions(context);
  const [{ OtlpExporter: Exporter }, { createTransport }] = await Promise.all([
    import('./exporter.ts'),
    import('../../client/http/transport.ts'),
  ]);
  const { system, globals, clock, signal, trace, out } = context;
  const transport = createTransport(system.env);
  context.onClose(() => transport.close());
  let rejected = 0;
  const ids = new WeakMap<Log, string>();
  const exporter = new Exporter(to, {
    settings: otlpSettings(system.env),
    transport,
    clock,
    signal,
    trace,
    timeUp: timeLimitSignal(context, forMs),
    clean: (text) => out.redact(text),
    idOf: (log) => ids.get(log),
    onEvent: (event) => {
      if (event.kind === 'partial success') rejected += event.rejected;
      reportExport(context, event);
    },
  });
  // --curl sends nothing, not even this check.
  if (!globals.curl) await exporter.check();
  return {
    batchSize: BATCH_SIZE,
    deliver: (batches) => deliver(exporter, batches),
    identify: (log, id) => void ids.set(log, id),
    rejected: () => rejected,
  };
}

async function deliver(exporter: OtlpExporter, batches: AsyncIterable<readonly Log[]>): Promise<number> {
  let count = 0;
  for await (const logs of batches) {
    await exporter.export(logs);
    count += logs.length;
  }
  return count;
}

function refuseOutputOptions({ globals, query }: Context): void {
  if (globals.fields === undefined && query === undefined) return;
  const option = globals.fields === undefined ? '--jq' : '--fields';
  throw new SvcError('usage', `${option} cannot be combined with --to: entries are sent whole`, {
    hint: `Leave out ${option}, or choose attributes in the collector.`,
  });
}

/** Returns a signal that aborts after --for and ends the wait for an unavailable collector; undefined without --for. */
function timeLimitSignal(context: Context, ms: number | undefined): AbortSignal | undefined {
  if (ms === undefined) return undefined;
  const timeUp = new AbortController();
  const done = new AbortController();
  context.onClose(() => done.abort());
  const sleep = context.clock.sleep(ms, AbortSignal.any([done.signal, context.signal]));
  sleep.then(
    () => timeUp.abort(),
    () => undefined,
  );
  return timeUp.signal;
}

function reportExport({ notices }: Context, event: ExportEvent): void {
  switch (event.kind) {
    case 'disconnected':
      return notices.warn(`the collector is not accepting entries: ${event.reason}; retrying`);
    case 'reconnected':
      return notices.note(`the collector is accepting entries again after ${formatDuration(event.afterMs)}`);
    case 'partial success': {
      const said = event.message === '' ? '' : `: ${event.message}`;
      if (event.rejected === 0) return said === '' ? undefined : notices.warn(`message from the collector${said}`);
      return notices.warn(`the collector permanently rejected ${event.rejected} of ${sentText(event.logs)}${said}`);
    }
  }
}

/** Returns the number of entries and their times, because a collector does not say which entries it rejected. */
function sentText(logs: readonly Log[]): string {
  const count = countText(logs.length, 'entry');
  const times = logs.flatMap(({ created_at: created }) => parseTime(created) ?? []);
  if (times.length === 0) return count;
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return first === last ? `${count} of ${utcTime(first)}` : `${count} from ${utcTime(first)} to ${utcTime(last)}`;
}
