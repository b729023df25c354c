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

/** The default limit of a collector is 20 MB, unpacked; some accept less. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The requests that export these entries in order: one, unless their text is very long. */
export function* exportRequests(logs: readonly Log[], options: RequestOptions): Generator<ExportRequest> {
  let part: [log: Log, record: string][] = [];
  let bytes = 0;
  for (const log of logs) {
    const record = logRecord(log, options);
    const size = Buffer.byteLength(record);
    if (part.length > 0 && bytes + size > MOST_BYTES) {
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

/** What a record needs beside its entry. */
export interface RecordOptions {
  /** When the entry was read, in epoch milliseconds. */
  readonly observedAt: number;
  /** Redacts secrets. */
  readonly clean: (text: string) => string;
  /** The id of an entry, by which a collector can recognize duplicates. */
  readonly idOf?: ((log: Log) => string | undefined) | undefined;
}

/** An entry as an OTLP log record: the message is the body, other fields but the tenant are attributes `svc.<field>`. */
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

/** A value as OTLP's JSON writes it: one member, whose name tells the type. */
type AnyValue = Readonly<Record<string, unknown>>;

/** Any JSON value but null; each text goes through `clean`. */
function anyValue(value: unknown, clean: (text: string) => string): AnyValue | undefined {
  if (typeof value === 'string') return { stringValue: clean(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  // Integers have 64 bits in OTLP, so they are strings.
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (value instanceof JsonToken) return exactNumber(value) ?? { stringValue: clean(value.text) };
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return { kvlistValue: { values: keyValues(value, clean) } };
  return { arrayValue: { values: value.map((one) => anyValue(one, clean) ?? { stringValue: '' }) } };
}

/** A number that JavaScript would change, where OTLP has the same one. */
function exactNumber({ text }: JsonToken): AnyValue | undefined {
  if (/^-?\d{1,19}$/.test(text)) {
    const whole = BigInt(text);
    return BigInt.asIntN(64, whole) === whole ? { intValue: String(whole) } : undefined;
  }
  // A double keeps fifteen digits of any number in its range.
  const isExact = /^-?[\d.]{1,16}(?:e[+-]?\d{1,2})?$/i.test(text);
  return isExact ? { doubleValue: Number(text) } : undefined;
}

/** The members of an object, each under its name with `prefix` before it; those without a value are left out. */
function keyValues(members: object, clean: (text: string) => string, prefix = ''): { key: string; value: AnyValue }[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const value = anyValue(member, clean);
    return value === undefined ? [] : [{ key: prefix + clean(name), value }];
  });
}

const FRACTION = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)\.(\d{1,9})(?=Z|[+-]|$)/i;

/** Exact nanoseconds since the epoch as a decimal string; undefined for what is unreadable, too early or finer. */
export function unixNano(iso: string): string | undefined {
  const [, whole = iso, fraction = ''] = FRACTION.exec(iso) ?? [];
  const rest = fraction === '' ? '' : iso.slice(whole.length + 1 + fraction.length);
  const ms = parseTime(whole + rest);
  if (ms === undefined || ms <= 0 || ms % 1000 !== 0) return undefined;
  return String(BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0')));
}
