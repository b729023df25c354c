import type { Context } from '../../app/command.ts';
import type { ListPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import type { ExportEvent, OtlpExporter } from '../../logs/otlp/exporter.ts';
import { otlpSettings } from '../../logs/otlp/settings.ts';
import { formatDuration } from '../../output/time.ts';
import type { Log } from '../../schema/log.ts';

/** Entries in one post: so many can come twice after a crash. */
export const ENTRIES_AT_ONCE = 500;

/** Sends entries to a collector, in place of what prints them. */
export interface Shipping {
  readonly deliver: ListPrinter<Log>;
  /** To be told what identifies an entry, before it is delivered. */
  readonly identify: (log: Log, id: string) => void;
  /** Entries that the collector did not take and never will. */
  readonly rejected: () => number;
}

/** Makes ready to send, and asks the collector whether it would take any. */
export async function openShipping(context: Context, to: URL, forMs: number | undefined): Promise<Shipping> {
  refuseShaping(context);
  const [{ OtlpExporter: Exporter }, { createTransport }] = await Promise.all([
    import('../../logs/otlp/exporter.ts'),
    import('../../http/transport.ts'),
  ]);
  const { system, globals, clock, signal, trace, out } = context;
  const settings = otlpSettings(system.env);
  for (const value of Object.values(settings.headers)) hide(context, value);
  const transport = createTransport(system.env);
  context.onClose(() => transport.close());
  let rejected = 0;
  const ids = new WeakMap<Log, string>();
  const exporter = new Exporter(to, {
    settings,
    transport,
    clock,
    signal,
    trace,
    timeUp: timeUpAfter(context, forMs),
    clean: (text) => out.redact(text),
    idOf: (log) => ids.get(log),
    onEvent: (event) => {
      if (event.kind === 'partial success') rejected += event.rejected;
      report(context, event);
    },
  });
  // With --curl nothing is sent, and the first request shown is the one to the service.
  if (!globals.curl) await exporter.check();
  return {
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

function refuseShaping({ globals, query }: Context): void {
  const option = globals.fields !== undefined ? '--fields' : query === undefined ? undefined : '--jq';
  if (option === undefined) return;
  throw new SvcError('usage', `${option} has no meaning with --to: entries are sent whole`, {
    hint: `Leave out ${option}, or choose attributes in the collector.`,
  });
}

// A scheme such as Bearer is no secret, and what follows it may turn up alone.
function hide(context: Context, value: string): void {
  context.addSecret(value);
  context.addSecret(value.replace(/^\w+ /, ''));
}

function timeUpAfter(context: Context, ms: number | undefined): AbortSignal | undefined {
  if (ms === undefined) return undefined;
  const [timeUp, done] = [new AbortController(), new AbortController()];
  context.onClose(() => done.abort());
  const isOver = context.clock.sleep(ms, AbortSignal.any([done.signal, context.signal]));
  isOver.then(
    () => timeUp.abort(),
    () => undefined,
  );
  return timeUp.signal;
}

function report({ notices }: Context, event: ExportEvent): void {
  switch (event.kind) {
    case 'cut off':
      return notices.warn(`the collector does not take entries: ${event.reason}; retrying`);
    case 'taken again':
      return notices.note(`the collector takes entries again after ${formatDuration(event.afterMs)}`);
    case 'partial success': {
      const said = event.message === '' ? '' : `: ${event.message}`;
      if (event.rejected === 0) return notices.warn(`the collector says${said}`);
      return notices.warn(
        `the collector rejected ${event.rejected} of ${event.entries} entries for good${said}`,
      );
    }
  }
}
