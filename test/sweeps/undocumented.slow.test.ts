import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT_CODES } from '../../src/base/errors.ts';
import { allCommands } from '../support/tree.ts';
import { type Respond, World } from '../support/world.ts';

const PAGE = '<!doctype html><html><title>Welcome</title></html>';
const PROBLEM = JSON.stringify({ title: 'Not Found', status: 404, detail: 'There is no such path.' });

/** Servers that respond the same to every request, never as the service would. */
const SERVERS: Readonly<Record<string, Respond>> = {
  '404 with a page': (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end(PAGE),
  '404 with a problem': (_, response) =>
    response.writeHead(404, { 'content-type': 'application/problem+json' }).end(PROBLEM),
  '403 with a page': (_, response) => response.writeHead(403, { 'content-type': 'text/html' }).end(PAGE),
  '200 with a page': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE),
  '200 with {}': (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  '206 with an empty list': (_, response) =>
    response.writeHead(206, { 'content-type': 'application/json' }).end('{"data":[],"pagination":{"next":null}}'),
  '401 with a page': (_, response) => response.writeHead(401, { 'content-type': 'text/html' }).end(PAGE),
  '204': (_, response) => response.writeHead(204).end(),
  '302': (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/login' }).end(),
};

/** Commands that send to a listener, of which any success is enough. */
const TO_A_LISTENER = new Set(['events replay', 'events trigger']);
/** The documented response to the deletion of a tenant has no body; any JSON is taken for as good. */
const DELETED = new Set(['204', '200 with {}']);
/** `svc api` prints whatever comes, so that only an error is an error. */
const AS_IT_CAME = new Set(['204', '200 with {}']);

/** Lines for a run that is not over. About a completed one, these commands send nothing. */
const PENDING: ReadonlyMap<string, string> = new Map([
  ['au status', 'au status {open}'],
  ['au download', 'au download {open} --out again.csv'],
  ['au resume', 'au resume {open}'],
]);

/** Commands that send nothing to the service. */
const LOCAL: ReadonlySet<string> = new Set(
  `au abandon, au check, au next, au prepare, au report, au runs list, au runs prune, 3ds template, 3ds validate, commands,
  completion bash, completion fish, completion install, completion powershell, completion zsh, events listen, explain,
  logout, logs access, logs evidence, logs review, logs search, logs verify, profile delete, profile list, profile set,
  profile show, profile use, reset, sandbox cards, sandbox clock, sandbox exec, sandbox openapi, sandbox outcome,
  sandbox requests, sandbox reset, sandbox start`.split(/,\s+/),
);

const commands = (await allCommands()).map(({ words }) => words).filter((words) => !TO_A_LISTENER.has(words));
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('a server that does not respond as the service does', () => {
  it.each(commands)('R87: nothing it says makes svc %s succeed, confirm anything or store a key', async (words) => {
    let isLocal = false;
    const argv = (PENDING.get(words)?.split(' ') ?? world.argv(words)).map((word) => world.fill(word));
    for (const [name, respond] of Object.entries(SERVERS)) {
      if (words === 'api' && AS_IT_CAME.has(name)) continue;
      isLocal = await world.copy(async (run, directory) => {
        const before = settingsIn(directory);
        const sent = world.requests.length;
        const result = await run(words, ['-o', 'table'], { respond, argv });
        if (world.requests.length === sent) return true;
        expect([0, EXIT_CODES.pending], `${name}: ${result.stderr}`).not.toContain(result.code);
        expect(result.stdout + result.stderr, name).not.toMatch(CONFIRMED);
        expect(settingsIn(directory), name).toEqual(before);
        return false;
      });
      if (isLocal) break;
    }
    expect(isLocal).toBe(LOCAL.has(words));
  });

  it.each(commands)('R87: nothing it says to a change makes svc %s succeed', async (words) => {
    const successes: string[] = [];
    for (const [name, respond] of Object.entries(SERVERS)) {
      if (words === 'tenant delete' && DELETED.has(name)) continue;
      const hasChanges = await world.copy(async (run) => {
        const seen = { changes: 0 };
        const intercept = (...[request, response]: Parameters<Respond>): boolean => {
          if (request.method === 'GET' || request.url?.startsWith('/sandbox/')) return false;
          seen.changes += 1;
          respond(request, response);
          return true;
        };
        const { code, stderr } = await run(words, [], { intercept });
        const isSuccess = code === 0 || code === EXIT_CODES.pending;
        if (seen.changes > 0 && isSuccess) successes.push(`${name}: ${stderr}`);
        return seen.changes > 0;
      });
      if (!hasChanges) break;
    }
    expect(successes).toEqual([]);
  });
});

/** What a command says of a key or a permission that is good. */
const CONFIRMED = /✓|\bis valid\b|(?<!not )\b(?:accepted|allowed)\b/;

/** Returns the settings and caches, in which keys, tenants and permissions are stored. */
function settingsIn(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const ours = files.filter((file) => /\.(?:config|cache)\//.test(file.slice(directory.length)));
  return Object.fromEntries(ours.map((file) => [file, readFileSync(file, 'utf8')]));
}
