import { exactValue } from '../exact-json.ts';
import { isObject } from '../render/paths.ts';
import type { Log } from '../schema/log.ts';
import { keyValues } from './any-value.ts';
import { unixNano } from './time.ts';

const INFO = 9;

/** What a record needs beside its entry. */
export interface RecordOptions {
  /** When the entry was read, in epoch milliseconds. */
  readonly observedAt: number;
  /** Takes out of a text what must not leave. */
  readonly clean: (text: string) => string;
  /** What identifies an entry, by which a collector can tell one that came twice. */
  readonly idOf?: ((log: Log) => string | undefined) | undefined;
}

/**
 * An entry as a log record of OTLP, in JSON: its message is the body, every other field an attribute `svc.<field>`,
 * the tenant's id aside, which belongs to the resource. A time that cannot be kept exactly is an attribute as well.
 */
export function logRecord(log: Log, { observedAt, clean, idOf }: RecordOptions): string {
  const exact = exactValue(log);
  const members = isObject(exact) ? exact : { entry: exact };
  const { created_at: at, message, tenant_id: tenant, ...fields } = members;
  const id = idOf?.(log);
  const nano = unixNano(log.created_at);
  const attributes = {
    ...fields,
    ...(typeof message !== 'string' && { message }),
    ...(typeof tenant !== 'string' && { tenant_id: tenant }),
    ...(nano === undefined && { created_at: at }),
  };
  return JSON.stringify({
    ...(nano !== undefined && { timeUnixNano: nano }),
    observedTimeUnixNano: String(BigInt(Math.trunc(observedAt)) * 1_000_000n),
    severityNumber: INFO,
    severityText: 'INFO',
    ...(typeof message === 'string' && { body: { stringValue: clean(message) } }),
    attributes: [
      ...(id === undefined ? [] : keyValues({ 'log.record.uid': id }, clean)),
      ...keyValues(attributes, clean, 'svc.'),
    ],
  });
}
