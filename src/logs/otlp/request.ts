// Writes log entries as OTLP requests.

import { exactValue, JsonToken } from '../../base/json/exact.ts';
import { VERSION } from '../../base/version.ts';
import { parseTime } from '../../cli/output/time.ts';
import { isObject } from '../../cli/output/view.ts';
import type { Log } from '../../schema/log.ts';

export interface RequestOptions extends RecordOptions {
  readonly resource: Readonly<Record<string, string>>;
}

export interface ExportRequest {
  readonly text: string;
  readonly logs: readonly Log[];
}

/** The most uncompressed bytes in a request. The default limit of collectors is 20 MB, but some accept less. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Yields the requests that export entries in order: one, unless their text is very long. */
export function* exportRequests(logs: readonly Log[], options: RequestOptions): Generator<ExportRequest> {
  let part: [log: Log, record: string][] = [];
  let bytes = 0;
  for (const log of logs) {
    const record = logRecord(log, options);
    const size = Buffer.byteLength(record);
    if (part.length > 0 && bytes + size > MAX_BYTES) {
      yield requestOf(part, options);
      part = [];
      bytes = 0;
    }
    part.push([log, record]);
    bytes += size;
  }
  yield requestOf(part, options);
}

function requestOf(part: readonly [log: Log, record: string][], options: RequestOptions): ExportRequest {
  const byTenant = new Map<string, string[]>();
  for (const [{ tenant_id }, record] of part) {
    const tenant = tenant_id ?? '';
    const records = byTenant.get(tenant) ?? [];
    records.push(record);
    byTenant.set(tenant, records);
  }
  const groups = Array.from(byTenant, ([tenant, records]) => resourceLogs(tenant, records, options));
  return { text: `{"resourceLogs":[${groups.join(',')}]}`, logs: part.map(([log]) => log) };
}

function resourceLogs(tenant: string, records: readonly string[], { resource, clean }: RequestOptions): string {
  const members = { ...resource, ...(tenant !== '' && { 'svc.tenant_id': tenant }) };
  const attributes = JSON.stringify(keyValues(members, clean));
  const scope = JSON.stringify({ name: 'svc.logs', version: VERSION });
  return `{"resource":{"attributes":${attributes}},"scopeLogs":[{"scope":${scope},"logRecords":[${records.join(',')}]}]}`;
}

const INFO = 9;

/** The facts for a record in addition to its entry. */
export interface RecordOptions {
  /** The time at which the entry was read, in epoch milliseconds. */
  readonly observedAt: number;
  /** Redacts secrets. */
  readonly clean: (text: string) => string;
  /** Returns the id of an entry, by which a collector can recognize duplicates. */
  readonly idOf?: ((log: Log) => string | undefined) | undefined;
}

/** Returns an entry as an OTLP log record. The message is the body; other fields except the tenant are attributes `svc.<field>`. */
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

/** A value in OTLP's JSON: an object with one member, whose name is the type. */
type AnyValue = Readonly<Record<string, unknown>>;

/** Converts any JSON value but null. All texts are cleaned. */
function anyValue(value: unknown, clean: (text: string) => string): AnyValue | undefined {
  if (typeof value === 'string') return { stringValue: clean(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  // OTLP writes integers as strings, because they have 64 bits.
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (value instanceof JsonToken) return exactNumber(value) ?? { stringValue: clean(value.text) };
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return { kvlistValue: { values: keyValues(value, clean) } };
  return { arrayValue: { values: value.map((one) => anyValue(one, clean) ?? { stringValue: '' }) } };
}

/** Converts a number that JavaScript cannot represent, if OTLP can. */
function exactNumber({ text }: JsonToken): AnyValue | undefined {
  if (/^-?\d{1,19}$/.test(text)) {
    const whole = BigInt(text);
    return BigInt.asIntN(64, whole) === whole ? { intValue: String(whole) } : undefined;
  }
  // A number of at most fifteen digits is the same when it is read from a double again.
  const [digits = ''] = text.split(/e/i, 1);
  const isKept = digits.replaceAll(/\D/g, '').length <= 15 && /^-?[\d.]+(?:e[+-]?\d{1,2})?$/i.test(text);
  return isKept ? { doubleValue: Number(text) } : undefined;
}

/** Converts the members of an object, with `prefix` before their names. Members without a value are left out. */
function keyValues(members: object, clean: (text: string) => string, prefix = ''): { key: string; value: AnyValue }[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const value = anyValue(member, clean);
    return value === undefined ? [] : [{ key: prefix + clean(name), value }];
  });
}

const FRACTION = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)\.(\d{1,9})(?=Z|[+-]|$)/i;

/** Returns a time as exact nanoseconds since the epoch; undefined if it is unreadable, before the epoch or has a finer fraction. */
export function unixNano(iso: string): string | undefined {
  const [, whole = iso, fraction = ''] = FRACTION.exec(iso) ?? [];
  const rest = fraction === '' ? '' : iso.slice(whole.length + 1 + fraction.length);
  const ms = parseTime(whole + rest);
  if (ms === undefined || ms <= 0 || ms % 1000 !== 0) return undefined;
  return String(BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0')));
}
