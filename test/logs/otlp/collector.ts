import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A request, parsed by the collector. */
export interface Export {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly records: readonly CollectedRecord[];
  /** The attributes of the first resource. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A log record, parsed by the collector. */
export interface CollectedRecord {
  readonly timeUnixNano?: string;
  readonly observedTimeUnixNano?: string;
  readonly severityNumber?: number;
  readonly body?: { readonly stringValue: string };
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[];
}

/** A response in place of accepting a request. */
export interface CollectorReply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A collector of OTLP/HTTP on this machine. */
export interface Collector {
  readonly url: string;
  /** The accepted requests. */
  readonly taken: Export[];
  /** All requests, accepted or not. */
  readonly seen: Export[];
  reply: ((got: Export, index: number) => CollectorReply | undefined) | undefined;
  /** Returns the messages of all accepted records. */
  messages(): string[];
  close(): Promise<void>;
}

/** Starts a collector. Port 0 is any free port. */
export async function startCollector(port = 0): Promise<Collector> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const got = read(request, Buffer.concat(chunks));
      collector.seen.push(got);
      const reply = collector.reply?.(got, collector.seen.length - 1);
      if (reply === undefined || reply.status < 300) collector.taken.push(got);
      response.writeHead(reply?.status ?? 200, { 'content-type': 'application/json', ...reply?.headers });
      response.end(reply?.body ?? '{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: [],
    seen: [],
    reply: undefined,
    messages: () => collector.taken.flatMap(({ records }) => records.map(({ body }) => body?.stringValue ?? '')),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return collector;
}

interface Body {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: unknown }[] };
    readonly scopeLogs: readonly { readonly logRecords: readonly CollectedRecord[] }[];
  }[];
}

function read({ url = '', headers }: IncomingMessage, bytes: Buffer): Export {
  const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
  const { resourceLogs } = JSON.parse(text) as Body;
  const attributes = resourceLogs[0]?.resource.attributes ?? [];
  return {
    path: url,
    headers,
    records: resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords)),
    resource: Object.fromEntries(attributes.map(({ key, value }) => [key, value])),
  };
}
