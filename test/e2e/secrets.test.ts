import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../support/svc.ts';

const KEY = 'canary-key-Zx81-do-not-show';
const CARD = '4111111111111111';
const SIGNATURE = 'CANARYSIGNATURE0123456789abcdef';

const home = new Home();
let server: Server;
let base = '';

/** What an ill-behaved service could say: every answer repeats the key, a card number and a signed address. */
const ANSWERS: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  'problem body': (request, response) =>
    response.writeHead(422, { 'x-request-id': KEY }).end(
      JSON.stringify({
        title: gossip(request),
        detail: CARD,
        errors: { [KEY]: [gossip(request)] },
        trace_id: KEY,
      }),
    ),
  'HTML body': (request, response) =>
    response
      .writeHead(404, { 'content-type': 'text/html' })
      .end(`<html><title>${gossip(request)}</title></html>`),
  'plain text': (request, response) => response.writeHead(400).end(gossip(request)),
  'success without sense': (request, response) => response.writeHead(200).end(gossip(request)),
  'success of another shape': (request, response) =>
    response.writeHead(200).end(JSON.stringify({ [gossip(request)]: gossip(request) })),
  redirect: (request, response) =>
    response
      .writeHead(302, { location: `http://127.0.0.1:9/${KEY}?X-Amz-Signature=${SIGNATURE}&key=${KEY}` })
      .end(gossip(request)),
  refusal: (request, response) => response.writeHead(403).end(JSON.stringify({ detail: gossip(request) })),
  'broken answer': (request, response) => response.socket?.end(`HTTP/1.1 ${gossip(request)}\r\n\r\n`),
};

function gossip(request: IncomingMessage): string {
  return `key ${String(request.headers['svc-api-key'])} ${Buffer.from(KEY).toString('base64')} card ${CARD} 4111 1111 1111 1111 at https://store.example/x?X-Amz-Signature=${SIGNATURE}&X-Amz-Credential=${KEY}`;
}

const COMMANDS = [
  'logs',
  'logs entity-types',
  'logs --all --grep .',
  'tenant show',
  'au list',
  'au create',
  'au status some-job',
  'au wait some-job --fields id',
  'au download some-job --out r.csv',
];

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    const name = decodeURIComponent(request.url?.split('/')[1] ?? '');
    ANSWERS[name]?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  home.remove();
});

/** What tries keys, and what only shows requests. */
const TRYING = [
  'whoami',
  'doctor',
  'login --management-key-stdin',
  'tenant delete --confirm x --dry-run',
  'au create --dry-run',
  'api PUT /tenants/self --file - --dry-run',
  'api PUT /tenants/self --file - --curl',
];

describe('secrets', () => {
  it.each(Object.keys(ANSWERS))(
    'R06 show nowhere where keys are tried and requests only shown, with a %s',
    { timeout: 60_000 },
    async (name) => {
      for (const [index, command] of TRYING.entries()) {
        const format = ['table', 'json', 'jsonl', 'csv', 'yaml'][index % 5] ?? 'json';
        const { stdout, stderr } = await home.svc(
          [...command.split(' '), '--debug', '-o', format, '--timeout', '1500ms'],
          {
            env: { SVC_API_KEY: KEY, SVC_BASE_URL: `${base}/${encodeURIComponent(name)}` },
            input: command.startsWith('api') ? JSON.stringify({ [CARD]: KEY, b: CARD }) : `${KEY}\n`,
          },
        );
        const shown = stdout + stderr;
        expect(shown, command).not.toContain(KEY);
        expect(shown, command).not.toContain(Buffer.from(KEY).toString('base64').slice(2, -4));
        expect(shown, command).not.toMatch(/4111.?1111.?1111.?1111/);
        expect(shown, command).not.toContain(SIGNATURE);
      }
    },
  );

  it.each(Object.keys(ANSWERS))(
    'R06 show nowhere when the service answers with a %s',
    { timeout: 60_000 },
    async (name) => {
      for (const [index, command] of COMMANDS.entries()) {
        const format = ['table', 'json', 'jsonl', 'csv', 'yaml'][index % 5] ?? 'json';
        const { code, stdout, stderr } = await home.svc(
          [...command.split(' '), '--debug', '-o', format, '--timeout', '1500ms'],
          {
            env: { SVC_API_KEY: KEY, SVC_BASE_URL: `${base}/${encodeURIComponent(name)}` },
          },
        );
        const shown = stdout + stderr;
        expect(code, `${command}: ${stderr}`).toBeGreaterThan(0);
        expect(shown, command).not.toContain(KEY);
        expect(shown, command).not.toContain(Buffer.from(KEY).toString('base64').slice(2, -4));
        expect(shown, command).not.toMatch(/4111.?1111.?1111.?1111/);
        expect(shown, command).not.toContain(SIGNATURE);
      }
    },
  );
});
