import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT_CODES } from '../../src/base/errors.ts';
import { CANARY, gossip } from '../support/bad-responses.ts';
import { FakeClock } from '../support/clock.ts';
import { allCommands } from '../support/tree.ts';
import { type Respond, World } from '../support/world.ts';

const KEY = 'canary-key-Zx81-do-not-show';
const KEYS = { SVC_MANAGEMENT_API_KEY: KEY, SVC_PRIVATE_API_KEY: KEY };

/** The forms of a body, with their types. Each repeats the key, a card number and a signed address where it can. */
const BODIES: Readonly<Record<string, readonly [type: string, text: (secrets: string) => string]>> = {
  'an empty object': ['application/json', () => '{}'],
  'an empty list': ['application/json', () => '{"data":[],"pagination":{"next":null}}'],
  'an error of a store': [
    'application/xml',
    (secrets) => `<Error><Code>Busy</Code><Message>${secrets}</Message></Error>`,
  ],
  'plain text': ['text/plain', (secrets) => secrets],
  'a problem': ['application/problem+json', (title) => JSON.stringify({ title, errors: { [title]: [title] } })],
  'a page': ['text/html', (title) => `<!doctype html><html><title>${title}</title></html>`],
  'no body': ['application/json', () => ''],
};

/** In a soak, most statuses with all forms; otherwise a success and an error of each kind that svc treats otherwise. */
const isSoak = process.env['SOAK'] !== undefined;
const FORMS = Object.keys(BODIES);
const FEW_SUCCESSES = isSoak ? FORMS : ['an empty list', 'a page'];
const FEW_ERRORS = isSoak ? ['a problem', 'a page', 'no body'] : ['a problem'];
const FEW_REFUSALS = isSoak ? FEW_ERRORS : ['a problem', 'a page'];
const SUCCESS_STATUSES = isSoak ? [201, 202, 203, 206] : [202, 206];
const ERROR_STATUSES = isSoak ? [400, 401, 409, 412, 429, 500] : [401, 409, 429, 500];

/** Servers that respond the same to every request. */
const SERVERS: readonly (readonly [name: string, respond: Respond])[] = [
  ...FORMS.map((form) => server(200, form)),
  ...SUCCESS_STATUSES.flatMap((status) => FEW_SUCCESSES.map((form) => server(status, form))),
  ...[404, 503].flatMap((status) => ['a problem', 'a page', 'no body'].map((form) => server(status, form))),
  ...[302, 403].flatMap((status) => FEW_REFUSALS.map((form) => server(status, form))),
  ...ERROR_STATUSES.flatMap((status) => FEW_ERRORS.map((form) => server(status, form))),
  server(204, 'no body'),
  server(304, 'no body'),
];

function server(status: number, form: string): readonly [name: string, respond: Respond] {
  const [type, text] = BODIES[form]!;
  const headers = { 'content-type': type, ...(status === 302 && { location: 'http://127.0.0.1:9/login' }) };
  const respond: Respond = (request, response) => response.writeHead(status, headers).end(text(gossip(request)));
  return [`${status} with ${form}`, respond];
}

/** The documented responses by which some commands rightly succeed. */
const SUCCESSES: readonly (readonly [words: RegExp, server: RegExp])[] = [
  [/^(?:logs (?:list|history|stats)|au jobs)$/, /^20[0-3] with an empty list$/],
  [/^tenant delete$/, /^20[0134] with (?:an empty object|no body)$/],
  // The service knows the key, which may do nothing.
  [/^(?:doctor|login|whoami)$/, /^403 with a problem$/],
  // It prints whatever comes, so that only an error is an error.
  [/^api$/, /^20[0-4] with (?:an empty (?:list|object)|a problem|no body)$/],
];

/** The response by which these commands rightly say that the key may read jobs. */
const CONFIRMATIONS: typeof SUCCESSES = [[/^(?:doctor|whoami)$/, /^20[0-3] with an empty list$/]];

function includes(pairs: typeof SUCCESSES, words: string, name: string): boolean {
  return pairs.some(([some, servers]) => some.test(words) && servers.test(name));
}

/** The servers of a service whose reads are right. Others fail alike. */
const OF_CHANGES = SERVERS.filter(([name]) => /^(?:20[0246] with|(?:302|403|404) with a page)/.test(name));

