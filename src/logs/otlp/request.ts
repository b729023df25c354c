import { exactValue, JsonToken } from '../../json/exact.ts';
import { parseTime } from '../../output/time.ts';
import { isObject } from '../../output/view.ts';
import type { Log } from '../../schema/log.ts';
import { VERSION } from '../../version.ts';

/** What a request says of where its entries come from. */
export interface RequestOptions extends RecordOptions {
  readonly resource: Readonly<Record<string, string>>;
}

/** A request to export logs, as text, and how many it holds. */
export interface ExportRequest {
  readonly text: string;
  readonly logs: readonly Log[];
}

/** A collector takes 20 MB by default, unpacked; others take less. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The requests that export these entries in their order: one, unless their text is very long. */
export function* exportRequests(logs: readonly Log[], options: RequestOptions): Generator<ExportRequest> {
  let part: [log: Log, record: string][] = [];
  let bytes = 0;
  for (const log of logs) {
    const record = logRecord(log, options);
    const size = Buffer.byteLength(record);
    if (part.length > 0 && bytes + size > MOST_BYTES) {
      yield requestOf(part, options);
      [part, bytes] = [[], 0];
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
    const records = byTenant.get(tenant);
    if (records === undefined) byTenant.set(tenant, [record]);
    else records.push(record);
  }
  const groups = Array.from(byTenant, ([tenant, records]) => resourceLogs(tenant, records, options));
  return { text: `{"resourceLogs":[${groups.join(',')}]}`, logs: part.map(([log]) => log) };
}

function resourceLogs(
  tenant: string,
  records: readonly string[],
  { resource, clean }: RequestOptions,
): string {
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

/** A value as OTLP's JSON writes it. */
export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }
  | { readonly kvlistValue: { readonly values: readonly KeyValue[] } };

/** A named value. */
export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

/** Any value of JSON but null; each text goes through `clean`. */
function anyValue(value: unknown, clean: (text: string) => string): AnyValue | undefined {
  if (typeof value === 'string') return { stringValue: clean(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  // Whole numbers are 64 bits wide there, so they travel as text.
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (value instanceof JsonToken) return exactNumber(value) ?? { stringValue: clean(value.text) };
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return { kvlistValue: { values: keyValues(value, clean) } };
  return { arrayValue: { values: value.map((one) => anyValue(one, clean) ?? { stringValue: '' }) } };
}

/** A number that JavaScript writes differently, where OTLP has one that is the same. */
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
function keyValues(members: object, clean: (text: string) => string, prefix = ''): KeyValue[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const value = anyValue(member, clean);
    return value === undefined ? [] : [{ key: prefix + clean(name), value }];
  });
}

const FRACTION = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)\.(\d{1,9})(?=Z|[+-]|$)/i;

/**
 * Nanoseconds since the epoch of an ISO 8601 time, as OTLP's JSON writes them: a decimal number in a string, exact to
 * the last digit of the fraction. Undefined where the time cannot be read, is not after 1970 began, or is finer than that.
 */
export function unixNano(iso: string): string | undefined {
  const [, whole = iso, fraction = ''] = FRACTION.exec(iso) ?? [];
  const rest = fraction === '' ? '' : iso.slice(whole.length + 1 + fraction.length);
  const ms = parseTime(whole + rest);
  if (ms === undefined || ms <= 0 || ms % 1000 !== 0) return undefined;
  return String(BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0')));
}
