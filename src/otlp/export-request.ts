import type { Log } from '../schema/log.ts';
import { VERSION } from '../version.ts';
import { keyValues } from './any-value.ts';
import { logRecord, type RecordOptions } from './log-record.ts';

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