/** Responses to which a tail goes on without end: an empty log, and an outage. */
const TO_FOLLOW = /^(?:20[0-3] with an empty list|429|50\d)/;

/** Commands that send to a listener, of which any success is enough. */
const TO_A_LISTENER = new Set(['events replay', 'events trigger']);

/** Lines for a run that is not over. About a completed one, these commands send nothing. */
const LINES: ReadonlyMap<string, string> = new Map([
  ['au status', 'au status {open}'],
  ['au download', 'au download {open} --out again.csv'],
  ['au resume', 'au resume {open}'],
]);

/** A clock on which every pause takes longer, so that eight days of waiting need few polls. */
class LongPauses extends FakeClock {
  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return super.sleep(ms * 500, signal);
  }
}

/** Commands that send nothing to the service. */
const LOCAL: ReadonlySet<string> = new Set(
  `au check, au next, au prepare, au report, au prune, 3ds template, 3ds validate, commands,
  completion bash, completion fish, completion install, completion powershell, completion zsh, events listen, explain,
  logout, logs evidence, logs review, logs search, logs verify, profile delete, profile list, profile set,
  profile show, profile use, reset, sandbox cards, sandbox clock, sandbox exec, sandbox outcome,
  sandbox requests, sandbox reset, sandbox start`.split(/,\s+/),
);

const tree = await allCommands();
const changing = new Set(tree.filter(({ command }) => command.changes).map(({ words }) => words));
const commands = tree.map(({ words }) => words).filter((words) => !TO_A_LISTENER.has(words));
const SECRETS = [KEY, Buffer.from(KEY).toString('base64').slice(2, -4), CANARY.signature, CANARY.card];
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

/** Returns every other server, by turns of the commands. In a soak, each command meets all of them. */
function byTurns(words: string, servers: typeof SERVERS): typeof SERVERS {
  const turn = commands.indexOf(words);
  return servers.filter((_, at) => isSoak || (at + turn) % 2 === 0);
}

describe('a server that responds the same to every request', () => {
  it.each(commands)('R87: nothing it says makes svc %s succeed, pay, show a secret or store a key', async (words) => {
    let isLocal = false;
    const argv = (LINES.get(words)?.split(' ') ?? world.argv(words)).map((word) => world.fill(word));
    for (const [name, respond] of byTurns(words, SERVERS)) {
      if (words === 'logs tail' && TO_FOLLOW.test(name)) continue;
      isLocal = await world.copy(async (run, directory) => {
        const before = settingsIn(directory);
        const sent = world.requests.length;
        const clock = new LongPauses({ start: Date.now() });
        const result = await run(words, ['-o', 'table'], { respond, argv, clock, env: KEYS });
        const requests = world.requests.slice(sent);
        if (requests.length === 0) return true;
        const text = `${name}: ${result.code}: ${result.stdout}${result.stderr}`.replaceAll(/\s+/g, ' ');
        const isUnexpected = !includes(SUCCESSES, words, name);
        const isSecret = (secret: string): boolean => text.includes(secret);
        const isUpload = ({ method, path }: (typeof requests)[number]): boolean =>
          method === 'PUT' && path !== '/tenants/self';
        const after = JSON.stringify(settingsIn(directory));
        const wrong = {
          'a success': isUnexpected && [0, EXIT_CODES.pending].includes(result.code),
          'a confirmation': isUnexpected && !includes(CONFIRMATIONS, words, name) && CONFIRMED.test(text),
          'a part': name.startsWith('206') && !changing.has(words) && result.code !== EXIT_CODES.bad_response,
          'a secret': SECRETS.some(isSecret),
          'an upload': requests.some(isUpload),
          // The permissions that a key lacks are remembered.
          'a setting': !name.startsWith('403') && after !== JSON.stringify(before),
        };
        expect(Object.values(wrong).includes(true), `${JSON.stringify(wrong)} ${text}`).toBe(false);
        return false;
      });
      if (isLocal) break;
    }
    expect(isLocal).toBe(LOCAL.has(words));
  });

  it.each(commands)('R87: nothing it says to a change makes svc %s succeed', async (words) => {
    const successes: string[] = [];
    for (const [name, respond] of byTurns(words, OF_CHANGES)) {
      if (includes(SUCCESSES, words, name)) continue;
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
